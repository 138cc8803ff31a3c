"""Trials as differences to the baseline, with how far to trust each."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from burnish.domain import ExperimentStatus, ItemResult, TrialHistory, TrialResult
from burnish.optimizers.shared.facts import RunFacts
from burnish.optimizers.shared.gradient import Observation

# The fit takes the latest trials and the best ones; older ones add little to what is known.
_LATEST = 48
_BEST = 16
# Item results are read from storage on each call, so only those of the very latest are.
_READ = 24
_COLLAPSED_SHARE = 0.97
_COLLAPSE_ITEMS = 8
# Half of the noise is shared: both candidates answer the same items.
_UNSHARED = 0.5
_FLOOR = 0.02
_CLOSE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTrial:
    """One candidate's trial. `complete` ones ran on every item and can be best."""

    candidate_id: str
    number: int
    features: tuple[str, ...]
    score: float
    difference: float
    variance: float
    complete: bool
    collapsed: bool

    def observation(self, *, penalty: float) -> Observation:
        """For the gradient. One answer to everything counts as worse than its score: by luck of
        the labels it may look harmless."""
        return Observation(
            features=self.features,
            difference=self.difference - (penalty if self.collapsed else 0.0),
            variance=self.variance,
        )


def read_trials(
    history: TrialHistory, facts: RunFacts, features_of: Callable[[str], tuple[str, ...] | None]
) -> list[ReadTrial]:
    """Every scored trial but the baseline's whose features are known, in order of its number."""
    scored = [
        trial
        for trial in history.tried
        if trial.candidate_id != facts.baseline_candidate_id
        and trial.status in (ExperimentStatus.COMPLETED, ExperimentStatus.PRUNED)
        and trial.objective_score is not None
    ]
    numbers = {one.candidate_id: history.candidate(one.candidate_id).number for one in scored}
    scored.sort(key=lambda one: numbers[one.candidate_id])
    newest = {one.candidate_id for one in scored[-_READ:]}
    baseline: dict[str, float] = {}
    found = []
    for trial in _worth_reading(scored):
        features = features_of(trial.candidate_id)
        if features is None:
            continue
        results: Sequence[ItemResult] = ()
        if trial.candidate_id in newest and _needs_items(trial, facts):
            results = history.item_results(trial.candidate_id)
            baseline = baseline or mean_scores(history.item_results(facts.baseline_candidate_id))
        number = numbers[trial.candidate_id]
        found.append(_read(trial, number, features, results, baseline, facts))
    return found


def _worth_reading(scored: Sequence[TrialResult]) -> list[TrialResult]:
    complete = [one for one in scored if one.counts]
    best = sorted(complete, key=lambda one: -(one.objective_score or 0.0))[:_BEST]
    kept = {one.candidate_id for one in (*best, *scored[-_LATEST:])}
    return [one for one in scored if one.candidate_id in kept]


def _needs_items(trial: TrialResult, facts: RunFacts) -> bool:
    """A pruned trial is compared on its own items; a poor one may have collapsed."""
    poor = (trial.objective_score or 0.0) <= facts.baseline_score
    return not trial.counts or (bool(facts.labels) and poor)


def score_scale(facts: RunFacts, trials: Sequence[ReadTrial]) -> float:
    """1 for scores from 0 to 1; else about as wide as what was seen."""
    scores = [facts.baseline_score, *(trial.score for trial in trials)]
    if all(0.0 <= score <= 1.0 for score in scores):
        return 1.0
    return max(1.0, *(abs(score) for score in scores))


def mean_scores(results: Sequence[ItemResult]) -> dict[str, float]:
    """Each item's score, over its repeats."""
    by_item: dict[str, list[float]] = {}
    for result in results:
        by_item.setdefault(result.item_id, []).append(result.score)
    return {item: sum(scores) / len(scores) for item, scores in by_item.items()}


def is_weak(result: ItemResult) -> bool:
    """Failed, or less than full marks on the usual scale."""
    return not result.passed or result.score < 1.0 - _CLOSE


def is_collapsed(results: Sequence[ItemResult]) -> bool:
    """Whether (nearly) every item got the same answer."""
    said = Counter(one.output.text for one in results if one.output is not None)
    total = sum(said.values())
    return total >= _COLLAPSE_ITEMS and max(said.values()) >= _COLLAPSED_SHARE * total


def _read(
    trial: TrialResult,
    number: int,
    features: tuple[str, ...],
    results: Sequence[ItemResult],
    baseline: Mapping[str, float],
    facts: RunFacts,
) -> ReadTrial:
    score = trial.objective_score
    assert score is not None
    scores = mean_scores(results)
    shared = [scores[item] - baseline[item] for item in sorted(scores) if item in baseline]
    difference = score - facts.baseline_score
    if shared and not trial.counts:
        difference = sum(shared) / len(shared)
    return ReadTrial(
        candidate_id=trial.candidate_id,
        number=number,
        features=features,
        score=score,
        difference=difference,
        variance=_variance(_plain(score, facts), len(shared) or trial.summary.total_items),
        complete=trial.counts,
        collapsed=bool(facts.labels) and is_collapsed(results),
    )


def baseline_luck(history: TrialHistory, facts: RunFacts) -> float:
    """How far off the baseline's score may be, as a deviation."""
    runs = baseline_runs(history, facts)
    return math.sqrt(_variance(facts.baseline_score, runs)) if runs else 0.0


def baseline_runs(history: TrialHistory, facts: RunFacts) -> int | None:
    """How many runs the baseline's trial had; None without one."""
    for trial in history.trials:
        if trial.candidate_id == facts.baseline_candidate_id:
            return trial.summary.total_items
    return None


def repeats_of(history: TrialHistory, facts: RunFacts, items: int) -> int:
    """How often each of so many items runs in a trial, by the baseline's."""
    runs = baseline_runs(history, facts)
    return max(round((items if runs is None else runs) / max(items, 1)), 1)


def _plain(score: float, facts: RunFacts) -> float:
    """What a utility says of the score itself: what was saved lifts it off the scale, not luck."""
    if facts.perfect_score is None and 0.0 <= facts.baseline_score <= 1.0:
        return min(max(score, 0.0), 1.0)
    return score


def _variance(score: float, items: int) -> float:
    """Of a mean score over some items, in a comparison with others on the same items.

    Outside 0 to 1 the scale itself is the only guide.
    """
    single = score * (1.0 - score) if 0.0 <= score <= 1.0 else 0.25 * score**2
    return max(_UNSHARED * single, _FLOOR) / max(items, 1)
