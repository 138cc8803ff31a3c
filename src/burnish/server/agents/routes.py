"""Agents: that of the server's configuration, and those of the registry."""

from __future__ import annotations

from fastapi import APIRouter

from burnish.domain import Configuration
from burnish.server.agents.registry import AgentName, Agents
from burnish.server.agents.schemas import AgentPage, AgentView, NewAgent
from burnish.server.http.errors import errors
from burnish.server.http.requests import Cursor, Limit, decode_cursor, encode_cursor

router = APIRouter(prefix="/v1/private/agents", tags=["agents"])
_ORDER = "agent"


@router.get("", responses=errors())
async def list_agents(agents: Agents, limit: Limit = 50, cursor: Cursor = None) -> AgentPage:
    """Agents with what each runs under, that of the server's configuration first."""
    page = await agents.page(limit=limit, after=decode_cursor(_ORDER, cursor))
    return AgentPage(
        items=[AgentView.of(one) for one in page.items],
        next_cursor=encode_cursor(_ORDER, page.next),
    )


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


@router.get("/{agent}", responses=errors(404))
async def get_agent(agents: Agents, agent: AgentName) -> AgentView:
    """One agent with its active configuration."""
    return AgentView.of(await agents.get(agent))
