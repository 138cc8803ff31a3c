"""Evidence of a run by item: who passed what, and what a candidate promises over its parent.

A child is compared with its parent on items that both ran. These were chosen by what the parent did
with them, failures above all, so a plain mean would flatter the child: differences are averaged among
the parent's failures and among its passes, and weighted by how many there are of each.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import fmean

from burnish.domain import (
    Candidate,
    ExperimentStatus,
    ExperimentType,
    ItemResult,
    TrialHistory,
    TrialResult,
)
from burnish.optimizers.shared.candidate_metadata import metadata_of
from burnish.optimizers.shared.trial_reading import is_weak

_USED = (ExperimentStatus.COMPLETED, ExperimentStatus.PRUNED)
# One item without a difference is counted in: few items say little.
_DOUBT = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """Everything that one candidate showed so far.

    `trial_score` counts what ran again since. `pruned` is a trial that was ended early, `lost` how
    many mini-batches showed nothing at all.
    """

    candidate: Candidate
    results: Mapping[str, ItemResult]
    repeats: Mapping[str, tuple[float, ...]]
    trial_score: float | None
    pruned: bool = False
    lost: int = 0

    @property
    def id(self) -> str:
        """The candidate's."""
        return self.candidate.id

    @property
    def kind(self) -> str | None:
        """Why it was made; None for the baseline and others' candidates."""
        kind = metadata_of(self.candidate).get("kind")
        return kind if isinstance(kind, str) else None

    @property
    def section(self) -> str | None:
        """Which section its reflection wrote anew."""
        section = metadata_of(self.candidate).get("section")
        return section if isinstance(section, str) else None

    @property
    def shown(self) -> frozenset[str]:
        """Items that its reflection saw."""
        shown = metadata_of(self.candidate).get("shown")
        return frozenset(map(str, shown)) if isinstance(shown, list) else frozenset()

    def weak(self, item_id: str) -> bool:
        """Whether it failed an item."""
        return is_weak(self.results[item_id])


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """The items that a run may use, in the order in which it does.

    A trial runs `trial_items`, of which `validation` is a part where there are very many.
    """

    train: tuple[str, ...]
    validation: tuple[str, ...]
    trial_items: int
    repeats: int = 1

    @property
    def pool(self) -> tuple[str, ...]:
        """What reflection looks at: training items where there are any."""
        return self.train or self.validation


@dataclass
class Memo:
    """What is known by candidate, so that storage is read once for each experiment.

    A pure cache: without it the same is read again.
    """

    known: dict[str, tuple[int, Known]] = field(default_factory=dict)


class Evidence:
    """The candidates of a run with all that is known of them, in the order of their numbers."""

    def __init__(self, known: Sequence[Known], baseline_id: str, pool: Sequence[str]) -> None:
        self.known = {one.id: one for one in known}
        self.baseline = self.known[baseline_id]
        self.by_hash = {one.candidate.configuration.hash: one for one in known}
        self._pool = frozenset(pool)
        self._gains: dict[str, float] = {}
        self._parted: dict[str, tuple[frozenset[str], frozenset[str]]] = {}

    @classmethod
    async def gather(
        cls, history: TrialHistory, baseline_id: str, items: Items, memo: Memo
    ) -> Evidence:
        """From a history."""
        by_candidate: dict[str, list[TrialResult]] = {}
        for trial in (*history.tried, *history.mini_batches):
            by_candidate.setdefault(trial.candidate_id, []).append(trial)
        known = []
        for candidate_id, trials in by_candidate.items():
            if not any(one.status in _USED for one in trials):
                continue
            kept = memo.known.get(candidate_id)
            if kept is None or kept[0] != len(trials):
                results = await history.load_item_results(candidate_id)
                one = _known(history.candidate(candidate_id), trials, results, items)
                kept = memo.known[candidate_id] = (len(trials), one)
            known.append(kept[1])
        known.sort(key=lambda one: one.candidate.number)
        return cls(known, baseline_id, items.pool)

    @cached_property
    def trialed(self) -> list[Known]:
        """Those that ran their whole trial."""
        return [one for one in self.known.values() if one.trial_score is not None]

    @cached_property
    def best(self) -> Known:
        """The trial with the highest score; of equals the earliest."""
        return max(self.trialed, key=lambda one: (one.trial_score or 0.0, -one.candidate.number))

    @cached_property
    def evaluations(self) -> int:
        """How many runs all of this took."""
        return sum(len(runs) for one in self.known.values() for runs in one.repeats.values())

    def parent(self, one: Known) -> Known | None:
        """Its first parent, if that is known."""
        parents = one.candidate.parent_candidate_ids
        return self.known.get(parents[0]) if parents else None

    def children(self, one: Known) -> list[Known]:
        """Of this candidate as first parent."""
        return [
            other
            for other in self.known.values()
            if other.candidate.parent_candidate_ids[:1] == (one.id,)
        ]

    def lineage(self, one: Known) -> list[Known]:
        """The candidate, its first parent, and so on."""
        found, here = [], one
        while here is not None and here not in found:
            found.append(here)
            here = self.parent(here)  # type: ignore[assignment]
        return found

    def last_result(self, one: Known, item_id: str) -> ItemResult | None:
        """Its own result on an item, or the nearest ancestor's."""
        for elder in self.lineage(one):
            if item_id in elder.results:
                return elder.results[item_id]
        return None

    def gain(self, child: Known, parent: Known) -> float:
        """The sum of differences on the items that both ran."""
        return sum(
            result.score - parent.results[item].score
            for item, result in child.results.items()
            if item in parent.results
        )

    def promise(self, one: Known) -> float:
        """The estimated difference to the baseline's score: by its trial, and by its parent's items."""
        if one.id not in self._gains:
            self._gains[one.id] = self._promise(one)
        return self._gains[one.id]

    def difference(self, child: Known, parent: Known, *, doubt: float = _DOUBT) -> float:
        """How much better a child is by what both ran of the pool."""
        strata, total = self._strata(parent), 0.0
        for stratum in strata:
            shared = stratum & child.results.keys()
            if shared:
                # Exact, so that the order of a set does not matter.
                gained = math.fsum(
                    child.results[item].score - parent.results[item].score for item in shared
                )
                total += gained / (len(shared) + doubt) * len(stratum)
        return total / max(sum(map(len, strata)), 1)

    def _strata(self, one: Known) -> tuple[frozenset[str], frozenset[str]]:
        """The items of the pool that it failed, and those that it passed."""
        if one.id not in self._parted:
            ran = self._pool & one.results.keys()
            weak = frozenset(item for item in ran if one.weak(item))
            self._parted[one.id] = weak, ran - weak
        return self._parted[one.id]

    def _promise(self, one: Known) -> float:
        if one is self.baseline:
            return 0.0
        tried = self._raced(one) if one.pruned else None
        if one.trial_score is not None:
            tried = self._lead(one)
        looked = self._looked(one)
        if looked is None or tried is None:
            return looked or tried or 0.0
        ran = sum(len(runs) for item, runs in one.repeats.items() if item in self.baseline.results)
        shared = sum(1 for item in one.results if item in self._pool)
        return (ran * tried + shared * looked) / (ran + shared)

    def _lead(self, one: Known) -> float:
        """By the trials alone."""
        return (one.trial_score or 0.0) - (self.baseline.trial_score or 0.0)

    def _looked(self, one: Known) -> float | None:
        """By what its parent and those that had a trial did with the same items of the pool."""
        parent = self.parent(one)
        found = []
        if parent is not None and (shared := self._shared(one, parent)):
            found.append((shared, self.promise(parent) + self.difference(one, parent)))
        for other in self.trialed:
            if other is not one and other is not parent and self._is_comparable(one, other):
                lead = self._lead(other) + self.difference(one, other, doubt=0.0)
                found.append((self._shared(one, other), lead))
        total = sum(shared for shared, _ in found)
        return sum(shared * lead for shared, lead in found) / total if total else None

    def _is_comparable(self, one: Known, other: Known) -> bool:
        """Whether it ran both failures and passes of another one, as far as there are any."""
        strata = [stratum for stratum in self._strata(other) if stratum]
        return bool(strata) and all(stratum & one.results.keys() for stratum in strata)

    def _shared(self, child: Known, parent: Known) -> int:
        return len(self._pool & child.results.keys() & parent.results.keys())

    def _raced(self, one: Known) -> float:
        """What a trial that was ended early says: all run their items in the same order."""
        shared = [
            item for item in one.results if item not in self._pool and item in self.baseline.results
        ]
        gained = sum(one.results[item].score - self.baseline.results[item].score for item in shared)
        return gained / max(len(shared), 1)


def _known(
    candidate: Candidate, trials: Sequence[TrialResult], results: Sequence[ItemResult], items: Items
) -> Known:
    grouped: dict[str, list[ItemResult]] = {}
    for result in sorted(results, key=lambda one: one.repeat):
        # Nobody answered, so it says nothing of the candidate.
        if result.error is None or not result.error.kind.outside:
            grouped.setdefault(result.item_id, []).append(result)
    repeats = {item: tuple(one.score for one in many) for item, many in grouped.items()}
    trial_score = next((one.objective_score for one in trials if one.counts), None)
    return Known(
        candidate=candidate,
        results={item: _mean(many) for item, many in grouped.items()},
        repeats=repeats,
        trial_score=None if trial_score is None else trial_score + _moved(repeats, items),
        pruned=any(
            one.status is ExperimentStatus.PRUNED and one.type is ExperimentType.TRIAL
            for one in trials
        ),
        lost=sum(1 for one in trials if one.status not in _USED),
    )


def _moved(repeats: Mapping[str, tuple[float, ...]], items: Items) -> float:
    """How far runs after the trial moved the mean of the trial's items."""
    own = items.repeats
    moves = [fmean(runs) - fmean(runs[:own]) for runs in repeats.values() if len(runs) > own]
    return sum(moves) / max(items.trial_items, 1)


def _mean(repeats: Sequence[ItemResult]) -> ItemResult:
    """One result an item; of several repeats the worst, with the mean score: it shows what fails."""
    if len(repeats) == 1:
        return repeats[0]
    worst = min(repeats, key=lambda one: (one.passed, one.score, one.repeat))
    return replace(worst, score=sum(one.score for one in repeats) / len(repeats))
