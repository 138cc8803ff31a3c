"""What is sent to start something."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field, field_validator

from burnish.config.served_project import RunRequest
from burnish.server.evaluations.schemas import EvaluationBudget, TrialRefineChoice
from burnish.server.http.requests import Name, Strict, require_shallow
from burnish.server.optimizations.schemas import OptimizationView


class OptimizerChoice(Strict):
    """Which algorithm; without a name the server's own, with its settings."""

    name: Name | None = Field(default=None, examples=["edits"])
    settings: dict[str, Any] = Field(
        default_factory=dict,
        description="The algorithm's own settings, and the framework's: racing, "
        "candidates_per_step, asynchronous, keep_passing, timeout_seconds, space, objective.",
    )

    @field_validator("settings")
    @classmethod
    def _check(cls, settings: dict[str, Any]) -> dict[str, Any]:
        for key in ("name", "seed"):
            if key in settings:
                raise ValueError(f"{key} has a field of its own, and is no setting")
        return require_shallow(settings)


class BudgetLimits(EvaluationBudget):
    """What it may spend; what is left out is as the server's configuration has it."""

    max_trials: Annotated[int, Field(ge=0, le=1_000_000)] | None = None


class _Changes(Strict):
    optimizer: OptimizerChoice = Field(default_factory=OptimizerChoice)
    budget: BudgetLimits = Field(default_factory=BudgetLimits)
    seed: Annotated[int, Field(ge=-(2**63) + 1, le=2**63 - 1)] | None = None
    name: Name | None = None
    refine: TrialRefineChoice | None = Field(
        default=None,
        description="How outputs of trials are refined; as the suite has it if left out.",
    )

    def request(self, **named: Any) -> RunRequest:
        """As the project takes it, with the agent and suite that are named."""
        return RunRequest(
            **named,
            optimizer=self.optimizer.name,
            optimizer_settings=self.optimizer.settings,
            budget=self.budget.given(),
            seed=self.seed,
            name=self.name,
            refine=None if self.refine is None else self.refine.given(),
        )


class NewOptimization(_Changes):
    """An optimization to make. Agents and suites are those of the server's configuration."""

    agent: Name | None = None
    agent_version: Annotated[int, Field(ge=1, lt=2**31)] | None = Field(
        default=None,
        description="A version of the agent. Without it, an agent of the registry begins with its "
        "active one, and the server's own as burnish.toml has it.",
    )
    suite: Name | None = Field(default=None, description="By its name or id.")
    start: bool = Field(default=True, description="Whether it is to run at once.")

    def run_request(self) -> RunRequest:
        """As the project takes it."""
        return self.request(agent=self.agent, agent_version=self.agent_version, suite=self.suite)

    @classmethod
    def of(cls, request: RunRequest) -> NewOptimization:
        """The body that would ask for this."""
        return cls(
            agent=request.agent,
            suite=request.suite,
            optimizer=OptimizerChoice(
                name=request.optimizer, settings=dict(request.optimizer_settings)
            ),
            budget=BudgetLimits.model_validate(dict(request.budget)),
            seed=request.seed,
            name=request.name,
            refine=None if request.refine is None else TrialRefineChoice(**request.refine),
        )


class CopyChanges(_Changes):
    """What a copy has otherwise than its original."""


class Duplicated(BaseModel):
    """A new run that was not started, and the body that would make it anew with changes."""

    optimization: OptimizationView
    request: NewOptimization
