"""Routes of optimizers: what can be chosen, what an agent has configured, and their runs."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query

from burnish.app.agents.optimizers.configs import OptimizerConfigs, request_of
from burnish.app.agents.optimizers.runs import start_run
from burnish.app.agents.promotion import promote_candidate
from burnish.app.kinds import FRAMEWORK, optimizer_kinds, scorer_kinds
from burnish.app.optimize.creation import plan_request
from burnish.domain import UsageError
from burnish.domain.registry import ObjectKind, ObjectVersion, RunLine
from burnish.server.agents.routes import AgentName, Agents
from burnish.server.agents.schemas import Promote, PromotionView
from burnish.server.http import examples
from burnish.server.http.errors import errors
from burnish.server.http.logs import caller_origin
from burnish.server.http.requests import CandidateId, Cursor, Limit, decode_cursor
from burnish.server.http.services import Services, Serving
from burnish.server.optimizations.request_schemas import NewOptimization
from burnish.server.optimizers.schemas import (
    CandidatePage,
    CandidateView,
    Estimate,
    NewOptimizer,
    OptimizerKind,
    OptimizerKinds,
    OptimizerPage,
    OptimizerView,
    RunPage,
    RunView,
    ScorerKind,
    ScorerKinds,
)

kind_router = APIRouter(tags=["project"])
router = APIRouter(prefix="/planar/v1/agents/{agent}/optimizers", tags=["optimizers"])
OptimizerName = Annotated[str, Path(min_length=1, max_length=100, examples=["nightly"])]
RunId = Annotated[str, Path(min_length=1, max_length=100, examples=[examples.OPTIMIZATION_ID])]
_BY_NAME, _BY_VERSION, _BY_START, _BY_NUMBER = "optimizer", "-version", "-started_at", "number"


async def _optimizers(serving: Serving) -> OptimizerConfigs:
    return OptimizerConfigs(serving.workspace, serving.project)


Optimizers = Annotated[OptimizerConfigs, Depends(_optimizers)]


async def _optimizer(
    optimizers: Optimizers, agent: AgentName, name: OptimizerName
) -> ObjectVersion:
    return await optimizers.get(agent, name)


# The one that the path names, as it is now.
Optimizer = Annotated[ObjectVersion, Depends(_optimizer)]


@kind_router.get("/v1/private/optimizers", responses=errors())
async def list_optimizer_kinds() -> OptimizerKinds:
    """Every algorithm with a JSON schema of its settings."""
    kinds = await asyncio.to_thread(optimizer_kinds)
    return OptimizerKinds(items=[OptimizerKind.read(one) for one in kinds], framework=FRAMEWORK)


@kind_router.get("/v1/private/scorers", responses=errors())
async def list_scorer_kinds() -> ScorerKinds:
    """Every built-in kind of scorer with a JSON schema of its settings."""
    return ScorerKinds(items=[ScorerKind.of(one) for one in scorer_kinds()])


@kind_router.post("/v1/private/optimizations/estimate", responses=errors(404))
async def estimate_optimization(serving: Serving, new: NewOptimization) -> Estimate:
    """What an optimization would take, with the body that would make it. Nothing is made."""
    plan = await plan_request(serving.workspace, serving.project, new.run_request())
    return Estimate.of(*plan)


@kind_router.post("/planar/v1/agents/{agent}/optimizers/estimate", responses=errors(404))
async def estimate_optimizer(
    serving: Serving, optimizers: Optimizers, agent: AgentName, new: NewOptimizer
) -> Estimate:
    """What a run of an optimizer would take, with the body that would save it. Nothing is saved."""
    config, base = await optimizers.checked(new.config(agent))
    plan = await plan_request(serving.workspace, serving.project, request_of(config, base))
    # A seed in burnish.toml is for the runs of that file.
    return Estimate.of(*plan).model_copy(update={"seed": config.seed})


@router.post("", status_code=201, include_in_schema=False)
@router.post("/", status_code=201, responses=errors(404, 409))
async def save_optimizer(
    optimizers: Optimizers, agent: AgentName, new: NewOptimizer
) -> OptimizerView:
    """Make an optimizer, or a new version of it, which is active at once."""
    if new.agent_name not in (None, agent):
        raise UsageError(
            what="the optimizer was not made",
            why=f"the body names the agent {new.agent_name!r}, and the path {agent!r}",
            fix="leave agent_name out, or name the agent of the path",
            code="other_agent",
        )
    saved = await optimizers.save(
        new.config(agent), author=new.author or "", expected_version=new.expected_version
    )
    return OptimizerView.of(saved)


@router.get("", include_in_schema=False)
@router.get("/", responses=errors(404))
async def list_agent_optimizers(
    serving: Serving, agents: Agents, agent: AgentName, limit: Limit = 50, cursor: Cursor = None
) -> OptimizerPage:
    """The agent's optimizers by name."""
    await agents.get(agent)
    page = await serving.workspace.objects.page(
        ObjectKind.AGENT_OPTIMIZER,
        scope=agent,
        limit=limit,
        after=decode_cursor(_BY_NAME, cursor),
    )
    return OptimizerPage.of(page, OptimizerView.of, _BY_NAME)


@router.get("/{name}", responses=errors(404))
async def get_optimizer(optimizer: Optimizer) -> OptimizerView:
    """One optimizer as it is now."""
    return OptimizerView.of(optimizer)


@router.delete("/{name}", responses=errors(404, 409))
async def delete_optimizer(serving: Serving, optimizer: Optimizer) -> OptimizerView:
    """Take an optimizer away of which no run goes on, and say what it was; its runs stay."""
    await serving.workspace.removals.optimizer(optimizer)
    return OptimizerView.of(optimizer)


@router.get("/{name}/versions", responses=errors(404))
async def list_optimizer_versions(
    serving: Serving, optimizer: Optimizer, limit: Limit = 50, cursor: Cursor = None
) -> OptimizerPage:
    """All versions of an optimizer, the newest first."""
    page = await serving.workspace.objects.versions(
        optimizer.id, limit=limit, after=decode_cursor(_BY_VERSION, cursor)
    )
    return OptimizerPage.of(page, OptimizerView.of, _BY_VERSION)


@router.post("/{name}/run", status_code=202, responses=errors(404, 409))
async def run_optimizer(serving: Serving, optimizer: Optimizer) -> RunView:
    """Start a run. It goes on in the background; 409 while another one has not ended."""
    run_id = await start_run(serving.workspace, serving.project, optimizer)
    assert run_id is not None
    serving.wake()
    return RunView.of(await serving.workspace.optimizer_runs.line(run_id))


@router.get("/{name}/runs", responses=errors(404))
async def list_runs(
    serving: Serving, optimizer: Optimizer, limit: Limit = 50, cursor: Cursor = None
) -> RunPage:
    """Runs of an optimizer with their summaries, the newest first."""
    page = await serving.workspace.optimizer_runs.page(
        optimizer.id, limit=limit, after=decode_cursor(_BY_START, cursor)
    )
    return RunPage.of(page, RunView.of, _BY_START)


@router.get("/{name}/runs/{run_id}", responses=errors(404))
async def get_run(serving: Serving, optimizer: Optimizer, run_id: RunId) -> RunView:
    """One run with its summary."""
    return RunView.of(await _line(serving, optimizer, run_id))


@router.get("/{name}/runs/{run_id}/candidates", responses=errors(404))
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
        run_id, limit=limit, after=decode_cursor(_BY_NUMBER, cursor)
    )
    return CandidatePage.of(page, lambda one: CandidateView.of(one, line), _BY_NUMBER)


@router.post("/{name}/promote/{candidate_id}", responses=errors(404, 409))
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
    promoted = await promote_candidate(
        serving.workspace, run_id, candidate_id, **promotion.model_dump(), origin=caller_origin()
    )
    return PromotionView.of(promoted)


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
