"""The application: routes behind one gate, errors in one shape."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from fastapi import Depends, FastAPI
from fastapi.routing import APIRoute

from burnish import __version__
from burnish.app.run_tally import RunTally
from burnish.server.agents import promotion_routes as promotions
from burnish.server.agents import routes as agents
from burnish.server.agents import version_routes as agent_versions
from burnish.server.candidates import routes as candidates
from burnish.server.compressions import routes as compressions
from burnish.server.datasets import routes as datasets
from burnish.server.evaluations import routes as evaluations
from burnish.server.http.auth import OPIK_PATHS, Gate, documented_key
from burnish.server.http.errors import add_handlers
from burnish.server.http.limits import Limits
from burnish.server.http.metrics import Metrics
from burnish.server.http.request_log import Frame
from burnish.server.http.services import open_services
from burnish.server.http.settings import ServerSettings
from burnish.server.http.telemetry import telemetry
from burnish.server.http.ui_pages import UiPages, UiSite
from burnish.server.images import comparison_routes as image_comparisons
from burnish.server.images import file_routes as image_files
from burnish.server.images import model_routes as image_models
from burnish.server.images import paths as image_paths
from burnish.server.images import project_routes as image_projects
from burnish.server.images import run_routes as image_runs
from burnish.server.operations import metric_routes as operations
from burnish.server.operations import probe_routes as probes
from burnish.server.operations import project_routes as project
from burnish.server.opik import router as opik_router
from burnish.server.optimizations import control_routes as run_control
from burnish.server.optimizations import event_routes as events
from burnish.server.optimizations import point_routes as points
from burnish.server.optimizations import routes as optimizations
from burnish.server.optimizations import trial_routes as trials
from burnish.server.optimizers import kind_routes as kinds
from burnish.server.optimizers import routes as optimizers
from burnish.server.optimizers import run_routes as optimizer_runs
from burnish.server.suites import routes as suites

_TITLE = "Burnish"
_DESCRIPTION = (
    "Makes prompts and agents measurably better. Every error has one shape: code, message, fix, "
    "retryable. Lists come in pages: send `next_cursor` back as `cursor`."
)
_ROUTERS = (
    *(
        kinds,
        optimizations,
        run_control,
        trials,
        points,
        candidates,
        compressions,
        promotions,
        events,
    ),
    *(
        project,
        operations,
        agents,
        agent_versions,
        datasets,
        suites,
        evaluations,
        optimizers,
        optimizer_runs,
    ),
    *(image_runs, image_projects, image_comparisons, image_files, image_models),
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
        telemetry=telemetry(),
    )
    for one in _ROUTERS:
        app.include_router(one.router, dependencies=[Depends(documented_key)])
    app.include_router(probes.router)
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
        },
    )
    site = UiSite(settings.ui)
    app.add_middleware(UiPages, site=site)
    app.add_middleware(Gate, keys=settings.keys, hosts=settings.hosts, site=site)
    app.add_middleware(Frame, metrics=metrics)
    return app


def _operation_id(route: APIRoute) -> str:
    return route.name
