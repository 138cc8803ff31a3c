"""Datasets: sent, listed, read, and made of what went wrong."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Self

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import Field

from burnish.app.datasets.regression_cases import Which, save_cases
from burnish.app.datasets.stored import stored_reference
from burnish.app.datasets.uploads import StoredUpload, store_upload
from burnish.domain import DatasetRecord
from burnish.domain.experiments.repositories import DatasetRow
from burnish.server.http.errors import errors
from burnish.server.http.requests import (
    Cursor,
    Limit,
    NewName,
    Strict,
    decode_cursor,
    parts_of,
)
from burnish.server.http.responses import Page, View
from burnish.server.http.services import Serving
from burnish.server.images.paths import Digest
from burnish.support.names import NAME_PATTERN

UPLOADS = "/v1/private/datasets"
router = APIRouter(prefix="/v1/private", tags=["datasets"])
_NEWEST, _POSITION = "-created_at", "position"
Identity = Annotated[str, Field(min_length=1, max_length=100)]
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
_BYTES = {"schema": {"type": "string", "format": "binary"}}
_KINDS = ("image/png", "image/jpeg", "image/gif", "image/webp")
_PICTURE: dict[int | str, dict[str, Any]] = {
    200: {"description": "The picture.", "content": dict.fromkeys(_KINDS, _BYTES)},
    **errors(404),
}
DatasetId = Annotated[str, Path(min_length=1, max_length=100)]


class DatasetView(View):
    """One content of a dataset: the same name with other rows is another dataset."""

    dataset_id: str
    name: str
    items: int
    fingerprint: str
    created_at: str

    @classmethod
    def of(cls, record: DatasetRecord) -> DatasetView:
        """From its record."""
        return cls.read(record, dataset_id=record.id)


class DatasetPage(Page[DatasetView]):
    """Some datasets; `next_cursor` is None on the last page."""


class RowNote(View):
    """Something odd about a row that was left out or kept all the same."""

    where: str = Field(examples=["line 7"])
    kind: str = Field(examples=["duplicate_row"])
    message: str


class StoredDataset(DatasetView):
    """A dataset that was sent. `created` is false when its content was here before."""

    created: bool
    warnings: list[RowNote] = Field(description="The first hundred.")

    @classmethod
    def of_upload(cls, stored: StoredUpload, **others: Any) -> Self:
        """From what was kept."""
        notes = [
            RowNote(where=one.place, kind=one.kind.value, message=one.message)
            for one in stored.warnings
        ]
        record = stored.record
        return cls.read(stored, record, dataset_id=record.id, warnings=notes, **others)


class RowView(View):
    """A row. `origin` tells which run a regression case came from, what failed and why."""

    item_id: str
    position: int
    split: str | None
    data: dict[str, Any]
    origin: dict[str, Any] | None

    @classmethod
    def of(cls, row: DatasetRow) -> RowView:
        """From a line of a page."""
        return cls.read(row, row.item, item_id=row.item.id)


class RowPage(Page[RowView]):
    """Some rows; `next_cursor` is None on the last page."""


class NewCases(Strict):
    """Items of an experiment that are to be kept as regression cases."""

    name: NewName
    experiment_id: Identity = Field(
        description="An evaluation, or the trial of a candidate (`experiment_id` there)."
    )
    which: Which = Field(default=Which.FAILING, strict=False)
    baseline_experiment_id: Identity | None = Field(
        default=None,
        description="What regressed items passed in; else the baseline of the optimization.",
    )
    into: Identity | None = Field(
        default=None, description="A dataset whose rows come first; it stays as it is."
    )
    append: bool = Field(
        default=False,
        description="Go on with the newest dataset of this name, where there is one.",
    )
    item_ids: Annotated[list[Identity], Field(min_length=1, max_length=1000)] | None = Field(
        default=None, description="Only these, of those that went wrong."
    )


class StoredCases(StoredDataset):
    """The dataset with the cases, and how many of its rows are new."""

    added: int


class Format(StrEnum):
    """How rows are written."""

    JSONL = "jsonl"
    CSV = "csv"
    JSON = "json"


_BY_TYPE = {"text/csv": Format.CSV, "application/json": Format.JSON}


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
    return DatasetPage.of(page, DatasetView.of, _NEWEST)


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


@router.delete("/datasets/{dataset_id}", responses=errors(404, 409))
async def delete_dataset(serving: Serving, dataset_id: DatasetId) -> DatasetView:
    """Take a dataset away, with its rows, that no suite and no result uses, and say what it was."""
    record = await serving.workspace.datasets.get_dataset(dataset_id)
    await serving.workspace.removals.dataset(dataset_id, stored_reference(dataset_id))
    return DatasetView.of(record)


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
    return RowPage.of(page, RowView.of, _POSITION)


@router.get("/pictures/{digest}", response_class=Response, responses=_PICTURE)
async def get_dataset_picture(serving: Serving, digest: Digest) -> Response:
    """A picture that the configured suite's dataset names, by its SHA-256; no other file."""
    data, media_type = await serving.pictures.picture(digest)
    headers = {
        "Cache-Control": "private, max-age=31536000, immutable",
        "Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
        "Content-Disposition": "inline",
    }
    return Response(data, media_type=media_type, headers=headers)


@router.post("/regression-cases", status_code=201, responses=errors(404))
async def save_regression_cases(serving: Serving, new: NewCases) -> StoredCases:
    """Keep the items of an experiment that failed, or that regressed, with their origin."""
    stored, added = await save_cases(serving.workspace, **new.model_dump())
    return StoredCases.of_upload(stored, added=added)
