"""Configurations of an agent over time: numbered, one of them active."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from burnish.domain.configuration import Configuration
from burnish.domain.read_models import Page


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentVersion:
    """One configuration that was in use. `origin` tells which run and candidate it came from."""

    agent_name: str
    version: int
    configuration: Configuration
    active: bool
    author: str = ""
    note: str = ""
    origin: Mapping[str, Any] = field(default_factory=dict)
    created_at: str = ""


class AgentRepository(Protocol):
    """Keeps the versions of agents. Nothing is ever overwritten: a change is a new version."""

    async def add_version(
        self,
        agent_name: str,
        configuration: Configuration,
        *,
        author: str = "",
        note: str = "",
        origin: Mapping[str, Any] | None = None,
        expected_active: int | None = None,
    ) -> AgentVersion:
        """A new version, active at once.

        With `expected_active`, ConflictError when another version is active by now (0: none is).
        """
        ...

    async def activate(self, agent_name: str, version: int) -> AgentVersion:
        """Make an earlier version the active one again; UsageError `not_found` when there is none."""
        ...

    async def active_version(self, agent_name: str) -> AgentVersion | None:
        """The one in use, or None for an agent that was never promoted."""
        ...

    async def get_version(self, agent_name: str, version: int) -> AgentVersion:
        """One version; UsageError `not_found` when there is none."""
        ...

    async def versions_page(
        self, agent_name: str, *, limit: int = 50, after: Sequence[Any] | None = None
    ) -> Page[AgentVersion]:
        """The newest first."""
        ...

    async def list_versions(self, agent_name: str) -> list[AgentVersion]:
        """Newest first."""
        ...
