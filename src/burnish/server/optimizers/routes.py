"""Configured optimizers of an agent: made, changed, listed."""

from __future__ import annotations

from fastapi import APIRouter

from burnish.domain import UsageError
from burnish.domain.configured_objects import ObjectKind, ObjectVersion
from burnish.domain.read_models import Page
from burnish.server.agents.registry import AgentName, Agents, Optimizer, Optimizers
from burnish.server.http.errors import errors
from burnish.server.http.requests import Cursor, Limit, decode_cursor, encode_cursor
from burnish.server.http.services import Serving
from burnish.server.optimizers.schemas import NewOptimizer, OptimizerPage, OptimizerView

router = APIRouter(prefix="/planar/v1/agents/{agent}/optimizers", tags=["optimizers"])
_ORDER, _NEWEST = "optimizer", "-version"


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
        after=decode_cursor(_ORDER, cursor),
    )
    return _page(page, _ORDER)


@router.get("/{name}", responses=errors(404))
async def get_optimizer(optimizer: Optimizer) -> OptimizerView:
    """One optimizer as it is now."""
    return OptimizerView.of(optimizer)


@router.get("/{name}/versions", responses=errors(404))
async def list_optimizer_versions(
    serving: Serving, optimizer: Optimizer, limit: Limit = 50, cursor: Cursor = None
) -> OptimizerPage:
    """All versions of an optimizer, the newest first."""
    page = await serving.workspace.objects.versions(
        optimizer.id, limit=limit, after=decode_cursor(_NEWEST, cursor)
    )
    return _page(page, _NEWEST)


def _page(page: Page[ObjectVersion], order: str) -> OptimizerPage:
    return OptimizerPage(
        items=[OptimizerView.of(one) for one in page.items],
        next_cursor=encode_cursor(order, page.next),
    )
