"""The agent and suite that a request names, as the settings that a run is built from."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from burnish.app.agents.registry import (
    AgentRegistry,
    KnownAgent,
    unknown_agent,
    with_configuration,
)
from burnish.app.datasets.suites import KnownSuite, SuiteRegistry, own_suite
from burnish.app.optimize.requested_refinement import with_refinement
from burnish.app.wiring import Workspace
from burnish.config.schema import Settings
from burnish.config.served_project import ServedProject
from burnish.domain import Configuration, UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What is to be run; None means that of the configuration.

    Without a version, an agent of the registry runs under its active one, and that of the
    configuration as burnish.toml has it. `overrides` are laid over it and never saved; so is
    `refine` over the suite's own settings of refinement.
    """

    agent: str | None = None
    agent_version: int | None = None
    suite: str | None = None
    overrides: Mapping[str, Any] = field(default_factory=dict)
    refine: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The settings, and which agent and suite they are of."""

    settings: Settings
    agent: KnownAgent
    suite: KnownSuite


async def choose(workspace: Workspace, project: ServedProject, choice: Choice) -> Chosen:
    """What a choice comes to; UsageError `unknown_agent` or `unknown_suite` when it is not there."""
    own = await asyncio.to_thread(project.settings)
    agent = await _agent(AgentRegistry(workspace, project), own, choice.agent)
    suite = await _suite(SuiteRegistry(workspace, project), own, choice.suite)
    table = agent.table
    if choice.agent_version is not None:
        version = await workspace.agents.get_version(agent.name, choice.agent_version)
        table = with_configuration(table, version.configuration)
    elif agent.written is None:
        table = with_configuration(table, agent.configuration)
    if choice.overrides:
        configuration = await asyncio.to_thread(_configuration, own, table)
        table = with_configuration(table, overlaid(configuration, choice.overrides))
    suite_table = with_refinement(suite.table, choice.refine, own)
    settings = own.model_copy(update={"agent": table, "suite": suite_table})
    return Chosen(settings=settings.placed_in(own.folder), agent=agent, suite=suite)


def overlaid(configuration: Configuration, overrides: Mapping[str, Any]) -> Configuration:
    """The configuration with some sections and parameters replaced; examples as a whole."""
    changed = configuration.to_json()
    for name in ("sections", "parameters"):
        changed[name] = {**changed[name], **(overrides.get(name) or {})}
    if overrides.get("examples") is not None:
        changed["examples"] = overrides["examples"]
    return Configuration.of(changed)


def _configuration(own: Settings, table: Any) -> Configuration:
    settings = own.model_copy(update={"agent": table}).placed_in(own.folder)
    return Configuration.of(settings.agent_spec().configuration)


async def _agent(registry: AgentRegistry, own: Settings, name: str | None) -> KnownAgent:
    try:
        return await registry.get(name or own.agent.name, own)
    except UsageError as error:
        if error.code == "not_found":
            raise unknown_agent(str(name)) from None
        raise


async def _suite(registry: SuiteRegistry, own: Settings, wanted: str | None) -> KnownSuite:
    try:
        return await registry.get(wanted, own)
    except UsageError as error:
        if error.code == "not_found":
            raise UsageError(
                what=f"there is no suite {wanted!r}",
                why=f"this server has the suite {own_suite(own).name!r}, and those of its registry",
                fix="take one from GET /v1/private/suites, or leave `suite` out",
                code="unknown_suite",
            ) from None
        raise
