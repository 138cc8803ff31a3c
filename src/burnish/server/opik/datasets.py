"""Datasets and their rows."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field, model_validator

from burnish.domain import UsageError
from burnish.domain.opik import OpikDataset, OpikRow
from burnish.integrations.opik.datasets import data_of, named_dataset, put_rows
from burnish.server.opik.requests import DEFAULT_WORKSPACE, Body, Ingest, Kept, Place, read_body
from burnish.support.ids import new_id

router = APIRouter(prefix="/v1/private/datasets")
_MOST_ROWS = 2_000
_MOST_AT_ONCE = 5_000
Name = Annotated[str, Field(min_length=1, max_length=500)]
Id = Annotated[str, Field(min_length=1, max_length=100)]


class NewDataset(Body):
    """A dataset to be made."""

    name: Name
    id: Id | None = None
    description: str | None = None
    project_name: Name | None = None


class Wanted(Body):
    """A dataset by name."""

    dataset_name: Name


class SentRow(Kept):
    """A row with whatever the client says about it."""

    id: Id
    data: dict[str, Any] = Field(default_factory=dict)


class SentRows(Body):
    """Rows of a dataset that is named or pointed at."""

    items: list[SentRow] = Field(max_length=_MOST_AT_ONCE)
    dataset_name: Name | None = None
    dataset_id: Id | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> SentRows:
        if self.dataset_name is None and self.dataset_id is None:
            raise ValueError("dataset_name or dataset_id is needed")
        return self


class Stream(Wanted):
    """Some rows of a dataset, past the last one seen. The limit's name is Opik's."""

    last_retrieved_id: str | None = None
    steam_limit: int | None = Field(default=None, ge=1)


@router.post("", status_code=201)
async def create(request: Request, ingest: Ingest, place: Place = DEFAULT_WORKSPACE) -> Response:
    """Make a dataset; one of that name that is there already serves as well."""
    new = await read_body(request, NewDataset)
    dataset = await ingest.workspace.opik.add_dataset(
        OpikDataset(
            id=new.id or new_id(),
            workspace=place,
            name=new.name,
            document={"description": new.description, "project_name": new.project_name},
        )
    )
    return Response(status_code=201, headers={"Location": f"{request.url.path}/{dataset.id}"})


@router.post("/retrieve")
async def retrieve(
    request: Request, ingest: Ingest, place: Place = DEFAULT_WORKSPACE
) -> dict[str, Any]:
    """A dataset by name; 404 is what clients then make it on."""
    name = (await read_body(request, Wanted)).dataset_name
    found = await ingest.workspace.opik.find_dataset(place, name)
    if found is None:
        raise UsageError(
            what=f"there is no dataset {name!r}",
            why=f"nobody has made one of that name in the workspace {place!r}",
            fix="create it first",
            code="not_found",
        )
    return await _view(ingest, found)


@router.put("/items", status_code=204)
async def put_items(request: Request, ingest: Ingest, place: Place = DEFAULT_WORKSPACE) -> None:
    """Add rows, or change those that are there."""
    sent = await read_body(request, SentRows)
    if sent.dataset_id is not None:
        dataset = await ingest.workspace.opik.get_dataset(sent.dataset_id)
    else:
        dataset = await named_dataset(ingest.workspace, place, str(sent.dataset_name))
    rows = [OpikRow(id=one.id, document=one.document()) for one in sent.items]
    await put_rows(ingest.workspace, dataset, rows)


@router.post("/items/stream")
async def stream(request: Request, ingest: Ingest, place: Place = DEFAULT_WORKSPACE) -> Response:
    """Rows as lines of JSON."""
    wanted = await read_body(request, Stream)
    dataset = await ingest.workspace.opik.find_dataset(place, wanted.dataset_name)
    rows: list[OpikRow] = []
    if dataset is not None:
        rows = await ingest.workspace.opik.rows(
            dataset.id,
            limit=min(wanted.steam_limit or _MOST_ROWS, _MOST_ROWS),
            after=wanted.last_retrieved_id,
        )
    lines = "".join(json.dumps(_row(one)) + "\n" for one in rows)
    return Response(lines, media_type="application/octet-stream")


@router.get("/{dataset_id}")
async def get(ingest: Ingest, dataset_id: str) -> dict[str, Any]:
    """One dataset."""
    return await _view(ingest, await ingest.workspace.opik.get_dataset(dataset_id))


@router.get("/{dataset_id}/versions")
async def versions(ingest: Ingest, dataset_id: str, page: int = 1) -> dict[str, Any]:
    """None: a client then takes the rows as they are, and each run here keeps its own copy."""
    await ingest.workspace.opik.get_dataset(dataset_id)
    return {"content": [], "page": page, "size": 0, "total": 0}


@router.get("/{dataset_id}/items")
async def items(
    ingest: Ingest,
    dataset_id: str,
    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
    size: Annotated[int, Query(ge=1)] = 10,
) -> dict[str, Any]:
    """A page of rows."""
    records = ingest.workspace.opik
    await records.get_dataset(dataset_id)
    most = min(size, _MOST_ROWS)
    rows = await records.rows(dataset_id, limit=most, offset=(page - 1) * most)
    return {
        "content": [_row(one) for one in rows],
        "page": page,
        "size": len(rows),
        "total": await records.count_rows(dataset_id),
        "columns": [],
    }


def _row(row: OpikRow) -> dict[str, Any]:
    return {"source": "sdk", **row.document, "id": row.id, "data": data_of(row)}


async def _view(ingest: Ingest, dataset: OpikDataset) -> dict[str, Any]:
    records = ingest.workspace.opik
    project = dataset.document.get("project_name")
    return {
        **dataset.document,
        "project_id": await records.project_id(dataset.workspace, project) if project else None,
        "id": dataset.id,
        "name": dataset.name,
        "created_at": dataset.created_at,
        "dataset_items_count": await records.count_rows(dataset.id),
    }
