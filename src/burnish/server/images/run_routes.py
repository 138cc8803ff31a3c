"""Image runs: plan variants of a prompt, draw, judge, rank and suggest."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Response

from burnish.app.names import NAME_PATTERN
from burnish.domain import UsageError
from burnish.domain.images import ImageRunStatus
from burnish.server.http.errors import errors
from burnish.server.http.requests import Cursor, Limit, decode_cursor, encode_cursor
from burnish.server.http.services import Serving
from burnish.server.http.sse import EventStream
from burnish.server.images import examples
from burnish.server.images.parameters import RunId
from burnish.server.images.run_schemas import ImageRunLine, ImageRunPage, ImageRunView, NewImageRun

router = APIRouter(prefix="/eval-runs", tags=["image runs"])
_NEWEST = "-created_at"
_LINKS: dict[str, Any] = {
    name: {"operationId": name, "parameters": {"run_id": "$response.body#/run_id"}}
    for name in ("get_image_run", "cancel_image_run")
}
_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The run as it stands and at each change, as the event `run`; the stream "
        "ends with the run. Comments keep the connection alive.",
        "content": {
            "text/event-stream": {
                "schema": {"type": "string"},
                "example": f'id: 9\nevent: run\ndata: {{"run_id":"{examples.RUN_ID}"}}\n\n',
            },
        },
    },
    **errors(404),
}
_Revision = Annotated[
    str | None, Header(alias="Last-Event-ID", description="The revision that was seen last.")
]
_RevisionQuery = Annotated[
    str | None, Query(alias="last_event_id", description="The same, where no header can be set.")
]


@router.post("", status_code=201, responses={201: {"links": _LINKS}, **errors(404)})
async def start_image_run(serving: Serving, new: NewImageRun) -> ImageRunView:
    """Queue a run and answer at once. It goes on in the background, and after a restart."""
    run = await serving.images.create(new.request(serving.images.models.settings.table))
    serving.wake()
    return ImageRunView.of(run)


@router.get("", responses=errors())
async def list_image_runs(
    serving: Serving,
    project_id: Annotated[str | None, Query(pattern=NAME_PATTERN)] = None,
    status: ImageRunStatus | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> ImageRunPage:
    """Runs of a project or of all, the newest first."""
    page = await serving.images.page(
        project_id=project_id,
        status=status,
        limit=limit,
        after=decode_cursor(_NEWEST, cursor),
    )
    return ImageRunPage(
        items=[ImageRunLine.of(one) for one in page.items],
        next_cursor=encode_cursor(_NEWEST, page.next),
    )


@router.get("/{run_id}", responses=errors(404))
async def get_image_run(serving: Serving, run_id: RunId) -> ImageRunView:
    """One run: counters, variants, leaderboard, suggestions."""
    return ImageRunView.of(await serving.images.get(run_id))


@router.post("/{run_id}/cancel", status_code=202, responses=errors(404))
async def cancel_image_run(serving: Serving, run_id: RunId) -> ImageRunView:
    """Stop it: what was drawn and scored stays. One that has ended stays as it is."""
    run = await serving.images.cancel(run_id)
    serving.wake()
    return ImageRunView.of(run)


@router.get("/{run_id}/events", response_class=Response, responses=_STREAM)
async def watch_image_run(
    serving: Serving,
    run_id: RunId,
    last_event_id: _Revision = None,
    after: _RevisionQuery = None,
) -> Response:
    """The run as it stands, then at each change, until it has ended."""
    watch, first = await serving.image_hub.watch(run_id, _revision(last_event_id or after))
    return EventStream(watch, first)


def _revision(given: str | None) -> int | None:
    if not given:
        return None
    if given.isascii() and given.isdecimal() and len(given) <= 16:
        return int(given)
    raise UsageError(
        what="the stream cannot go on from that event",
        why="a Last-Event-ID of this stream is the revision of the run, which is a number",
        fix="send the last id that this stream gave, or none",
        code="invalid_event_id",
    )
