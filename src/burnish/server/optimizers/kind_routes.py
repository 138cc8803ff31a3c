"""What can be chosen: optimizers and scorers with their settings, and what a run would take."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter

from burnish.app.agents.optimizer_configs import request_of
from burnish.app.kinds import FRAMEWORK, optimizer_kinds, scorer_kinds
from burnish.app.optimize.run_plan import plan_request
from burnish.server.agents.registry import AgentName, Optimizers
from burnish.server.http.errors import errors
from burnish.server.http.services import Serving
from burnish.server.optimizations.request_schemas import NewOptimization
from burnish.server.optimizers.kind_schemas import (
    Estimate,
    OptimizerKind,
    OptimizerKinds,
    ScorerKind,
    ScorerKinds,
)
from burnish.server.optimizers.schemas import NewOptimizer

router = APIRouter(tags=["project"])


@router.get("/v1/private/optimizers", responses=errors())
async def list_optimizer_kinds() -> OptimizerKinds:
    """Every algorithm with a JSON schema of its settings."""
    kinds = await asyncio.to_thread(optimizer_kinds)
    return OptimizerKinds(items=[OptimizerKind.of(one) for one in kinds], framework=FRAMEWORK)


@router.get("/v1/private/scorers", responses=errors())
async def list_scorer_kinds() -> ScorerKinds:
    """Every built-in kind of scorer with a JSON schema of its settings."""
    return ScorerKinds(items=[ScorerKind.of(one) for one in scorer_kinds()])


@router.post("/v1/private/optimizations/estimate", responses=errors(404))
async def estimate_optimization(serving: Serving, new: NewOptimization) -> Estimate:
    """What an optimization would take, with the body that would make it. Nothing is made."""
    plan = await plan_request(serving.workspace, serving.project, new.run_request())
    return Estimate.of(*plan)


@router.post("/planar/v1/agents/{agent}/optimizers/estimate", responses=errors(404))
async def estimate_optimizer(
    serving: Serving, optimizers: Optimizers, agent: AgentName, new: NewOptimizer
) -> Estimate:
    """What a run of an optimizer would take, with the body that would save it. Nothing is saved."""
    config, base = await optimizers.checked(new.config(agent))
    plan = await plan_request(serving.workspace, serving.project, request_of(config, base))
    return Estimate.of(*plan)
