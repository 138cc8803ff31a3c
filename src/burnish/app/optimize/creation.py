"""New optimizations and evaluations from requests: the agent, suite and settings that they name."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from burnish.app.agents.registry import (
    AgentRegistry,
    KnownAgent,
    require_own_model,
    unknown_agent,
    with_configuration,
)
from burnish.app.datasets.stored import with_stored_rows
from burnish.app.datasets.suites import KnownSuite, SuiteRegistry
from burnish.app.optimize.optimizations import Optimization
from burnish.app.optimize.run_plan import RunPlan
from burnish.app.optimize.run_spec import spec_of, stored_settings
from burnish.app.wiring import Workspace
from burnish.config.schema import RefineTable, Settings, SuiteTable
from burnish.config.search import SearchSpec, limited
from burnish.config.served_project import (
    RunRequest,
    ServedProject,
    naming_models,
    require_own_models,
    suite_name,
    with_request,
)
from burnish.domain import (
    Configuration,
    ConflictError,
    OptimizationRecord,
    OptimizationStatus,
    UsageError,
)


def with_refinement(
    table: SuiteTable, wanted: Mapping[str, Any] | None, own: Settings
) -> SuiteTable:
    """The suite with what a request names; a model is one that the configuration names."""
    if wanted is None:
        return table
    require_own_models(wanted, own, of="refinement")
    before = {} if table.refine is None else table.refine.model_dump()
    return table.model_copy(update={"refine": RefineTable(**{**before, **wanted})})


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
    require_own_model(table, own)
    suite_table = with_refinement(suite.table, choice.refine, own)
    settings = own.model_copy(update={"agent": table, "suite": suite_table})
    return Chosen(settings=settings, agent=agent, suite=suite)


def overlaid(configuration: Configuration, overrides: Mapping[str, Any]) -> Configuration:
    """The configuration with some sections and parameters replaced; examples as a whole."""
    changed = configuration.to_json()
    for name in ("sections", "parameters"):
        changed[name] = {**changed[name], **(overrides.get(name) or {})}
    if overrides.get("examples") is not None:
        changed["examples"] = overrides["examples"]
    return Configuration.of(changed)


def _configuration(own: Settings, table: Any) -> Configuration:
    settings = own.model_copy(update={"agent": table})
    return Configuration.of(settings.agent_spec().configuration)


async def _agent(registry: AgentRegistry, own: Settings, name: str | None) -> KnownAgent:
    if not (name or own.agent.name):
        raise _unnamed("agent", "agents")
    try:
        return await registry.get(name or own.agent.name, own)
    except UsageError as error:
        if error.code == "not_found":
            raise unknown_agent(str(name)) from None
        raise


async def _suite(registry: SuiteRegistry, own: Settings, wanted: str | None) -> KnownSuite:
    if not (wanted or suite_name(own)):
        raise _unnamed("suite", "suites")
    try:
        return await registry.get(wanted, own)
    except UsageError as error:
        if error.code == "not_found":
            raise UsageError(
                what=f"there is no suite {wanted!r}",
                why=f"this server has {_own_suite_words(own)}those of its registry",
                fix="take one from GET /v1/private/suites, or leave `suite` out",
                code="unknown_suite",
            ) from None
        raise


def _own_suite_words(own: Settings) -> str:
    name = suite_name(own)
    return f"the suite {name!r}, and " if name else ""


def _unnamed(noun: str, route: str) -> UsageError:
    return UsageError(
        what=f"no {noun} is named",
        why="the server has no burnish.toml whose own it could take",
        fix=f"name one of GET /v1/private/{route}, or make it there first",
        code=f"no_{noun}",
    )


async def create_run(
    workspace: Workspace,
    project: ServedProject,
    request: RunRequest,
    *,
    optimization_id: str | None = None,
) -> str:
    """The id of a new optimization, checked as the command line checks it, and not started."""
    settings = await settings_of(workspace, project, request)
    return await _create(workspace, settings, name=request.name, optimization_id=optimization_id)


async def settings_of(
    workspace: Workspace, project: ServedProject, request: RunRequest
) -> Settings:
    """The settings of the agent and suite that a request names, with the rest of the request."""
    choice = Choice(
        agent=request.agent,
        agent_version=request.agent_version,
        suite=request.suite,
        refine=request.refine,
    )
    chosen = await choose(workspace, project, choice)
    return await asyncio.to_thread(project.settings_for, request, chosen.settings)


async def duplicate_run(
    workspace: Workspace, project: ServedProject, original: OptimizationRecord, request: RunRequest
) -> str:
    """The id of a new optimization like a stored one, with what a request changes."""
    settings = await asyncio.to_thread(_like, project, original, request)
    return await _create(workspace, settings, name=request.name or f"{original.name} (copy)")


def request_of(project: ServedProject, record: OptimizationRecord) -> RunRequest:
    """The request that would start a stored optimization again."""
    settings = stored_settings(record, project.folder)
    table = dict(settings.optimizer)
    return RunRequest(
        agent=record.agent_name,
        suite=record.suite_name,
        optimizer=SearchSpec.of(table).name,
        optimizer_settings={k: v for k, v in table.items() if k not in ("name", "seed")},
        budget={k: v for k, v in settings.budget.model_dump().items() if v is not None},
        seed=record.seed,
        name=record.name,
        refine=_refine_of(settings),
    )


def _refine_of(settings: Settings) -> dict[str, Any] | None:
    table = settings.suite.refine
    if table is None:
        return None
    names = ("model", "limit", "threshold", "answer", "trials")
    return {name: getattr(table, name) for name in names}


def require_startable(project: ServedProject, record: OptimizationRecord) -> None:
    """Refuse, before it is queued, what this project could never run."""
    if record.status is OptimizationStatus.CANCELLED:
        raise ConflictError(
            what=f"optimization {record.id} cannot go on",
            why="it was cancelled",
            fix="duplicate it and start the copy; results that are there are reused",
            code="cancelled",
        )
    project.require_own(stored_settings(record, project.folder))


def _like(project: ServedProject, original: OptimizationRecord, request: RunRequest) -> Settings:
    stored = stored_settings(original, project.folder)
    stored = stored.placed_in(project.folder).reaching(project.urls)
    project.require_own(stored)
    # A copy goes the way of its original, also where that drew its own seed.
    stored = stored.model_copy(update={"optimizer": {"seed": original.seed, **stored.optimizer}})
    changed = with_request(stored, request)
    if request.refine is not None:
        table = with_refinement(changed.suite, request.refine, project.settings())
        changed = changed.model_copy(update={"suite": table})
    if request.optimizer_settings or request.optimizer:
        asked = naming_models(changed.agent, request.optimizer_settings)
        require_own_models(asked, project.settings())
    return limited(changed)[0]


async def _create(
    workspace: Workspace,
    settings: Settings,
    *,
    name: str | None,
    optimization_id: str | None = None,
) -> str:
    async with prepared(workspace, settings) as optimization:
        spec = await asyncio.to_thread(spec_of, settings, optimization)
        created = await optimization.create(name=name, spec=spec, optimization_id=optimization_id)
        return created.id


@contextlib.asynccontextmanager
async def prepared(workspace: Workspace, settings: Settings) -> AsyncIterator[Optimization]:
    """The optimization of the settings, with everything checked that building it checks."""
    own = workspace.beside(settings.models, saved=lambda _: None)
    try:
        settings = await with_stored_rows(workspace, settings)
        # Reads the dataset and loads the agent's code, which may take a while.
        optimization = await asyncio.to_thread(Optimization.of_settings, own, settings)
        try:
            yield optimization
        finally:
            await optimization.close()
    finally:
        await own.models.close()


async def plan_request(
    workspace: Workspace, project: ServedProject, request: RunRequest
) -> tuple[RunPlan, str]:
    """The plan of what a request asks for, checked as starting it would, and the suite's name."""
    settings = await settings_of(workspace, project, request)
    async with prepared(workspace, settings) as optimization:
        return await asyncio.to_thread(optimization.plan, settings), suite_name(settings)
