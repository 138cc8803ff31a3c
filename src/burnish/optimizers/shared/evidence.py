"""What a run knows by item: who passed what, who is ahead, and by how much.

Candidates are compared with their parent on items that both ran. Items on which a child is tried are
chosen by what its parent did with them (failures above all), so a plain mean would flatter the child:
differences are averaged among the parent's failures and among its passes, and these are weighted by
how many there are of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from burnish.domain import (
    Candidate,
    ExperimentStatus,
    ExperimentType,
    ItemResult,
    TrialHistory,
    TrialResult,
)
from burnish.optimizers.shared.pareto import leads

_USED = (ExperimentStatus.COMPLETED, ExperimentStatus.PRUNED)
# Pull the mean difference of few items towards none. Passes are only sampled, so a single one that
# broke would stand for many.
_DOUBT_FAILED = 2.0
_DOUBT_PASSED = 6.0
# A child counts as verified when it ran this share of its parent's known failures.
_VERIFIED = 0.6
_PASSES = 6
_FULL = 1.0
_CLOSE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """Everything one candidate showed so far.

    `pruned` is a trial that was ended early, `lost` how many mini-batches showed nothing at all.
    """

    candidate: Candidate
    results: Mapping[str, ItemResult]
    trial_score: float | None
    pruned: bool = False
    lost: int = 0

    def weak(self, item_id: str) -> bool:
        """Whether it failed an item."""
        return is_weak(self.results[item_id])


@dataclass
class Memo:
    """Item results by candidate, so that storage is read once for each experiment.

    A pure cache: without it the same is read again.
    """

    results: dict[str, tuple[int, dict[str, ItemResult]]] = field(default_factory=dict)


def is_weak(result: ItemResult) -> bool:
    """Failed, or less than full marks on the usual scale."""
    return not result.passed or result.score < _FULL - _CLOSE


class Evidence:
    """The candidates of a run with all that is known of them, in the order of their numbers."""

    def __init__(
        self, known: Sequence[Known], baseline_id: str, train_items: frozenset[str]
    ) -> None:
        self.known = {one.candidate.id: one for one in known}
        self.train_items = train_items
        self.baseline = self.known[baseline_id]
        self._estimated_gains: dict[str, float] = {}

    @classmethod
    async def gather(
        cls, history: TrialHistory, baseline_id: str, train_items: frozenset[str], memo: Memo
    ) -> Evidence:
        """From a history; `train_items` are those that mini-batches take."""
        by_candidate: dict[str, list[TrialResult]] = {}
        for trial in (*history.trials, *history.mini_batches):
            by_candidate.setdefault(trial.candidate_id, []).append(trial)
        known = []
        for candidate_id, trials in by_candidate.items():
            if not any(one.status in _USED for one in trials):
                continue
            kept = memo.results.get(candidate_id)
            if kept is None or kept[0] != len(trials):
                read = await history.load_item_results(candidate_id)
                kept = (len(trials), _by_item(read))
                memo.results[candidate_id] = kept
            batches = [one for one in trials if one.type is ExperimentType.MINI_BATCH]
            known.append(
                Known(
                    candidate=history.candidate(candidate_id),
                    results=kept[1],
                    trial_score=next((one.objective_score for one in trials if one.counts), None),
                    pruned=any(one.status is ExperimentStatus.PRUNED for one in trials),
                    lost=sum(1 for one in batches if one.status not in _USED),
                )
            )
        known.sort(key=lambda one: one.candidate.number)
        return cls(known, baseline_id, train_items)

    @cached_property
    def trialed(self) -> list[Known]:
        """Those that ran their whole trial."""
        return [one for one in self.known.values() if one.trial_score is not None]

    def children(self, candidate_id: str) -> list[Known]:
        """Of this candidate as first parent."""
        return [
            one
            for one in self.known.values()
            if one.candidate.parent_candidate_ids[:1] == (candidate_id,)
        ]

    def lineage(self, candidate_id: str) -> list[Known]:
        """The candidate, its first parent, and so on to the baseline."""
        found: list[Known] = []
        here: str | None = candidate_id
        while here is not None and here in self.known:
            found.append(self.known[here])
            parents = self.known[here].candidate.parent_candidate_ids
            here = parents[0] if parents else None
        return found

    def last_result(self, candidate_id: str, item_id: str) -> ItemResult | None:
        """Its own result on an item, or the nearest ancestor's."""
        for one in self.lineage(candidate_id):
            if item_id in one.results:
                return one.results[item_id]
        return None

    def gain(self, child: Known, parent: Known) -> float:
        """The sum of differences on the items that both ran."""
        return sum(
            result.score - parent.results[item].score
            for item, result in child.results.items()
            if item in parent.results
        )

    def times_failed(self, item_id: str) -> int:
        """How many candidates failed an item."""
        return sum(1 for one in self.known.values() if item_id in one.results and one.weak(item_id))

    def verified(self, child: Known, parent: Known) -> bool:
        """Whether the child ran enough of what its parent failed, and of what it passed."""
        if child.trial_score is not None:
            return True
        pool = self._pool(parent)
        failed = [item for item in pool if parent.weak(item)]
        passed = [item for item in pool if not parent.weak(item)]
        mended = sum(1 for item in failed if item in child.results)
        kept = sum(1 for item in passed if item in child.results)
        return bool(child.results) and (
            mended >= _VERIFIED * len(failed) and kept >= min(_PASSES, len(passed))
        )

    def estimated_gain(self, candidate_id: str) -> float:
        """The estimated difference to the baseline's score."""
        if candidate_id not in self._estimated_gains:
            self._estimated_gains[candidate_id] = self._estimate(self.known[candidate_id])
        return self._estimated_gains[candidate_id]

    def leads(self, items: Iterable[str]) -> dict[str, int]:
        """How many of the items each complete trial is best at."""
        wanted = set(items)
        return leads(
            {
                one.candidate.id: {
                    item: result.score for item, result in one.results.items() if item in wanted
                }
                for one in self.trialed
            }
        )

    def _estimate(self, one: Known) -> float:
        if one is self.baseline:
            return 0.0
        if one.trial_score is not None:
            return one.trial_score - (self.baseline.trial_score or 0.0)
        parents = one.candidate.parent_candidate_ids
        parent = self.known.get(parents[0]) if parents else None
        if one.pruned:
            return self._raced(one)
        if parent is None:
            return 0.0
        return self.estimated_gain(parent.candidate.id) + self._difference(one, parent)

    def _raced(self, one: Known) -> float:
        """What a trial that was ended early says: all run their items in the same order."""
        ran = [item for item in one.results if item not in self.train_items]
        shared = [item for item in ran if item in self.baseline.results]
        gained = sum(one.results[item].score - self.baseline.results[item].score for item in shared)
        return gained / max(len(shared), 1)

    def _difference(self, child: Known, parent: Known) -> float:
        pool = self._pool(parent)
        total = 0.0
        for weak in (True, False):
            stratum = [item for item in pool if parent.weak(item) is weak]
            shared = [item for item in stratum if item in child.results]
            if shared:
                gained = sum(
                    child.results[item].score - parent.results[item].score for item in shared
                )
                doubt = _DOUBT_FAILED if weak else _DOUBT_PASSED
                total += gained / (len(shared) + doubt) * len(stratum)
        return total / max(len(pool), 1)

    def _pool(self, parent: Known) -> list[str]:
        """The items by which children of this one are judged: train ones where it ran any."""
        looked = [item for item in parent.results if item in self.train_items]
        return looked or list(parent.results)


def _by_item(results: Sequence[ItemResult]) -> dict[str, ItemResult]:
    """One result an item; of several repeats the worst, with the mean score: it shows what fails."""
    grouped: dict[str, list[ItemResult]] = {}
    for result in results:
        if result.error is not None and result.error.kind.outside:
            continue  # Nobody answered, so it says nothing of the candidate.
        grouped.setdefault(result.item_id, []).append(result)
    return {item: _mean(many) if len(many) > 1 else many[0] for item, many in grouped.items()}


def _mean(repeats: Sequence[ItemResult]) -> ItemResult:
    worst = min(repeats, key=lambda one: (one.passed, one.score, one.repeat))
    return replace(worst, score=sum(one.score for one in repeats) / len(repeats))
