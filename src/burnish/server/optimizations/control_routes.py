"""Optimizations: make, start, stop, go on with, do again."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter

from burnish.app.optimize import cancellation
from burnish.app.optimize.creation import (
    create_run,
    duplicate_run,
    request_of,
    require_startable,
)
from burnish.app.report.run_summary import read_summary
from burnish.domain import OptimizationStatus
from burnish.server.http.errors import errors
from burnish.server.http.requests import OptimizationId
from burnish.server.http.services import Serving
from burnish.server.optimizations.request_schemas import CopyChanges, Duplicated, NewOptimization
from burnish.server.optimizations.schemas import OptimizationView

router = APIRouter(prefix="/v1/private/optimizations", tags=["optimizations"])

# One that nobody works on is ended at once; an owner elsewhere is not waited for.
_PATIENCE_SECONDS = 0.5
_LINKED = (
    *("get_optimization", "list_trials", "get_graph", "list_rejections", "get_front"),
    *("cancel_optimization", "resume_optimization", "duplicate_optimization"),
)


def _links(place: str) -> dict[str, Any]:
    """Where the id of a new optimization can be used."""
    parameters = {"optimization_id": f"$response.body#{place}"}
    return {name: {"operationId": name, "parameters": parameters} for name in _LINKED}


@router.post(
    "",
    status_code=201,
    responses={201: {"links": _links("/optimization_id")}, **errors(404, 409)},
)
async def create_optimization(serving: Serving, new: NewOptimization) -> OptimizationView:
    """Make an optimization and start it. It runs in the background, also when this server ends."""
    created = await create_run(serving.workspace, serving.project, new.run_request())
    if new.start:
        await serving.start_run(created)
    return OptimizationView.of_summary(await read_summary(serving.workspace, created))


@router.post("/{optimization_id}/cancel", status_code=202, responses=errors(404, 409))
async def cancel_optimization(
    serving: Serving, optimization_id: OptimizationId
) -> OptimizationView:
    """Stop it for good, wherever it runs. What was evaluated is kept; asking twice does no harm."""
    await cancellation.cancel_optimization(
        serving.workspace, optimization_id, patience_seconds=_PATIENCE_SECONDS
    )
    return OptimizationView.of_summary(await read_summary(serving.workspace, optimization_id))


@router.post("/{optimization_id}/resume", status_code=202, responses=errors(404, 409))
async def resume_optimization(
    serving: Serving, optimization_id: OptimizationId
) -> OptimizationView:
    """Start or go on with one that was not started, was given up or has failed."""
    record = await serving.workspace.optimizations.get_optimization(optimization_id)
    if record.status is not OptimizationStatus.COMPLETED:
        await asyncio.to_thread(require_startable, serving.project, record)
        await serving.start_run(optimization_id)
    return OptimizationView.of_summary(await read_summary(serving.workspace, optimization_id))


@router.post(
    "/{optimization_id}/duplicate",
    status_code=201,
    responses={201: {"links": _links("/optimization/optimization_id")}, **errors(404, 409)},
)
async def duplicate_optimization(
    serving: Serving, optimization_id: OptimizationId, changes: CopyChanges | None = None
) -> Duplicated:
    """A new run like this one, with what is changed; it is not started."""
    workspace = serving.workspace
    original = await workspace.optimizations.get_optimization(optimization_id)
    request = (changes or CopyChanges()).request()
    created = await duplicate_run(workspace, serving.project, original, request)
    copy = await workspace.optimizations.get_optimization(created)
    return Duplicated(
        optimization=OptimizationView.of_summary(await read_summary(workspace, created)),
        request=NewOptimization.of(request_of(serving.project, copy)),
    )
