"""Optimizations that a client runs."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import Field

from burnish.integrations.opik.optimizations import status_name
from burnish.server.http.requests import OptimizationId
from burnish.server.opik.datasets import Id, Name
from burnish.server.opik.requests import (
    DEFAULT_PROJECT,
    DEFAULT_WORKSPACE,
    Body,
    Ingest,
    Place,
    read_body,
)

router = APIRouter(prefix="/v1/private/optimizations")


class NewOptimization(Body):
    """One that begins."""

    id: Id
    dataset_name: Name
    objective_name: Name
    status: str = "running"
    project_name: Name | None = None
    name: str | None = Field(default=None, max_length=500)
    metadata: dict[str, Any] | None = None


class Change(Body):
    """How one stands now."""

    status: str | None = None
    error_info: dict[str, Any] | None = None


@router.post("", status_code=201)
@router.put("", status_code=201)
async def create(request: Request, ingest: Ingest, place: Place = DEFAULT_WORKSPACE) -> Response:
    """Make one, which then shows among our own."""
    new = await read_body(request, NewOptimization)
    await ingest.optimizations.create(
        place,
        new.id,
        dataset_name=new.dataset_name,
        objective_name=new.objective_name,
        status=new.status,
        project=new.project_name or DEFAULT_PROJECT,
        name=new.name,
        metadata=new.metadata or {},
    )
    return Response(status_code=201, headers={"Location": f"{request.url.path}/{new.id}"})


@router.put("/{optimization_id}", status_code=204)
async def update(request: Request, ingest: Ingest, optimization_id: OptimizationId) -> None:
    """Take over what the client says about it."""
    change = await read_body(request, Change)
    await ingest.optimizations.update(optimization_id, change.status, change.error_info)


@router.get("/{optimization_id}")
async def get(
    ingest: Ingest, optimization_id: OptimizationId, place: Place = DEFAULT_WORKSPACE
) -> dict[str, Any]:
    """One optimization."""
    record = await ingest.optimizations.get(optimization_id)
    about = record.spec["opik"]
    return {
        "id": record.id,
        "name": about["name"] or record.name,
        "dataset_name": about["dataset_name"],
        "dataset_id": about["opik_dataset_id"],
        "project_id": await ingest.workspace.opik.project_id(place, about["project"]),
        "objective_name": record.objective_name,
        "status": status_name(record),
        "metadata": about["metadata"],
        "num_trials": record.trials,
        "baseline_objective_score": record.baseline_score,
        "best_objective_score": record.best_score,
        "created_at": record.created_at,
        "last_updated_at": record.updated_at,
    }
