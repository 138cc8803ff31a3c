"""Label sets over HTTP: made, labelled blind, compared, kept as versions; labels as CSV."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from burnish.app.datasets.uploads import receive
from burnish.app.labels.label_sets import give_label, make_set, tasks_of
from burnish.app.labels.versions import labels_csv, make_version, read_agreement, read_labels
from burnish.domain.labels import LabelSet
from burnish.server.datasets import Format
from burnish.server.http.errors import errors
from burnish.server.http.requests import Cursor, Limit, decode_cursor, encode_cursor, parts_of
from burnish.server.http.services import Serving
from burnish.server.labels.schemas import (
    DifferingItem,
    EstimateView,
    KeptLabel,
    LabelAgreement,
    LabelSetPage,
    LabelSetView,
    LabelTasks,
    LabelUpload,
    LabelVersionView,
    NewLabel,
    NewLabelSet,
    NewLabelVersion,
    PairView,
)

router = APIRouter(prefix="/v1/private/label-sets", tags=["labels"])
_NEWEST = "-created_at"
_MOST_DIFFERING = 50
SetName = Annotated[str, Path(min_length=1, max_length=200, description="Its id or name.")]
Labeller = Annotated[str, Query(min_length=1, max_length=100, description="Who labels.")]
_CSV: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "Labels: CSV with a line of names first, or one JSON object a line. The columns "
        "are item_id, person, label and comment.",
        "content": {
            "text/csv": {
                "schema": {"type": "string"},
                "example": "item_id,person,label,comment\n17,ada,pass,\n",
            },
            "application/x-ndjson": {"schema": {"type": "string"}},
        },
    }
}
_CSV_ANSWER: dict[int | str, dict[str, Any]] = {
    200: {"description": "The labels.", "content": {"text/csv": {"schema": {"type": "string"}}}},
    **errors(404),
}


async def _found(serving: Serving, label_set: SetName) -> LabelSet:
    return await serving.workspace.labels.get(label_set)


Found = Annotated[LabelSet, Depends(_found)]


async def _view(
    serving: Serving, found: LabelSet, left_out: Mapping[str, int] | None = None
) -> LabelSetView:
    return LabelSetView.of(found, await serving.workspace.labels.progress(found.id), left_out)


@router.get("", responses=errors())
async def list_label_sets(
    serving: Serving, limit: Limit = 50, cursor: Cursor = None
) -> LabelSetPage:
    """Label sets, the newest first, with who labelled how much."""
    after = decode_cursor(_NEWEST, cursor)
    page = await serving.workspace.labels.page(limit=limit, after=after)
    return LabelSetPage(
        items=[await _view(serving, one) for one in page.items],
        next_cursor=encode_cursor(_NEWEST, page.next),
    )


@router.post("", status_code=201, responses=errors(404, 409))
async def make_label_set(serving: Serving, new: NewLabelSet) -> LabelSetView:
    """Make a set of what the experiments or the dataset hold now."""
    made = await make_set(
        serving.workspace,
        new.name,
        new.rules(),
        new.source(),
        seed=new.seed,
        author=new.author or "",
    )
    return await _view(serving, made.made, made.left_out)


@router.get("/{label_set}", responses=errors(404))
async def get_label_set(serving: Serving, found: Found) -> LabelSetView:
    """One set, with who labelled how much."""
    return await _view(serving, found)


@router.delete("/{label_set}", responses=errors(404))
async def delete_label_set(serving: Serving, found: Found) -> LabelSetView:
    """Take a set away with its labels, and say what it was; datasets of its versions stay."""
    view = await _view(serving, found)
    await serving.workspace.labels.delete(found.id)
    return view


@router.get("/{label_set}/tasks", responses=errors(404))
async def list_label_tasks(
    serving: Serving,
    found: Found,
    person: Labeller,
    start: Annotated[
        int | None, Query(ge=0, lt=2**31, description="Else where it goes on.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> LabelTasks:
    """Items in the person's own random order: blind, with the person's own labels and no others."""
    page = await tasks_of(serving.workspace, found, person, start=start, limit=limit)
    return LabelTasks.of(found, page)


@router.put("/{label_set}/labels", responses=errors(404))
async def put_label(serving: Serving, found: Found, new: NewLabel) -> KeptLabel:
    """Keep what a person says of an item. Sent again it changes nothing; earlier labels are history."""
    changed = await give_label(
        serving.workspace,
        found,
        new.person,
        new.item_id,
        state=new.state,
        value=new.value,
        comment=new.comment,
    )
    return KeptLabel(changed=changed)


@router.post("/{label_set}/labels", responses=errors(404), openapi_extra=_CSV)
async def upload_labels(
    serving: Serving,
    found: Found,
    request: Request,
    person: Annotated[
        str | None, Query(min_length=1, max_length=100, description="Else the column person.")
    ] = None,
    format: Annotated[Format, Query()] = Format.CSV,  # noqa: A002 - the name that clients see
) -> LabelUpload:
    """Labels of a file: all are kept, or none, and each bad row is listed in `problems`."""
    with tempfile.TemporaryDirectory(prefix="burnish-labels-") as folder:
        path = FilePath(folder) / f"labels.{format.value}"
        await receive(path, parts_of(request))
        every, new = await read_labels(serving.workspace, found, path, person=person)
    return LabelUpload(labels=every, new=new)


@router.get("/{label_set}/labels", response_class=Response, responses=_CSV_ANSWER)
async def export_labels(
    serving: Serving,
    found: Found,
    history: Annotated[
        bool, Query(description="Also skipped and withdrawn ones, and what was said before.")
    ] = False,
) -> Response:
    """All labels as CSV, a line each."""
    given = await serving.workspace.labels.labels(found.id, history=history)
    headers = {"Content-Disposition": f'attachment; filename="{found.name}.csv"'}
    text = labels_csv(given, history=history).encode("utf-8", "replace")
    return Response(text, media_type="text/csv", headers=headers)


@router.get("/{label_set}/agreement", responses=errors(404))
async def get_label_agreement(serving: Serving, found: Found) -> LabelAgreement:
    """How each two people agree, and all together; the first items on which they differ."""
    agreement, rows = await read_agreement(serving.workspace, found, limit=_MOST_DIFFERING)
    return LabelAgreement(
        shared=agreement.shared,
        unanimous=EstimateView.of(agreement.unanimous),
        pairs=[PairView(**one.to_json()) for one in agreement.pairs],
        differing=len(agreement.differing),
        items=[DifferingItem.of(row) for row in rows],
    )


@router.get("/{label_set}/versions", responses=errors(404))
async def list_label_versions(serving: Serving, found: Found) -> list[LabelVersionView]:
    """The newest first."""
    versions = await serving.workspace.labels.versions(found.id)
    return [LabelVersionView.of(one) for one in versions]


@router.post("/{label_set}/versions", status_code=201, responses=errors(404))
async def make_label_version(
    serving: Serving, found: Found, new: NewLabelVersion
) -> LabelVersionView:
    """Keep what people say now as a version with a dataset; the same again is that version."""
    version = await make_version(serving.workspace, found, author=new.author or "", note=new.note)
    return LabelVersionView.of(version)
