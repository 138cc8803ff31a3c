"""A search while it goes on: what a display shows, and how to go on with it when it is stopped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from burnish.cli.project_location import Place
from burnish.cli.wording import short_id
from burnish.domain import Budget, Candidate, ExperimentStatus
from burnish.optimization.attempt import Sitting
from burnish.optimization.checkpoint import Phase
from burnish.optimization.orchestrator import Orchestrator


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedTrial:
    """A trial as events tell of it."""

    experiment_id: str
    candidate_id: str
    number: int
    status: ExperimentStatus
    score: float | None
    error: str | None = None

    @property
    def merit(self) -> tuple[float, int]:
        """Of two completed trials the one with more is better; of equals the earlier."""
        return self.score or 0.0, -self.number


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a search stands at one moment. The baseline is no trial."""

    phase: Phase
    step: int
    running: int
    trials: tuple[EndedTrial, ...]
    baseline: EndedTrial | None
    candidates: Mapping[str, Candidate]
    refused: int
    evaluations: int
    cost_usd: float | None
    seconds: float
    # The best by an objective that counts more than the score, which trials alone do not tell.
    best_id: str | None = None

    @property
    def best(self) -> EndedTrial | None:
        """The best that ran to its end, be it the baseline."""
        ended = (*self.trials, *([self.baseline] if self.baseline else []))
        chosen = next((one for one in ended if one.candidate_id == self.best_id), None)
        if chosen is not None:
            return chosen
        completed = [one for one in ended if one.status is ExperimentStatus.COMPLETED]
        return max(completed, key=lambda one: one.merit, default=None)

    @property
    def failed(self) -> int:
        """Trials that came to no score."""
        return len(self.trials) - sum(
            map(self.count, (ExperimentStatus.COMPLETED, ExperimentStatus.PRUNED))
        )

    def count(self, status: ExperimentStatus) -> int:
        """How many trials ended so."""
        return sum(1 for trial in self.trials if trial.status is status)


@dataclass(slots=True)
class SearchWatch:
    """The sitting once it has begun, and the trials that have started and ended so far."""

    budget: Budget = field(default_factory=Budget)
    title: str = ""
    optimization_id: str | None = None
    sitting: Sitting | None = None
    started: set[str] = field(default_factory=set)
    ended: dict[str, EndedTrial] = field(default_factory=dict)
    # What ended in an earlier sitting was told then.
    ended_before: frozenset[str] = frozenset()
    # Whether it still is to be gone on with, should it stop now.
    unfinished: bool = False

    def begin(self, sitting: Sitting) -> None:
        """Called when the lease is taken and work begins."""
        self.sitting = sitting

    def kept(self, place: Place) -> str | None:
        """What of a stopped search is kept, and the command that goes on with it."""
        if self.optimization_id is None or not self.unfinished:
            return None
        command = place.command("resume", short_id(self.optimization_id))
        return f"every finished evaluation is saved; go on with: {command}"

    def standing(self) -> Standing | None:
        """A look from another thread: everything that may change meanwhile is copied first."""
        sitting = self.sitting
        if sitting is None:
            return None
        checkpoint = sitting.orchestrator.checkpoint
        ended = sorted(self.ended.values(), key=lambda one: one.number)
        return Standing(
            phase=checkpoint.phase,
            # The plan of the baseline counts as a step there.
            step=max(checkpoint.step - 1, 1),
            running=max(len(self.started) - len(ended), 0),
            trials=tuple(one for one in ended if one.number),
            baseline=next((one for one in ended if not one.number), None),
            candidates=dict(sitting.orchestrator.book.candidates),
            refused=checkpoint.rejected,
            evaluations=sitting.gate.evaluations,
            cost_usd=sitting.gate.spending.total.cost_usd,
            seconds=sitting.gate.elapsed_seconds,
            best_id=_best_id(sitting.orchestrator),
        )


def _best_id(orchestrator: Orchestrator) -> str | None:
    progress = orchestrator.checkpoint.progress
    if not progress or not orchestrator.book.objective.measures:
        return None
    return progress[-1].best_candidate_id
