"""Routes of agents, of the server's configuration and of the registry: versions and promotions."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query

from burnish.app.agents.promotion import promote_candidate
from burnish.app.agents.registry import AgentRegistry
from burnish.domain import Configuration
from burnish.server.agents.schemas import (
    AgentPage,
    AgentView,
    DifferenceView,
    NewAgent,
    NewVersion,
    PromoteBest,
    PromotionView,
    Revert,
    TryAgent,
    TryView,
    VersionLine,
    VersionPage,
    VersionView,
)
from burnish.server.http.errors import errors
from burnish.server.http.logs import caller_origin
from burnish.server.http.requests import Cursor, Limit, OptimizationId, decode_cursor
from burnish.server.http.services import Serving

router = APIRouter(prefix="/v1/private/agents", tags=["agents"])
promotion_router = APIRouter(prefix="/v1/private/optimizations", tags=["optimizations"])
TRIES = "/v1/private/agents/try"
_ORDER = "agent"
_NEWEST = "-version"
AgentName = Annotated[str, Path(min_length=1, max_length=200, examples=["reviews"])]
Number = Annotated[int, Path(ge=1, lt=2**31)]


async def _agents(serving: Serving) -> AgentRegistry:
    return AgentRegistry(serving.workspace, serving.project)


Agents = Annotated[AgentRegistry, Depends(_agents)]


@router.get("", responses=errors())
async def list_agents(agents: Agents, limit: Limit = 50, cursor: Cursor = None) -> AgentPage:
    """Agents with what each runs under, that of the server's configuration first."""
    page = await agents.page(limit=limit, after=decode_cursor(_ORDER, cursor))
    return AgentPage.of(page, AgentView.of, _ORDER)


@router.post("", status_code=201, responses=errors(409))
async def create_agent(agents: Agents, new: NewAgent) -> AgentView:
    """Make a prompt agent, or an HTTP agent at a url that the server allows.

    The same again does no harm; another one of the name is a conflict.
    """
    made = await agents.create(
        new.name,
        new.definition,
        Configuration.of(new.configuration.model_dump()),
        author=new.author or "",
        note=new.note,
    )
    return AgentView.of(made)


@router.post("/try", responses=errors(404))
async def try_agent(serving: Serving, wanted: TryAgent) -> TryView:
    """Run one input under a configuration, and save nothing. Code is never in a request."""
    output = await serving.tries.run(
        wanted.agent,
        wanted.definition,
        Configuration.of(wanted.configuration.model_dump()),
        wanted.input,
    )
    return TryView.of(output)


@router.get("/{agent}", responses=errors(404))
async def get_agent(agents: Agents, agent: AgentName) -> AgentView:
    """One agent with its active configuration."""
    return AgentView.of(await agents.get(agent))


@router.delete("/{agent}", responses=errors(404, 409))
async def delete_agent(agents: Agents, agent: AgentName) -> AgentView:
    """Take an agent away that nothing uses, and say what it was; what was run with it stays."""
    return AgentView.of(await agents.delete(agent))


@router.get("/{agent}/versions", responses=errors(404))
async def list_versions(
    agents: Agents, serving: Serving, agent: AgentName, limit: Limit = 50, cursor: Cursor = None
) -> VersionPage:
    """All versions that ever were, the newest first, each with its author and origin."""
    await agents.get(agent)
    page = await serving.workspace.agents.versions_page(
        agent, limit=limit, after=decode_cursor(_NEWEST, cursor)
    )
    return VersionPage.of(page, VersionLine.of, _NEWEST)


@router.post("/{agent}/versions", status_code=201, responses=errors(404, 409))
async def add_version(agents: Agents, agent: AgentName, new: NewVersion) -> VersionView:
    """A changed configuration, active at once."""
    added = await agents.add_version(
        agent,
        Configuration.of(new.configuration.model_dump()),
        model=new.model,
        author=new.author,
        note=new.note,
        origin={"source": "request"},
        expected_version=new.expected_version,
    )
    return VersionView.of(added)


@router.get("/{agent}/versions/{version}", responses=errors(404))
async def get_version(
    agents: Agents, serving: Serving, agent: AgentName, version: Number
) -> VersionView:
    """One version with its configuration."""
    await agents.get(agent)
    return VersionView.of(await serving.workspace.agents.get_version(agent, version))


@router.get("/{agent}/diff", responses=errors(404))
async def diff_versions(
    agents: Agents,
    agent: AgentName,
    before: Annotated[int, Query(ge=1, lt=2**31, description="The number of one version.")],
    after: Annotated[int, Query(ge=1, lt=2**31, description="The number of another.")],
) -> DifferenceView:
    """What two versions differ in, section by section."""
    return DifferenceView.of(await agents.difference(agent, before, after))


@router.post("/{agent}/revert", status_code=201, responses=errors(404, 409))
async def revert_agent(agents: Agents, agent: AgentName, revert: Revert) -> VersionView:
    """Back to an old version: a new one that is equal to it. Nothing of the history goes."""
    added = await agents.revert(
        agent,
        revert.version,
        author=revert.author,
        note=revert.note,
        expected_version=revert.expected_version,
    )
    return VersionView.of(added)


@promotion_router.post("/{optimization_id}/promote", responses=errors(404, 409))
async def promote_winner(
    serving: Serving, optimization_id: OptimizationId, promote: PromoteBest
) -> PromotionView:
    """Make a candidate the agent's active version. Of several at once one wins; others are 409."""
    promoted = await promote_candidate(
        serving.workspace, optimization_id, **promote.model_dump(), origin=caller_origin()
    )
    return PromotionView.of(promoted)
