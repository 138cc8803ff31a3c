"""A search while it goes on: what a display shows, and how to go on with it when it is stopped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from burnish.cli.place import Place
from burnish.cli.wording import short_id
from burnish.domain import Budget, Candidate, ExperimentStatus, ExperimentType, TrialResult
from burnish.optimization.checkpoint import Phase
from burnish.optimization.sitting import Sitting
from burnish.optimization.standing import best_trial


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a search stands at one moment."""

    phase: Phase
    step: int
    running: int
    ended: tuple[TrialResult, ...]
    candidates: Mapping[str, Candidate]
    baseline: TrialResult | None
    best: TrialResult | None
    refused: int
    evaluations: int
    cost_usd: float | None
    seconds: float

    def number(self, trial: TrialResult) -> int:
        """The number of a trial's candidate."""
        return self.candidates[trial.candidate_id].number

    def count(self, status: ExperimentStatus) -> int:
        """How many trials ended so."""
        return sum(1 for trial in self.ended if trial.status is status)

    @property
    def failed(self) -> int:
        """Trials that came to no score."""
        good = (ExperimentStatus.COMPLETED, ExperimentStatus.PRUNED)
        return sum(1 for trial in self.ended if trial.status not in good)


@dataclass(slots=True)
class SearchWatch:
    """The sitting once it has begun, and the optimization's id once it is known."""

    budget: Budget = field(default_factory=Budget)
    title: str = ""
    optimization_id: str | None = None
    sitting: Sitting | None = None
    resumed: bool = False
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
        orchestrator, checkpoint = sitting.orchestrator, sitting.orchestrator.checkpoint
        # Candidates last: a trial is there only after its candidate.
        results = list(orchestrator.book.trials.values())
        candidates = dict(orchestrator.book.candidates)
        trials = [one for one in results if one.type is ExperimentType.TRIAL]
        numbered = [(candidates[one.candidate_id].number, one) for one in trials]
        return Standing(
            phase=checkpoint.phase,
            step=max((candidates[one.candidate_id].step_index for one in trials), default=0),
            running=len(checkpoint.pending),
            ended=tuple(one for number, one in sorted(numbered, key=_by_number) if number),
            candidates=candidates,
            baseline=next((one for number, one in numbered if number == 0), None),
            best=best_trial(trials, candidates),
            refused=checkpoint.rejected,
            evaluations=sitting.gate.evaluations,
            cost_usd=sitting.gate.spending.total.cost_usd,
            seconds=sitting.gate.elapsed_seconds,
        )


def _by_number(numbered: tuple[int, TrialResult]) -> int:
    return numbered[0]
