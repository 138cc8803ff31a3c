"""Routes of trials: their items, lineage, rejections, points for charts, and the log of events."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from burnish.app.report.runs.points import read_points
from burnish.domain import EventType, ExperimentStatus
from burnish.domain.optimizations.pages import TrialOrder
from burnish.server.evaluations.routes import WantedItems
from burnish.server.http.errors import errors
from burnish.server.http.requests import (
    CandidateId,
    Cursor,
    Limit,
    OptimizationId,
    decode_cursor,
    decode_place,
    encode_cursor,
    other_list,
)
from burnish.server.http.responses import ready_json, zipped
from burnish.server.http.services import Serving
from burnish.server.optimizations.trial_schemas import (
    EventPage,
    EventView,
    Graph,
    ItemPage,
    ItemView,
    Points,
    RejectionPage,
    RejectionView,
    TrialDetail,
    TrialPage,
    graph_rows,
    point_rows,
    trial_row,
)

router = APIRouter(prefix="/v1/private/optimizations/{optimization_id}", tags=["trials"])
_LARGEST = 2**31


@router.get("/trials", response_model=TrialPage, responses=errors(404))
async def list_trials(
    serving: Serving,
    optimization_id: OptimizationId,
    status: Annotated[list[ExperimentStatus] | None, Query()] = None,
    mini_batches: Annotated[bool, Query(description="Mini-batches too.")] = False,
    sort: TrialOrder = TrialOrder.NUMBER,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """Trials, the baseline first unless sorted otherwise."""
    page = await serving.workspace.pages.trials(
        optimization_id,
        statuses=status or (),
        mini_batches=mini_batches,
        order=sort,
        limit=limit,
        after=decode_cursor(sort.value, cursor),
    )
    return ready_json(
        {
            "items": [trial_row(one) for one in page.items],
            "next_cursor": encode_cursor(sort.value, page.next),
        }
    )


@router.get("/trials/{candidate_id}", responses=errors(404))
async def get_trial(
    serving: Serving, optimization_id: OptimizationId, candidate_id: CandidateId
) -> TrialDetail:
    """One candidate's trial with its configuration."""
    found = await serving.workspace.pages.trial(optimization_id, candidate_id)
    return TrialDetail.of_candidate(*found)


@router.get("/trials/{candidate_id}/items", responses=errors(404))
async def list_items(
    serving: Serving,
    optimization_id: OptimizationId,
    candidate_id: CandidateId,
    wanted: WantedItems,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> ItemPage:
    """What one candidate answered, item by item."""
    pages = serving.workspace.pages
    _, trial = await pages.trial(optimization_id, candidate_id)
    page = await pages.items(
        trial.experiment_id, wanted=wanted, limit=limit, after=decode_cursor("item", cursor)
    )
    return ItemPage.of(page, ItemView.of, "item")


@router.get("/graph", response_model=Graph, responses=errors(404))
async def get_graph(serving: Serving, optimization_id: OptimizationId) -> Response:
    """Which candidate came from which: all of them, as nodes and edges."""
    record = await serving.workspace.optimizations.get_optimization(optimization_id)
    nodes = await serving.workspace.pages.lineage(optimization_id)
    # Thousands of them take a while, in which others are to be served too.
    return await asyncio.to_thread(lambda: ready_json(graph_rows(nodes, record.best_candidate_id)))


@router.get("/rejections", responses=errors(404))
async def list_rejections(
    serving: Serving, optimization_id: OptimizationId, limit: Limit = 50, cursor: Cursor = None
) -> RejectionPage:
    """Proposals that were not run, in the order they were made."""
    page = await serving.workspace.pages.rejections(
        optimization_id, limit=limit, after=decode_cursor("position", cursor)
    )
    return RejectionPage.of(page, RejectionView.read, "position")


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
    place = decode_place(order, cursor, int)
    seen = None if place is None else place[0]
    if seen is not None and not 0 <= seen < _LARGEST:
        raise other_list()
    start = seen if newest else max((one for one in (seen, after) if one is not None), default=0)
    await serving.workspace.optimizations.get_optimization(optimization_id)
    found = await serving.workspace.insights.events(
        optimization_id, types=type or (), newest=newest, limit=limit + 1, after=start
    )
    if newest and after is not None:
        found = [one for one in found if one.sequence > after]
    shown = found[:limit]
    more = len(found) > limit
    return EventPage(
        items=[EventView.read(one, optimization_id=optimization_id) for one in shown],
        next_cursor=encode_cursor(order, (shown[-1].sequence,) if more else None),
    )
