"""Trials read as differences to the baseline, with how far to trust each."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from burnish.domain import ExperimentStatus, ItemResult, TrialHistory, TrialResult
from burnish.optimizers.facts import RunFacts
from burnish.optimizers.gradient import Observation

# Item results are read from storage, so only those of the latest trials are.
_LATEST = 100
_COLLAPSED_SHARE = 0.97
_COLLAPSE_ITEMS = 8
# Half of the noise is shared: both candidates answer the same items.
_UNSHARED = 0.5
_FLOOR = 0.02


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
    found = []
    baseline: dict[str, float] | None = None
    for trial in list(history.trials)[-_LATEST:]:
        scored = trial.status in (ExperimentStatus.COMPLETED, ExperimentStatus.PRUNED)
        if trial.candidate_id == facts.baseline_candidate_id or not scored:
            continue
        features = features_of(trial.candidate_id)
        if features is None or trial.objective_score is None:
            continue
        results: Sequence[ItemResult] = ()
        if not trial.counts or (facts.labels and trial.objective_score <= facts.baseline_score):
            results = history.item_results(trial.candidate_id)
            if baseline is None:
                baseline = mean_scores(history.item_results(facts.baseline_candidate_id))
        found.append(_read(trial, features, results, baseline or {}, facts, history))
    return sorted(found, key=lambda one: one.number)


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


def is_collapsed(results: Sequence[ItemResult]) -> bool:
    """Whether (nearly) every item got the same answer."""
    said = Counter(one.output.text for one in results if one.output is not None)
    total = sum(said.values())
    return total >= _COLLAPSE_ITEMS and max(said.values()) >= _COLLAPSED_SHARE * total


def _read(
    trial: TrialResult,
    features: tuple[str, ...],
    results: Sequence[ItemResult],
    baseline: Mapping[str, float],
    facts: RunFacts,
    history: TrialHistory,
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
        number=history.candidate(trial.candidate_id).number,
        features=features,
        score=score,
        difference=difference,
        variance=_variance(score, len(shared) or trial.summary.total_items),
        complete=trial.counts,
        collapsed=bool(facts.labels) and is_collapsed(results),
    )


def baseline_luck(history: TrialHistory, facts: RunFacts) -> float:
    """How far off the baseline's score may be, as a deviation."""
    items = next(
        (
            trial.summary.total_items
            for trial in history.trials
            if trial.candidate_id == facts.baseline_candidate_id
        ),
        0,
    )
    return math.sqrt(_variance(facts.baseline_score, items)) if items else 0.0


def _variance(score: float, items: int) -> float:
    """Of a mean score over some items, in a comparison with others on the same items.

    Outside 0 to 1 the scale itself is the only guide.
    """
    single = score * (1.0 - score) if 0.0 <= score <= 1.0 else 0.25 * score**2
    return max(_UNSHARED * single, _FLOOR) / max(items, 1)
