"""Agents that a server knows: that of its configuration, and those made over HTTP."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from burnish.app.report.differences import Difference, difference
from burnish.app.wiring import ModelPool, Workspace, build_agent
from burnish.config.schema import AgentTable, Settings
from burnish.config.served_project import ServedProject, require_own_models
from burnish.domain import AgentVersion, Configuration, ConflictError, UsageError
from burnish.domain.configuration import MODEL
from burnish.domain.pages import Page
from burnish.domain.registry import ObjectKind
from burnish.support.names import require_name

AgentKind = Literal["prompt", "python", "http", "command"]
_START: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAgent:
    """An agent and what it runs under. `written` is the configuration as burnish.toml has it."""

    table: AgentTable
    active: AgentVersion | None
    written: Configuration | None = None

    @property
    def name(self) -> str:
        """Its name."""
        return self.table.name

    @property
    def kind(self) -> AgentKind:
        """What runs it."""
        if self.table.run is not None:
            return "python"
        if self.table.command is not None:
            return "command"
        return "http" if self.table.url is not None else "prompt"

    @property
    def model(self) -> str | None:
        """What answers as a prompt agent: the model that its configuration names, else its own."""
        own = self.table.model
        return own if own is None else self.configuration.model or own

    @property
    def configuration(self) -> Configuration:
        """The active version's, or that of the file as long as there is no version."""
        if self.active is not None:
            return self.active.configuration
        assert self.written is not None
        return self.written


class AgentRegistry:
    """Makes and finds agents, and keeps the versions of their configurations."""

    def __init__(self, workspace: Workspace, project: ServedProject) -> None:
        self._workspace = workspace
        self._project = project

    async def get(self, name: str, own: Settings | None = None) -> KnownAgent:
        """One agent; UsageError `not_found` when there is none."""
        if own is None:
            own = await asyncio.to_thread(self._project.own)
        active = await self._workspace.agents.active_version(name)
        if own is not None and name == own.agent.name:
            spec = await asyncio.to_thread(own.agent_spec)
            return KnownAgent(
                table=own.agent, active=active, written=Configuration.of(spec.configuration)
            )
        stored = await self._workspace.objects.get(ObjectKind.AGENT, name)
        return KnownAgent(table=_requested(name, stored.document), active=active)

    async def page(self, *, limit: int, after: Sequence[Any] | None) -> Page[KnownAgent]:
        """That of the configuration first, then the others by name."""
        own = await asyncio.to_thread(self._project.own)
        mine = None if own is None else own.agent.name
        first = [] if after is not None or mine is None else [await self.get(mine, own)]
        if len(first) >= limit:
            return Page(items=first, next=_START)
        found = await self._workspace.objects.page(
            ObjectKind.AGENT, limit=limit - len(first), after=after
        )
        others = [await self.get(one.name, own) for one in found.items if one.name != mine]
        return Page(items=[*first, *others], next=found.next)

    async def create(
        self,
        name: str,
        definition: Mapping[str, Any],
        configuration: Configuration,
        *,
        author: str,
        note: str,
    ) -> KnownAgent:
        """A new prompt or HTTP agent; ConflictError when the name is taken by another one."""
        require_name("agent", name)
        own = await asyncio.to_thread(self._project.settings)
        if name == own.agent.name:
            raise _taken(name, "the server's configuration has one of that name")
        require_own_models(definition, own, of="agent")
        require_own_model(with_definition(name, definition, configuration), own)
        if "url" in definition:
            await self._project.urls.check(definition["url"])
        await _require_buildable(own, with_definition(name, definition, configuration))
        try:
            await self._workspace.objects.save(
                ObjectKind.AGENT, name, dict(definition), author=author, expected_version=0
            )
        except ConflictError as conflict:
            if conflict.code != "version_moved":
                raise
            raise _taken(name, "there is one that is defined otherwise") from None
        active = await self._workspace.agents.active_version(name)
        if active is None:
            with contextlib.suppress(ConflictError):  # Somebody sent the same at the same time.
                await self._workspace.agents.add_version(
                    name,
                    configuration,
                    author=author,
                    note=note,
                    origin={"source": "request"},
                    expected_active=0,
                )
        elif active.configuration.hash != configuration.hash:
            raise _taken(name, f"there is one, and its version {active.version} is another")
        return await self.get(name, own)

    async def add_version(
        self,
        name: str,
        configuration: Configuration,
        *,
        model: str | None = None,
        author: str,
        note: str,
        origin: Mapping[str, Any],
        expected_version: int | None,
    ) -> AgentVersion:
        """A new active version; one of a prompt agent is checked before.

        `model` answers from it on, where the configuration names none.
        """
        own = await asyncio.to_thread(self._project.settings)
        agent = await self.get(name, own)
        if model is not None and agent.kind != "prompt":
            raise _no_model(name, agent.kind)
        configuration = configuration.naming(model)
        if agent.kind == "prompt":
            require_own_model(with_configuration(agent.table, configuration), own)
            await _require_buildable(own, with_configuration(agent.table, configuration))
        first = await self.first_version(agent)
        if expected_version is None:
            expected_version = first.version
        return await self._workspace.agents.add_version(
            name,
            configuration,
            author=author,
            note=note,
            origin=origin,
            expected_active=expected_version,
        )

    async def first_version(self, agent: KnownAgent) -> AgentVersion:
        """The active version. An agent without any gets one as burnish.toml has it.

        So there is always something to go back to.
        """
        if agent.active is not None:
            return agent.active
        try:
            return await self._workspace.agents.add_version(
                agent.name,
                agent.configuration,
                note="as burnish.toml has it",
                origin={"source": "configuration"},
                expected_active=0,
            )
        except ConflictError:
            found = await self._workspace.agents.active_version(agent.name)
            assert found is not None
            return found

    async def revert(
        self, name: str, version: int, *, author: str, note: str, expected_version: int | None
    ) -> AgentVersion:
        """A new version that is equal to an old one; nothing of the history goes."""
        old = await self._workspace.agents.get_version(name, version)
        return await self.add_version(
            name,
            old.configuration,
            author=author,
            note=note,
            origin={"source": "revert", "reverted_to": version},
            expected_version=expected_version,
        )

    async def delete(self, name: str) -> KnownAgent:
        """Take an agent away, and say what it was; its runs, evaluations and versions stay."""
        own = await asyncio.to_thread(self._project.own)
        if own is not None and name == own.agent.name:
            raise written_in_file("agent", name)
        agent = await self.get(name, own)
        await self._workspace.removals.agent(
            await self._workspace.objects.get(ObjectKind.AGENT, name)
        )
        return agent

    async def difference(self, name: str, before: int, after: int) -> Difference:
        """What two versions differ in."""
        agents = self._workspace.agents
        old, new = await agents.get_version(name, before), await agents.get_version(name, after)
        return difference(old.configuration, new.configuration)


def with_configuration(table: AgentTable, configuration: Configuration) -> AgentTable:
    """The agent under another configuration."""
    return table.model_copy(update=configuration.to_json())


def with_definition(
    name: str, definition: Mapping[str, Any], configuration: Configuration
) -> AgentTable:
    """An agent of a request as burnish.toml would have it."""
    return _requested(name, {**definition, **configuration.to_json()})


def _requested(name: str, values: Mapping[str, Any]) -> AgentTable:
    return AgentTable(name=name, **values, requested=True)


def require_own_model(table: AgentTable, own: Settings) -> None:
    """Refuse a model that a prompt agent's configuration names and the server's does not."""
    if table.model is not None and MODEL in table.parameters:
        require_own_models({MODEL: table.parameters[MODEL]}, own, of="agent")


async def _require_buildable(own: Settings, table: AgentTable) -> None:
    """Refuse what no run could use."""
    settings = own.model_copy(update={"agent": table})
    async with ModelPool(own.models) as pool:
        await asyncio.to_thread(lambda: build_agent(settings.agent_spec(), pool.model))


def _taken(name: str, why: str) -> ConflictError:
    return ConflictError(
        what=f"the agent {name!r} was not made",
        why=why,
        fix="choose another name, or add a version to the one that is there",
        code="name_taken",
    )


def _no_model(name: str, kind: AgentKind) -> UsageError:
    what_runs = "a function" if kind == "python" else "a service"
    return UsageError(
        what=f"the model of the agent {name!r} cannot be changed",
        why=f"{what_runs} answers, and no model",
        fix="leave `model` out; what it calls a model is one of its parameters",
        code="invalid_agent",
    )


def written_in_file(noun: str, name: str) -> ConflictError:
    """Something that burnish.toml has cannot be deleted by a request."""
    return ConflictError(
        what=f"the {noun} {name!r} was not deleted",
        why="it stands in the server's burnish.toml",
        fix="take it out of that file",
        code="written_in_file",
    )


def unknown_agent(name: str) -> UsageError:
    """A request names an agent that is not there."""
    return UsageError(
        what=f"there is no agent {name!r}",
        why="neither the server's configuration nor its registry has one of that name",
        fix="take a name from GET /v1/private/agents, or leave `agent` out",
        code="unknown_agent",
    )
