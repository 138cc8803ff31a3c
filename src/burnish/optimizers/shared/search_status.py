"""Search status: the best so far, how long ago that was, and whether a search has had enough."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from burnish.domain import (
    OptimizerState,
    RunContext,
    StopDecision,
    StopReason,
    TrialHistory,
    TrialResult,
)
from burnish.domain.wording import counted
from burnish.optimizers.shared.facts import RunFacts, perfect_score_in

GOING_ON = StopDecision(should_stop=False)
_TOLERANCE = 1e-9


def stop(message: str, reason: StopReason = StopReason.ALGORITHM_SPECIFIC) -> StopDecision:
    """The decision to end a search."""
    return StopDecision(should_stop=True, reason=reason, message=message)


def first_state(context: RunContext, **data: object) -> OptimizerState:
    """Generation 0: the baseline is best."""
    return OptimizerState(
        best_candidate_id=context.baseline_candidate_id,
        best_score=context.baseline_score,
        algorithm_data={**RunFacts.of(context).to_json(), "results": 0, "since_best": 0, **data},
    )


def next_state(state: OptimizerState, trial_results: Sequence[TrialResult]) -> OptimizerState:
    """One generation on. Of equal scores the earlier stays best; a mini-batch never is."""
    best_id, best = state.best_candidate_id, state.best_score
    since = state.algorithm_data["since_best"]
    for result in trial_results:
        since += 1
        score = result.objective_score
        if result.counts and score is not None and (best is None or score > best + _TOLERANCE):
            best_id, best, since = result.candidate_id, score, 0
    return OptimizerState(
        generation=state.generation + 1,
        best_candidate_id=best_id,
        best_score=best,
        algorithm_data={
            **state.algorithm_data,
            "results": state.algorithm_data["results"] + len(trial_results),
            "since_best": since,
        },
    )


def reached(state: OptimizerState, target: float | None) -> StopDecision | None:
    """Whether the best is good enough.

    Without a target that is a perfect score, mostly of 1; above it the scale is another one, of
    which the end is unknown. Where the run's objective has no end, only a target is enough.
    """
    best, perfect = state.best_score, perfect_score_in(state)
    wanted = perfect if target is None else target
    if best is None or wanted is None:
        return None
    enough = best >= wanted if target is not None else abs(best - wanted) <= _TOLERANCE
    if not enough:
        return None
    return stop(f"the best score {best:g} reaches the target {wanted:g}", StopReason.TARGET_REACHED)


def stale(state: OptimizerState, patience: int) -> StopDecision | None:
    """Whether too many generations went by without a better candidate.

    Counted in results, so that a run that observes one at a time is as patient as one in batches.
    """
    since, places = state.algorithm_data["since_best"], RunFacts.within(state).places
    if since < patience * max(places, 1):
        return None
    return stop(
        f"{counted(since, 'candidate')} in a row brought nothing better than {state.best_score:.3f}",
        StopReason.NO_IMPROVEMENT,
    )


def tried_hashes(history: TrialHistory) -> frozenset[str]:
    """Hashes of the configurations that have had their trial."""
    return frozenset(
        history.candidate(one.candidate_id).configuration.hash for one in history.tried
    )


def ranked(history: TrialHistory) -> list[TrialResult]:
    """Trials that ran to their end, best first; of equal ones the earlier first."""
    scored = [one for one in history.trials if one.counts and one.objective_score is not None]
    number = {one.candidate_id: history.candidate(one.candidate_id).number for one in scored}
    return sorted(scored, key=lambda one: (-(one.objective_score or 0.0), number[one.candidate_id]))


class HistorySearch(ABC):
    """Base of optimizers that read from the history what was tried, and keep nothing else.

    They end at `target`, after `patience` generations without a better candidate (None: never for
    that), or when the subclass finds nothing left to try.
    """

    target: float | None
    patience: int | None = None

    def initialize(self, context: RunContext) -> OptimizerState:
        """Remember the run's facts."""
        return first_state(context)

    def observe(
        self, state: OptimizerState, trial_results: Sequence[TrialResult]
    ) -> OptimizerState:
        """One generation on; what was tried stands in the history."""
        return next_state(state, trial_results)

    def should_stop(self, state: OptimizerState, history: TrialHistory) -> StopDecision:
        """At the target, out of patience, or with nothing left to try."""
        enough = reached(state, self.target)
        if enough is None and self.patience is not None:
            enough = stale(state, self.patience)
        return enough or self._exhausted(state, history) or GOING_ON

    @abstractmethod
    def _exhausted(self, state: OptimizerState, history: TrialHistory) -> StopDecision | None:
        """Why nothing is left to try; None while something is."""
