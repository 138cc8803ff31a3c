"""The FastAPI application: routes behind one authentication, errors in one shape."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from importlib.util import find_spec

from fastapi import Depends, FastAPI
from fastapi.routing import APIRoute
from fastapi.telemetry import TelemetryConfig

from burnish import __version__
from burnish.app.run_tally import RunTally
from burnish.server import compressions, datasets, models, operations, suites
from burnish.server.agents import routes as agents
from burnish.server.candidates import routes as candidates
from burnish.server.evaluations import routes as evaluations
from burnish.server.http.auth import OPIK_PATHS, Auth, documented_key
from burnish.server.http.errors import add_handlers
from burnish.server.http.limits import Limits
from burnish.server.http.metrics import Metrics
from burnish.server.http.request_log import RequestLog
from burnish.server.http.services import open_services
from burnish.server.http.settings import ServerSettings
from burnish.server.http.ui_pages import UiPages, UiSite
from burnish.server.images import paths as image_paths
from burnish.server.images import routes as images
from burnish.server.labels import routes as labels
from burnish.server.opik import router as opik_router
from burnish.server.optimizations import routes as optimizations
from burnish.server.optimizations import trial_routes as trials
from burnish.server.optimizers import routes as optimizers

_TITLE = "Burnish"
_DESCRIPTION = (
    "Makes prompts and agents measurably better. Every error has one shape: code, message, fix, "
    "retryable. Lists come in pages: send `next_cursor` back as `cursor`."
)
# In the order of the OpenAPI.
_ROUTERS = (
    optimizers.kind_router,
    optimizations.router,
    trials.router,
    candidates.router,
    compressions.router,
    agents.promotion_router,
    optimizations.event_router,
    operations.project_router,
    operations.metrics_router,
    models.router,
    agents.router,
    datasets.router,
    suites.router,
    labels.router,
    evaluations.router,
    optimizers.router,
    images.router,
)


def create_app(settings: ServerSettings) -> FastAPI:
    """The application of these settings; what it serves is opened when it starts."""
    tally = RunTally()
    metrics = Metrics(tally)

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with open_services(settings, metrics, tally) as services:
            app.state.services = services
            yield

    app = FastAPI(
        title=_TITLE,
        description=_DESCRIPTION,
        version=__version__,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=_operation_id,
        telemetry=_telemetry(),
    )
    for router in _ROUTERS:
        app.include_router(router, dependencies=[Depends(documented_key)])
    app.include_router(operations.probe_router)
    app.include_router(opik_router)
    add_handlers(app)
    # The last one added stands outermost.
    app.add_middleware(
        Limits,
        max_body_bytes=settings.max_body_bytes,
        seconds=settings.request_seconds,
        bodies={
            datasets.UPLOADS: settings.max_upload_bytes,
            image_paths.UPLOADS: settings.max_image_bytes,
            OPIK_PATHS: settings.max_batch_bytes,
        },
        patience={
            datasets.UPLOADS: settings.upload_seconds,
            image_paths.UPLOADS: settings.upload_seconds,
            # What is tried has a deadline of its own, and says so.
            agents.TRIES: settings.try_seconds + settings.request_seconds,
        },
    )
    site = UiSite(settings.ui)
    app.add_middleware(UiPages, site=site)
    app.add_middleware(Auth, keys=settings.keys, hosts=settings.hosts, site=site)
    app.add_middleware(RequestLog, metrics=metrics)
    return app


def _operation_id(route: APIRoute) -> str:
    return route.name


def _telemetry() -> TelemetryConfig:
    """Traces of requests, to wherever the OTEL_* variables point; nothing without the SDK.

    FastAPI's log records hold messages and traces of exceptions, so they stay off.
    """
    installed = find_spec("opentelemetry") is not None and _has_sdk()
    return TelemetryConfig(
        tracing=installed,
        metrics=False,
        logs=False,
        operation_spans=False,
        auto_configure=installed,
    )


def _has_sdk() -> bool:
    return find_spec("opentelemetry.sdk") is not None
