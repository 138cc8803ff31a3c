"""Configured optimizers of agents: what they are, checked before they are kept."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from burnish.app.agents.optimizers.cron import Schedule
from burnish.app.agents.registry import AgentRegistry
from burnish.app.datasets.suites import KnownSuite, SuiteRegistry
from burnish.app.optimize.creation import prepared, settings_of
from burnish.app.wiring import Workspace
from burnish.config.search import SearchSpec
from burnish.config.served_project import RunRequest, ServedProject
from burnish.domain import UsageError
from burnish.domain.registry import ObjectKind, ObjectVersion
from burnish.optimizers.gepa.sections import narrowed
from burnish.support.names import require_name

Text = Annotated[str, Field(min_length=1, max_length=200)]
LongText = Annotated[str, Field(max_length=20_000)]


class PromptMutationStrategy(StrEnum):
    """Which section an optimizer may rewrite; any other is named by its path."""

    SYSTEM_TEMPLATE = "system_template"
    USER_TEMPLATE = "user_template"


class _Config(BaseModel):
    """What all optimizers have. `base_config_version` is None for the active one at each start."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    name: str
    agent_name: str
    suite_id: str
    base_config_version: int | None = None
    budget: dict[str, int | float] = Field(default_factory=dict)
    seed: int | None = None
    refine: dict[str, Any] | None = None
    schedule: str | None = None
    schedule_timezone: str = "UTC"
    auto_promote: bool = False


class GEPASettings(BaseModel):
    """The settings of a configured `gepa` and the framework's; None leaves those as they are."""

    optimizer: Literal["gepa"] = "gepa"
    max_iterations: Annotated[int, Field(ge=1, le=100_000)] = 8
    population_size: Annotated[int, Field(ge=1, le=1000)] = 4
    exploration_temperature: Annotated[float, Field(ge=0, le=10)] = 0.7
    accept_threshold: float | None = None
    stop_no_improve: Annotated[int, Field(ge=1, le=100_000)] = 3
    mutation_strategies: list[PromptMutationStrategy | Text] = Field(
        min_length=1,
        max_length=50,
        description="What may be rewritten: these, or any other section by its path.",
    )
    model: Text | None = None
    evaluations_per_reflection: float = Field(
        default=12.0, gt=0, le=1e9, description="The meta-model is asked at most once for so many."
    )
    look: int | None = Field(
        default=None, ge=1, description="How many training items are looked at first."
    )
    max_prompt_tokens: int | None = Field(
        default=None, ge=1, description="How long prompts may get."
    )
    guidance: LongText | None = Field(
        default=None, description="What the meta-model is told besides."
    )
    section_guidance: dict[str, LongText] | None = Field(
        default=None, description="The same for single sections, by their paths."
    )
    racing: Literal["off", "conservative", "aggressive"] | None = None
    candidates_per_step: Annotated[int, Field(ge=1, le=1000)] | None = None
    asynchronous: bool | None = None
    keep_passing: bool | None = None
    timeout_seconds: Annotated[float, Field(gt=0, le=1e9)] | None = None
    space: dict[str, Any] | None = Field(
        default=None, description="What may change: sections, parameters with values, examples."
    )
    objective: dict[str, Any] | None = Field(
        default=None,
        description="What counts besides the score: weights, or pareto with a tolerance.",
        examples=[{"tokens": 0.1}],
    )


class GEPAOptimizerConfig(_Config, GEPASettings):
    """The `gepa` optimizer. `model` is its meta-model; without one mutations are mechanical."""

    def search(self) -> dict[str, Any]:
        """The settings that stand beside its name in `[optimizer]`."""
        names = GEPASettings.model_fields.keys() - {"optimizer"}
        return self.model_dump(mode="json", include=names, exclude_none=True)


class OptimizerConfig(_Config):
    """Any other optimizer, with the settings that stand beside its name in `[optimizer]`."""

    optimizer: str
    settings: dict[str, Any] = Field(default_factory=dict)

    def search(self) -> dict[str, Any]:
        """The algorithm's settings."""
        return dict(self.settings)


AnyConfig = GEPAOptimizerConfig | OptimizerConfig


def read_config(document: Mapping[str, Any]) -> AnyConfig:
    """A config from its stored form."""
    kind = GEPAOptimizerConfig if document.get("optimizer") == "gepa" else OptimizerConfig
    return kind.model_validate(dict(document))


def request_of(config: AnyConfig, base_version: int | None) -> RunRequest:
    """What a run of the optimizer asks for."""
    return RunRequest(
        agent=config.agent_name,
        agent_version=base_version,
        suite=config.suite_id,
        optimizer=config.optimizer,
        optimizer_settings=config.search(),
        budget=config.budget,
        seed=config.seed,
        refine=config.refine,
        name=f"{config.name} of {config.agent_name}",
    )


class OptimizerConfigs:
    """Keeps configured optimizers, each under its agent."""

    def __init__(self, workspace: Workspace, project: ServedProject) -> None:
        self._workspace = workspace
        self._project = project
        self._agents = AgentRegistry(workspace, project)

    async def get(self, agent: str, name: str) -> ObjectVersion:
        """The active version; UsageError `not_found` when agent or optimizer are not there."""
        await self._agents.get(agent)
        return await self._workspace.objects.get(ObjectKind.AGENT_OPTIMIZER, name, scope=agent)

    async def save(
        self, config: AnyConfig, *, author: str, expected_version: int | None
    ) -> ObjectVersion:
        """A new optimizer or a new version of it, checked as far as that is possible for nothing."""
        config, base = await self.checked(config)
        await self._check(config, base)
        return await self._workspace.objects.save(
            ObjectKind.AGENT_OPTIMIZER,
            config.name,
            config.model_dump(mode="json"),
            scope=config.agent_name,
            author=author,
            expected_version=expected_version,
        )

    async def checked(self, config: AnyConfig) -> tuple[AnyConfig, int | None]:
        """The config with its suite, and the version that a run would begin with, if there is one.

        What only building a run would tell is not looked at.
        """
        require_name("optimizer", config.name)
        if config.schedule is not None:
            Schedule.of(config.schedule, config.schedule_timezone)
        base = await self._present_base(config)
        suites = SuiteRegistry(self._workspace, self._project)
        suite = await suites.get(config.suite_id or None)
        config = config.model_copy(update={"suite_id": suite.id})
        _require_held_out(config, suite)
        return config, base

    async def base_version(self, config: AnyConfig) -> int:
        """The version that a run begins with: the pinned one, else the active one.

        An agent that has none yet gets its first.
        """
        base = await self._present_base(config)
        if base is not None:
            return base
        agent = await self._agents.get(config.agent_name)
        return (await self._agents.first_version(agent)).version

    async def _present_base(self, config: AnyConfig) -> int | None:
        agent = await self._agents.get(config.agent_name)
        pinned = config.base_config_version
        if pinned is not None:
            return (await self._workspace.agents.get_version(agent.name, pinned)).version
        return None if agent.active is None else agent.active.version

    async def _check(self, config: AnyConfig, base: int | None) -> None:
        """Build what a run would build, and look at what it would look at first."""
        request = request_of(config, base)
        settings = await settings_of(self._workspace, self._project, request)
        search = SearchSpec.of(settings.optimizer)
        async with prepared(self._workspace, settings) as optimization:
            await asyncio.to_thread(optimization.require_affordable)
            strategies = settings.optimizer.get("mutation_strategies")
            if strategies is not None:
                narrowed(search.space, optimization.agent.configuration, strategies)


def _require_held_out(config: AnyConfig, suite: KnownSuite) -> None:
    if config.auto_promote and suite.table.split is None:
        raise UsageError(
            what="the optimizer cannot promote by itself",
            why=f"the suite {suite.name!r} holds no items out, and so nothing can be proven",
            fix="give the suite a split with a test part, or leave auto_promote out",
            code="nothing_held_out",
        )
