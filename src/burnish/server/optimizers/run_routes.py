"""Runs of configured optimizers: started, listed, looked into, promoted."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from burnish.app.agents.optimizer_runs import start_run
from burnish.app.agents.promotions import promote_candidate
from burnish.domain import UsageError
from burnish.domain.configured_objects import ObjectVersion
from burnish.domain.optimizer_runs import RunLine
from burnish.server.agents.promotion_schemas import Promote, PromotionView
from burnish.server.agents.registry import Optimizer, RunId
from burnish.server.http import examples
from burnish.server.http.errors import errors
from burnish.server.http.requests import CandidateId, Cursor, Limit, decode_cursor, encode_cursor
from burnish.server.http.services import Services, Serving
from burnish.server.optimizers.run_schemas import (
    CandidatePage,
    CandidateView,
    RunPage,
    RunView,
)

router = APIRouter(prefix="/planar/v1/agents/{agent}/optimizers/{name}", tags=["optimizers"])
_NEWEST, _NUMBER = "-started_at", "number"


@router.post("/run", status_code=202, responses=errors(404, 409))
async def run_optimizer(serving: Serving, optimizer: Optimizer) -> RunView:
    """Start a run. It goes on in the background; 409 while another one has not ended."""
    run_id = await start_run(serving.workspace, serving.project, optimizer)
    assert run_id is not None
    serving.wake()
    return RunView.of(await serving.workspace.optimizer_runs.line(run_id))


@router.get("/runs", responses=errors(404))
async def list_runs(
    serving: Serving, optimizer: Optimizer, limit: Limit = 50, cursor: Cursor = None
) -> RunPage:
    """Runs of an optimizer with their summaries, the newest first."""
    page = await serving.workspace.optimizer_runs.page(
        optimizer.id, limit=limit, after=decode_cursor(_NEWEST, cursor)
    )
    return RunPage(
        items=[RunView.of(one) for one in page.items],
        next_cursor=encode_cursor(_NEWEST, page.next),
    )


@router.get("/runs/{run_id}", responses=errors(404))
async def get_run(serving: Serving, optimizer: Optimizer, run_id: RunId) -> RunView:
    """One run with its summary."""
    return RunView.of(await _line(serving, optimizer, run_id))


@router.get("/runs/{run_id}/candidates", responses=errors(404))
async def list_candidates(
    serving: Serving,
    optimizer: Optimizer,
    run_id: RunId,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> CandidatePage:
    """Candidates of a run with their prompts and scores, the baseline first."""
    line = await _line(serving, optimizer, run_id)
    page = await serving.workspace.optimizer_runs.candidates(
        run_id, limit=limit, after=decode_cursor(_NUMBER, cursor)
    )
    return CandidatePage(
        items=[CandidateView.of(one, line) for one in page.items],
        next_cursor=encode_cursor(_NUMBER, page.next),
    )


@router.post("/promote/{candidate_id}", responses=errors(404, 409))
async def promote(
    serving: Serving,
    optimizer: Optimizer,
    candidate_id: CandidateId,
    promotion: Promote,
    run_id: Annotated[
        str | None,
        Query(
            max_length=100,
            description="The run, where several have a candidate of this id.",
            examples=[examples.OPTIMIZATION_ID],
        ),
    ] = None,
) -> PromotionView:
    """Make a candidate the agent's active version. Of several at once one wins; others are 409."""
    if run_id is None:
        run_id = await serving.workspace.optimizer_runs.find_run(optimizer.id, candidate_id)
    await _line(serving, optimizer, run_id)
    request = promotion.request(candidate_id)
    return PromotionView.of(await promote_candidate(serving.workspace, run_id, request))


async def _line(serving: Services, optimizer: ObjectVersion, run_id: str) -> RunLine:
    """A run of this optimizer and of no other."""
    line = await serving.workspace.optimizer_runs.line(run_id)
    if line.run.optimizer_id != optimizer.id:
        raise UsageError(
            what=f"the optimizer {optimizer.name!r} has no run {run_id!r}",
            why="it is a run of another one",
            fix="take an id from its runs",
            code="not_found",
        )
    return line
