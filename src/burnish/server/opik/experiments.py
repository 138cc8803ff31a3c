"""Experiments that a client runs, and which traces are their items."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response
from pydantic import Field

from burnish.domain import Experiment, ExperimentStatus
from burnish.domain.opik import OpikItem
from burnish.integrations.opik.datasets import named_dataset
from burnish.server.opik.datasets import Id, Name
from burnish.server.opik.requests import DEFAULT_WORKSPACE, Body, Ingest, Place, read_body
from burnish.support.ids import new_id

router = APIRouter(prefix="/v1/private/experiments")
_MOST_AT_ONCE = 5_000
_ENDINGS = {"completed": ExperimentStatus.COMPLETED, "cancelled": ExperimentStatus.CANCELLED}
ExperimentId = Annotated[str, Path(min_length=1, max_length=100)]


class NewExperiment(Body):
    """One that begins."""

    id: Id | None = None
    dataset_name: Name | None = None
    name: str | None = Field(default=None, max_length=500)
    type: str | None = None
    optimization_id: Id | None = None
    project_name: str | None = None
    status: str | None = None
    tags: list[str] | None = None
    metadata: dict[str, Any] | None = None


class Change(Body):
    """What is new about one."""

    status: str | None = None
    metadata: dict[str, Any] | None = None


class SentItem(Body):
    """A trace that is a run of a row."""

    id: Id | None = None
    experiment_id: Id
    dataset_item_id: Id
    trace_id: Id


class SentItems(Body):
    """Items of one experiment or of several."""

    experiment_items: list[SentItem] = Field(max_length=_MOST_AT_ONCE)


class Ended(Body):
    """Experiments that run no more."""

    ids: list[Id] = Field(max_length=1_000)


@router.post("", status_code=201)
async def create(request: Request, ingest: Ingest, place: Place = DEFAULT_WORKSPACE) -> Response:
    """Make one."""
    new = await read_body(request, NewExperiment)
    identity = new.id or new_id()
    dataset = None
    if new.dataset_name is not None:
        dataset = await named_dataset(ingest.workspace, place, new.dataset_name)
    await ingest.experiments.create(
        identity,
        dataset,
        name=new.name,
        optimization_id=new.optimization_id,
        metadata=new.metadata or {},
        about={
            "type": new.type or "regular",
            "dataset_name": new.dataset_name,
            "dataset_id": None if dataset is None else dataset.id,
            "project_name": new.project_name,
            "tags": new.tags,
        },
    )
    if new.status in _ENDINGS:
        await ingest.experiments.finish(identity, _ENDINGS[new.status])
    return Response(status_code=201, headers={"Location": f"{request.url.path}/{identity}"})


@router.post("/items", status_code=204)
async def put_items(request: Request, ingest: Ingest) -> None:
    """Say which traces are runs of which rows."""
    sent = await read_body(request, SentItems)
    await ingest.put_items(
        [
            OpikItem(
                # Without an id of its own, a trace is the run of a row once.
                id=one.id or f"{one.experiment_id}:{one.trace_id}",
                experiment_id=one.experiment_id,
                item_id=one.dataset_item_id,
                trace_id=one.trace_id,
            )
            for one in sent.experiment_items
        ]
    )


@router.post("/finish", status_code=204)
async def finish(request: Request, ingest: Ingest) -> None:
    """Nothing more of them is run."""
    for one in (await read_body(request, Ended)).ids:
        await ingest.experiments.finish(one, ExperimentStatus.COMPLETED)


@router.post("/cancel", status_code=204)
async def cancel(request: Request, ingest: Ingest) -> None:
    """They were given up."""
    for one in (await read_body(request, Ended)).ids:
        await ingest.experiments.finish(one, ExperimentStatus.CANCELLED)


@router.patch("/{experiment_id}", status_code=204)
async def update(request: Request, ingest: Ingest, experiment_id: ExperimentId) -> None:
    """Take over what is new."""
    change = await read_body(request, Change)
    if change.metadata:
        await ingest.experiments.describe(experiment_id, change.metadata)
    if change.status in _ENDINGS:
        await ingest.experiments.finish(experiment_id, _ENDINGS[change.status])


@router.get("/{experiment_id}")
async def get(ingest: Ingest, experiment_id: ExperimentId) -> dict[str, Any]:
    """One experiment."""
    return _view(await ingest.experiments.get(experiment_id))


def _view(experiment: Experiment) -> dict[str, Any]:
    ended = experiment.status.final
    cancelled = experiment.status is ExperimentStatus.CANCELLED
    return {
        **experiment.metadata["opik"],
        "id": experiment.id,
        "name": experiment.name,
        "optimization_id": experiment.optimization_id,
        "status": "cancelled" if cancelled else "completed" if ended else "running",
        "trace_count": experiment.planned_items,
        "created_at": experiment.created_at,
        "last_updated_at": experiment.updated_at,
    }
