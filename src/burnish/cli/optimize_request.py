"""What `burnish optimize` was asked for, as overrides of the config."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from burnish.cli.assignments import assigned
from burnish.cli.runner_options import RunnerOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizeRequest:
    """The options of one optimization; None means that the config decides."""

    optimizer: str | None = None
    seed: int | None = None
    racing: str | None = None
    candidates_per_step: int | None = None
    max_trials: int | None = None
    max_evaluations: int | None = None
    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    max_seconds: float | None = None
    model: str | None = None
    settings: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    refine: bool | None = None
    mirror: str | None = None
    concurrency: int | None = None
    name: str | None = None
    dry_run: bool = False

    runner: RunnerOptions = field(default_factory=RunnerOptions)

    def overrides(self) -> dict[str, Any]:
        """The options that change the config, by dotted path."""
        direct = {
            "optimizer.name": self.optimizer,
            "optimizer.seed": self.seed,
            "optimizer.racing": self.racing,
            "optimizer.candidates_per_step": self.candidates_per_step,
            "budget.max_trials": self.max_trials,
            "budget.max_evaluations": self.max_evaluations,
            "budget.max_calls": self.max_calls,
            "budget.max_tokens": self.max_tokens,
            "budget.max_cost_usd": self.max_cost,
            "budget.max_seconds": self.max_seconds,
            "agent.model": self.model,
            "agent.concurrency": self.concurrency,
            "suite.refine.trials": self.refine,
            "mirror.to": self.mirror,
        }
        chosen = assigned(self.settings, self.sections)
        return {**chosen, **{path: value for path, value in direct.items() if value is not None}}
