"""Datasets: sent, listed, read, and made of what went wrong."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request

from burnish.app.datasets.regression_cases import save_cases
from burnish.app.datasets.uploads import store_upload
from burnish.app.names import NAME_PATTERN
from burnish.server.datasets.schemas import (
    DatasetPage,
    DatasetView,
    NewCases,
    RowPage,
    RowView,
    StoredCases,
    StoredDataset,
)
from burnish.server.http.errors import errors
from burnish.server.http.requests import Cursor, Limit, decode_cursor, encode_cursor, parts_of
from burnish.server.http.services import Serving

UPLOADS = "/v1/private/datasets"
router = APIRouter(prefix="/v1/private", tags=["datasets"])
_NEWEST, _POSITION = "-created_at", "position"


class Format(StrEnum):
    """How rows are written."""

    JSONL = "jsonl"
    CSV = "csv"
    JSON = "json"


_BY_TYPE = {"text/csv": Format.CSV, "application/json": Format.JSON}
_ROWS = '{"text": "I was charged twice", "label": "billing"}\n'
_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "The rows: one JSON object a line, CSV with a line of names first, or a "
        "JSON list of objects.",
        "content": {
            "application/x-ndjson": {"schema": {"type": "string"}, "example": _ROWS},
            "text/csv": {"schema": {"type": "string"}, "example": "text,label\nhello,other\n"},
            "application/json": {"schema": {"type": "array", "items": {"type": "object"}}},
        },
    }
}
DatasetId = Annotated[str, Path(min_length=1, max_length=100)]


@router.get("/datasets", responses=errors())
async def list_datasets(
    serving: Serving,
    name: Annotated[str | None, Query(max_length=200)] = None,
    q: Annotated[str | None, Query(max_length=200, description="Part of the name.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> DatasetPage:
    """Stored datasets, the newest first: those that were sent, and those of runs."""
    page = await serving.workspace.dataset_pages.datasets(
        name=name, text=q, limit=limit, after=decode_cursor(_NEWEST, cursor)
    )
    return DatasetPage(
        items=[DatasetView.of(one) for one in page.items],
        next_cursor=encode_cursor(_NEWEST, page.next),
    )


@router.post("/datasets", status_code=201, responses=errors(), openapi_extra=_BODY)
async def upload_dataset(
    serving: Serving,
    request: Request,
    name: Annotated[str, Query(pattern=NAME_PATTERN, examples=["reviews"])],
    format: Annotated[  # noqa: A002 - the name that clients see
        Format | None, Query(description="Else the Content-Type says it, else it is jsonl.")
    ] = None,
) -> StoredDataset:
    """Send rows. All of them are stored, or none: each bad one is listed in `problems`."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    chosen = format or _BY_TYPE.get(kind, Format.JSONL)
    stored = await store_upload(serving.workspace, name, chosen.value, parts_of(request))
    return StoredDataset.of_upload(stored)


@router.get("/datasets/{dataset_id}", responses=errors(404))
async def get_dataset(serving: Serving, dataset_id: DatasetId) -> DatasetView:
    """One dataset."""
    return DatasetView.of(await serving.workspace.datasets.get_dataset(dataset_id))


@router.get("/datasets/{dataset_id}/items", responses=errors(404))
async def list_rows(
    serving: Serving,
    dataset_id: DatasetId,
    q: Annotated[
        str | None, Query(max_length=200, description="Part of the id or of any value.")
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> RowPage:
    """The rows in their order; regression cases with where they came from."""
    page = await serving.workspace.dataset_pages.rows(
        dataset_id, text=q, limit=limit, after=decode_cursor(_POSITION, cursor)
    )
    return RowPage(
        items=[RowView.of(one) for one in page.items],
        next_cursor=encode_cursor(_POSITION, page.next),
    )


@router.post("/regression-cases", status_code=201, responses=errors(404))
async def save_regression_cases(serving: Serving, new: NewCases) -> StoredCases:
    """Keep the items of an experiment that failed, or that regressed, with their origin."""
    return StoredCases.of_cases(*await save_cases(serving.workspace, new.request()))
