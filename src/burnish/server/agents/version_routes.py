"""Versions of agents: what there was, what changed, and the way back."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query

from burnish.domain import Configuration
from burnish.server.agents.registry import AgentName, Agents
from burnish.server.agents.schemas import (
    DifferenceView,
    NewVersion,
    Revert,
    VersionLine,
    VersionPage,
    VersionView,
)
from burnish.server.http.errors import errors
from burnish.server.http.requests import Cursor, Limit, decode_cursor, encode_cursor
from burnish.server.http.services import Serving

router = APIRouter(prefix="/v1/private/agents/{agent}", tags=["agents"])
_ORDER = "-version"
Number = Annotated[int, Path(ge=1, lt=2**31)]


@router.get("/versions", responses=errors(404))
async def list_versions(
    agents: Agents, serving: Serving, agent: AgentName, limit: Limit = 50, cursor: Cursor = None
) -> VersionPage:
    """All versions that ever were, the newest first, each with its author and origin."""
    await agents.get(agent)
    page = await serving.workspace.agents.versions_page(
        agent, limit=limit, after=decode_cursor(_ORDER, cursor)
    )
    return VersionPage(
        items=[VersionLine.of(one) for one in page.items],
        next_cursor=encode_cursor(_ORDER, page.next),
    )


@router.post("/versions", status_code=201, responses=errors(404, 409))
async def add_version(agents: Agents, agent: AgentName, new: NewVersion) -> VersionView:
    """A changed configuration, active at once."""
    added = await agents.add_version(
        agent,
        Configuration.of(new.configuration.model_dump()),
        author=new.author,
        note=new.note,
        origin={"source": "request"},
        expected_version=new.expected_version,
    )
    return VersionView.of(added)


@router.get("/versions/{version}", responses=errors(404))
async def get_version(
    agents: Agents, serving: Serving, agent: AgentName, version: Number
) -> VersionView:
    """One version with its configuration."""
    await agents.get(agent)
    return VersionView.of(await serving.workspace.agents.get_version(agent, version))


@router.get("/diff", responses=errors(404))
async def diff_versions(
    agents: Agents,
    agent: AgentName,
    before: Annotated[int, Query(ge=1, lt=2**31, description="The number of one version.")],
    after: Annotated[int, Query(ge=1, lt=2**31, description="The number of another.")],
) -> DifferenceView:
    """What two versions differ in, section by section."""
    return DifferenceView.of(await agents.difference(agent, before, after))


@router.post("/revert", status_code=201, responses=errors(404, 409))
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
