"""Live events as server-sent events, of one optimization or of many on one connection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Response

from burnish.domain import UsageError
from burnish.server.http import examples
from burnish.server.http.errors import errors
from burnish.server.http.requests import OptimizationId
from burnish.server.http.services import Services, Serving
from burnish.server.http.sse import EventStream, Watching

router = APIRouter(prefix="/v1/private", tags=["events"])

_LARGEST = 2**53
_EXAMPLE = (
    "id: 12\nevent: best_candidate_changed\n"
    f'data: {{"optimization_id":"{examples.OPTIMIZATION_ID}","sequence":12,'
    f'"type":"best_candidate_changed","created_at":"{examples.MOMENT}",'
    f'"payload":{{"candidate_id":"{examples.CANDIDATE_ID}","score":0.88}}}}\n\n'
)
_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Events as they happen: run_status_changed, progress_changed, "
        "trial_added_or_updated, best_candidate_changed, run_finished; and `reload` when the "
        "snapshot has to be loaded again. Comments keep the connection alive.",
        "content": {
            "text/event-stream": {"schema": {"type": "string"}, "example": _EXAMPLE},
        },
    },
    **errors(404),
}
LastEventIdHeader = Annotated[
    str | None, Header(alias="Last-Event-ID", description="Go on after this event's id.")
]
LastEventIdQuery = Annotated[
    str | None,
    Query(alias="last_event_id", description="The same, where no header can be set."),
]
UntilFinished = Annotated[
    bool, Query(description="End the stream once the run has ended; handy for curl.")
]


@router.get("/optimizations/{optimization_id}/events", response_class=Response, responses=_STREAM)
async def watch_optimization(
    serving: Serving,
    optimization_id: OptimizationId,
    last_event_id: LastEventIdHeader = None,
    after: LastEventIdQuery = None,
    until_finished: UntilFinished = False,
) -> Response:
    """Everything that happens in one optimization, from its beginning or a given event on."""
    starts = _starts(last_event_id or after, 1)
    return await _stream(serving, [optimization_id], starts, until_finished=until_finished)


@router.get("/events", response_class=Response, responses=_STREAM)
async def watch_many(
    serving: Serving,
    optimization_id: Annotated[
        list[str], Query(min_length=1, max_length=100, description="Repeatable, in a fixed order.")
    ],
    last_event_id: LastEventIdHeader = None,
    after: LastEventIdQuery = None,
    until_finished: UntilFinished = False,
) -> Response:
    """The events of many optimizations on one connection, of which a browser has only six.

    An event's id has a number for each optimization, in the order of the request: `12.0.7`.
    """
    ids = list(dict.fromkeys(optimization_id))
    starts = _starts(last_event_id or after, len(ids))
    return await _stream(serving, ids, starts, until_finished=until_finished)


async def _stream(
    serving: Services, ids: Sequence[str], starts: Sequence[int], *, until_finished: bool
) -> Response:
    unfinished = None
    if until_finished:
        unfinished = await _unfinished(serving, ids, starts)
    watching = Watching(serving.hub, ids, starts, unfinished=unfinished)
    return EventStream(watching, await watching.open())


async def _unfinished(serving: Services, ids: Sequence[str], starts: Sequence[int]) -> list[str]:
    """Those that have not ended, or whose end this client was not told of."""
    positions = await serving.workspace.feed.positions(ids)
    found = []
    for one, start in zip(ids, starts, strict=True):
        record = await serving.workspace.optimizations.get_optimization(one)
        if not record.status.final or start < positions.get(one, 0):
            found.append(one)
    return found


def _starts(given: str | None, count: int) -> list[int]:
    """The positions that an event's id stands for."""
    if not given:
        return [0] * count
    parts = given.split(".")
    right = len(parts) == count and all(
        part.isascii() and part.isdecimal() and len(part) <= 16 and int(part) < _LARGEST
        for part in parts
    )
    if not right:
        raise UsageError(
            what="the stream cannot go on from that event",
            why=f"a Last-Event-ID of this stream has {count} number(s) with dots between them",
            fix="send the last id that this stream gave, for the same optimizations in the same "
            "order, or none",
            code="invalid_event_id",
        )
    return [int(part) for part in parts]
