"""Tries: one input run under a configuration that need not be saved, within limits."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any

from burnish.app.agents.registry import (
    AgentRegistry,
    require_own_model,
    with_configuration,
    with_definition,
)
from burnish.app.wiring import Workspace, build_agent
from burnish.config.schema import AgentTable
from burnish.config.served_project import ServedProject, require_own_models
from burnish.domain import (
    Agent,
    AgentOutput,
    BurnishError,
    Configuration,
    Item,
    UnavailableError,
    UsageError,
    exact_hash,
)
from burnish.evaluation.item_runner import describe
from burnish.support.deadlines import deadline

_AT_ONCE = 4


class Tries:
    """Runs single inputs of people who edit a prompt; few at once, each with a deadline."""

    def __init__(self, workspace: Workspace, project: ServedProject, *, seconds: float) -> None:
        self._workspace = workspace
        self._project = project
        self._seconds = seconds
        self._running = 0

    async def run(
        self,
        agent: str | None,
        definition: Mapping[str, Any],
        configuration: Configuration,
        data: Mapping[str, Any],
    ) -> AgentOutput:
        """What a known agent, or else one of the definition, answers; nothing is saved."""
        async with self._place():
            return await self._run(agent, definition, configuration, data)

    @contextlib.asynccontextmanager
    async def _place(self) -> AsyncIterator[None]:
        if self._running >= _AT_ONCE:
            raise UnavailableError(
                what="the input was not tried",
                why=f"{_AT_ONCE} others are being tried at the moment",
                fix="try it again in a few seconds",
                code="busy",
            )
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1

    async def _run(
        self,
        name: str | None,
        definition: Mapping[str, Any],
        configuration: Configuration,
        data: Mapping[str, Any],
    ) -> AgentOutput:
        own = await asyncio.to_thread(self._project.settings)
        if name is not None:
            known = await AgentRegistry(self._workspace, self._project).get(name)
            table = with_configuration(known.table, configuration)
        else:
            require_own_models(definition, own, of="agent")
            table = with_definition("draft", definition, configuration)
        require_own_model(table, own)
        _require_input(table, configuration, data)
        spec = own.model_copy(update={"agent": table}).agent_spec()
        beside = self._workspace.beside(own.models, saved=lambda _: None)
        try:
            agent = await asyncio.to_thread(build_agent, spec, beside.single_model)
            return await self._answer(
                agent, configuration, Item(id=exact_hash(data)[:16], data=dict(data))
            )
        finally:
            await beside.models.close()

    async def _answer(self, agent: Agent, configuration: Configuration, item: Item) -> AgentOutput:
        started = time.perf_counter()
        try:
            async with deadline(self._seconds):
                output = await agent.run(configuration, item, repeat=0)
        except TimeoutError:
            raise UnavailableError(
                what="the input was given up",
                why=f"there was no answer within {self._seconds:g} seconds",
                fix="try it again, or choose a faster model",
                code="timeout",
            ) from None
        except BurnishError:
            raise
        except Exception as error:
            raise UsageError(
                what="the agent failed with this input",
                why=describe(error),
                fix="correct the agent's code or the input",
                code="agent_failed",
            ) from error
        finally:
            await agent.close()
        if output.latency_ms is None:
            output = replace(output, latency_ms=(time.perf_counter() - started) * 1000)
        return output


def _require_input(
    table: AgentTable, configuration: Configuration, data: Mapping[str, Any]
) -> None:
    """A prompt whose placeholders have no value would be sent with holes."""
    if table.model is None:
        return
    missing = sorted(name for name in configuration.placeholders if name.split(".")[0] not in data)
    if missing:
        raise UsageError(
            what=f"the placeholder {{{{{missing[0]}}}}} cannot be filled",
            why="the input has no such field",
            fix=f"give the input a value for {missing[0].split('.')[0]!r}",
            code="placeholder_unknown",
        )
