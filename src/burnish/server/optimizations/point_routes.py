"""Every experiment of a search for charts and tables, and the log of what happened."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from burnish.app.report.run_points import read_points
from burnish.domain import EventType, UsageError
from burnish.server.http.errors import errors
from burnish.server.http.requests import Cursor, Limit, OptimizationId, decode_cursor, encode_cursor
from burnish.server.http.responses import ready_json, zipped
from burnish.server.http.services import Serving
from burnish.server.optimizations.point_schemas import EventPage, EventView, Points, point_rows

router = APIRouter(prefix="/v1/private/optimizations/{optimization_id}", tags=["trials"])
_LARGEST = 2**31


@router.get("/points", response_model=Points, responses=errors(404))
async def get_points(
    serving: Serving,
    request: Request,
    optimization_id: OptimizationId,
    mini_batches: Annotated[bool, Query(description="Mini-batches too.")] = False,
    since: Annotated[
        int | None,
        Query(ge=0, lt=_LARGEST, description="Only what changed after the event of this number."),
    ] = None,
) -> Response:
    """All trials at once, as columns: small enough to draw thousands of them."""
    table = await read_points(
        serving.workspace, optimization_id, mini_batches=mini_batches, since=since
    )
    # Thousands of them take a while, in which others are to be served too.
    return await asyncio.to_thread(lambda: zipped(request, ready_json(point_rows(table))))


@router.get("/event-log", responses=errors(404))
async def list_events(
    serving: Serving,
    optimization_id: OptimizationId,
    type: Annotated[list[EventType] | None, Query()] = None,  # noqa: A002 - as clients see it
    newest: Annotated[bool, Query(description="The newest first.")] = False,
    after: Annotated[
        int | None,
        Query(ge=0, lt=_LARGEST, description="Only events past this number; for polling."),
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> EventPage:
    """What happened, in pages: the same events as on the stream."""
    order = "-id" if newest else "id"
    place = _place(decode_cursor(order, cursor))
    start = place if newest else max((one for one in (place, after) if one is not None), default=0)
    await serving.workspace.optimizations.get_optimization(optimization_id)
    found = await serving.workspace.insights.events(
        optimization_id, types=type or (), newest=newest, limit=limit + 1, after=start
    )
    if newest and after is not None:
        found = [one for one in found if one.sequence > after]
    shown = found[:limit]
    more = len(found) > limit
    return EventPage(
        items=[EventView.of(one) for one in shown],
        next_cursor=encode_cursor(order, (shown[-1].sequence,) if more else None),
    )


def _place(after: list[Any] | None) -> int | None:
    if after is None:
        return None
    if len(after) != 1 or type(after[0]) is not int or not 0 <= after[0] < _LARGEST:
        raise UsageError(
            what="the cursor cannot be used",
            why="it belongs to another list",
            fix="take `next_cursor` from the page before",
            code="invalid_cursor",
        )
    number: int = after[0]
    return number
