"""The application: routes behind one gate, errors in one shape."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from fastapi import Depends, FastAPI
from fastapi.routing import APIRoute

from burnish import __version__
from burnish.bootstrap.run_tally import RunTally
from burnish.server import image_paths
from burnish.server.errors import add_handlers
from burnish.server.frame import Frame
from burnish.server.gate import OPIK_PATHS, Gate, documented_key
from burnish.server.limits import Limits
from burnish.server.metrics import Metrics
from burnish.server.opik import router as opik_router
from burnish.server.routes import (
    agent_versions,
    agents,
    candidates,
    compressions,
    datasets,
    evaluations,
    events,
    image_comparisons,
    image_files,
    image_models,
    image_projects,
    image_runs,
    kinds,
    operations,
    optimizations,
    optimizer_runs,
    optimizers,
    points,
    probes,
    project,
    promotions,
    run_control,
    suites,
    trials,
)
from burnish.server.services import open_services
from burnish.server.settings import ServerSettings
from burnish.server.telemetry import telemetry
from burnish.server.ui_pages import UiPages, UiSite

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
