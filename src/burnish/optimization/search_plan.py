"""What is fixed for one optimization."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from burnish.domain import Configuration, RunContext, SearchSpace, TrialResult
from burnish.optimization.objectives.objective import Objective


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPlan:
    """Where the search starts, what it may change, and on which items it is judged."""

    optimization_id: str
    suite_id: str
    objective_name: str
    baseline: Configuration
    space: SearchSpace
    splits: Mapping[str, tuple[str, ...]]
    seed: int
    labels: tuple[str, ...] = ()
    max_candidates_per_step: int = 4
    max_trials: int | None = None
    asynchronous: bool = False
    repeats: int = 1
    objective: Objective = field(default_factory=Objective)
    # What has to be said about how it is run.
    notes: tuple[str, ...] = ()

    @property
    def trial_items(self) -> tuple[str, ...]:
        """The items that a trial runs on."""
        return self.splits["validation"]

    def context(self, baseline: TrialResult, *, evaluations_left: int | None = None) -> RunContext:
        """What the optimizer is told, once the baseline has a score."""
        return RunContext(
            optimization_id=self.optimization_id,
            evaluation_suite_id=self.suite_id,
            objective_name=self.objective_name,
            baseline_candidate_id=baseline.candidate_id,
            baseline_score=baseline.objective_score or 0.0,
            max_candidates_per_step=self.max_candidates_per_step,
            baseline=self.baseline,
            space=self.space,
            splits=self.splits,
            seed=self.seed,
            labels=self.labels,
            placeholders=self.baseline.placeholders,
            perfect_score=self.objective.perfect_score,
            evaluations_left=evaluations_left,
        )
