"""Candidates of a run: one by itself, two side by side, and what a promotion would change."""

from __future__ import annotations

from bisect import bisect_right
from typing import Annotated

from fastapi import APIRouter, Query

from burnish.app.agents.promotion import review_promotion
from burnish.app.report.candidate_pages import read_candidate
from burnish.app.report.comparisons import (
    Change,
    On,
    chosen_items,
    compare,
    compared_items,
    item_lines,
    read_side,
)
from burnish.app.report.html.reading import expected_fields
from burnish.domain import UsageError
from burnish.server.candidates.schemas import (
    ComparedItemPage,
    ComparedItemView,
    ComparisonView,
    ItemDetail,
    PromotionReviewView,
    RunCandidate,
    item_side,
)
from burnish.server.http import examples
from burnish.server.http.errors import errors
from burnish.server.http.requests import (
    CandidateId,
    Cursor,
    Limit,
    OptimizationId,
    decode_place,
    encode_cursor,
)
from burnish.server.http.services import Serving

router = APIRouter(prefix="/v1/private/optimizations/{optimization_id}", tags=["trials"])
_ORDER = "change"
Before = Annotated[str, Query(min_length=1, max_length=100, examples=["3c9e8a10-0"])]
After = Annotated[str, Query(min_length=1, max_length=100, examples=[examples.CANDIDATE_ID])]
Where = Annotated[On, Query(description="Items of the search, or those that it never saw.")]


@router.get("/candidates/{candidate_id}", responses=errors(404))
async def get_candidate(
    serving: Serving, optimization_id: OptimizationId, candidate_id: CandidateId
) -> RunCandidate:
    """A candidate with its configuration, its kin and all its experiments."""
    return RunCandidate.of(await read_candidate(serving.workspace, optimization_id, candidate_id))


@router.get("/compare", responses=errors(404))
async def compare_candidates(
    serving: Serving,
    optimization_id: OptimizationId,
    before: Before,
    after: After,
    on: Where = On.SEARCH,
) -> ComparisonView:
    """Two candidates: what changed in the configuration, and on how many items it tells."""
    found = await compare(serving.workspace, optimization_id, before, after, on)
    return ComparisonView.of(found)


@router.get("/compare/items", responses=errors(404))
async def list_compared_items(
    serving: Serving,
    optimization_id: OptimizationId,
    before: Before,
    after: After,
    on: Where = On.SEARCH,
    change: Annotated[
        list[Change] | None, Query(description="Repeatable; without it, all of them.")
    ] = None,
    q: Annotated[
        str | None, Query(max_length=200, description="Part of the item's id or row.")
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> ComparedItemPage:
    """Items that both ran: those that got worse first, then better ones, then all others."""
    workspace = serving.workspace
    place = decode_place(_ORDER, cursor, int, str)
    comparison = await compare(workspace, optimization_id, before, after, on)
    chosen = await chosen_items(workspace, comparison, changes=change or (), text=q)
    start = 0 if place is None else bisect_right(chosen, (place[0], place[1]))
    shown = chosen[start : start + limit]
    items = await compared_items(workspace, comparison, [item for _, item in shown])
    more = len(chosen) > start + limit
    return ComparedItemPage(
        items=[ComparedItemView.of(one) for one in items],
        next_cursor=encode_cursor(_ORDER, shown[-1] if more else None),
        total=len(chosen),
    )


@router.get("/item", responses=errors(404))
async def get_item(
    serving: Serving,
    optimization_id: OptimizationId,
    item_id: Annotated[str, Query(min_length=1, max_length=1000, examples=["r7"])],
    candidate_id: Annotated[
        list[str], Query(min_length=1, max_length=4, description="Repeatable, up to four.")
    ],
    on: Where = On.SEARCH,
) -> ItemDetail:
    """One item in full under one candidate, or under several side by side."""
    workspace = serving.workspace
    record = await workspace.optimizations.get_optimization(optimization_id)
    row = None
    if record.dataset_id is not None:
        row = (await workspace.dataset_pages.find_rows(record.dataset_id, [item_id])).get(item_id)
    sides = []
    for one in dict.fromkeys(candidate_id):
        side = await read_side(workspace, record, one, on)
        if item_id not in side.scores:
            side = await read_side(workspace, record, one, on, whole=True)
        sides.append(item_side(side, await item_lines(workspace, side, item_id, row)))
    if row is None and not any(one.runs for one in sides):
        raise UsageError(
            what=f"there is no item {item_id[:80]!r}",
            why="neither the dataset of the optimization nor these candidates have it",
            fix="take an id from `compare/items`",
            code="not_found",
        )
    data = {} if row is None else dict(row.item.data)
    expected = dict.fromkeys(expected_fields(record.spec))
    return ItemDetail(
        item_id=item_id,
        split=None if row is None else row.item.split,
        input=None if row is None else data,
        expected={name: data[name] for name in expected if name in data},
        sides=sides,
    )


@router.get("/promotion", responses=errors(404))
async def get_promotion_review(
    serving: Serving,
    optimization_id: OptimizationId,
    candidate_id: Annotated[
        str | None,
        Query(
            max_length=100, description="Without it, the best.", examples=[examples.CANDIDATE_ID]
        ),
    ] = None,
) -> PromotionReviewView:
    """What a promotion would change, and what speaks for and against it. Nothing is done."""
    review = await review_promotion(serving.workspace, optimization_id, candidate_id)
    return PromotionReviewView.of(review)
