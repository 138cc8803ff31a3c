"""What an optimization tried: trials, their items, the lineage and what was refused."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Response

from burnish.domain import ExperimentStatus
from burnish.domain.read_models import TrialOrder
from burnish.server.evaluations.item_filter import WantedItems
from burnish.server.http.errors import errors
from burnish.server.http.requests import (
    CandidateId,
    Cursor,
    Limit,
    OptimizationId,
    decode_cursor,
    encode_cursor,
)
from burnish.server.http.responses import ready_json
from burnish.server.http.services import Serving
from burnish.server.optimizations.trial_schemas import (
    Graph,
    ItemPage,
    ItemView,
    RejectionPage,
    RejectionView,
    TrialDetail,
    TrialPage,
    graph_rows,
    trial_row,
)

router = APIRouter(prefix="/v1/private/optimizations/{optimization_id}", tags=["trials"])


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
    return ItemPage(
        items=[ItemView.of(one) for one in page.items],
        next_cursor=encode_cursor("item", page.next),
    )


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
    return RejectionPage(
        items=[RejectionView.of(one) for one in page.items],
        next_cursor=encode_cursor("position", page.next),
    )
