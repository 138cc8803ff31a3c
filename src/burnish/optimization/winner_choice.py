"""Choice of the winner by the optimizer itself, and whether the run's own evidence lets it stand."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from burnish.domain import ItemResult, TrialHistory, TrialResult
from burnish.evaluation.broken_items import Standing, broken_items, count_passes
from burnish.evaluation.statistics import chance_of_gain

if TYPE_CHECKING:
    from burnish.optimization.trial_index import TrialIndex

# Another candidate's lead that chance explains less often than this is no luck.
_CHANCE = 0.05
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A choice that does not stand: who is better on the items that both ran, and how surely."""

    choice: str
    better: str
    items: int
    p_value: float


class ChoiceCheck:
    """Compares a choice with every other candidate that had its trial, on the items of trials.

    All runs of these items count, repeats in mini-batches too. What was loaded is kept until
    there is more of it. With `keep_passing` nothing wins that breaks an item which the baseline passes.
    """

    def __init__(self, trial_items: Collection[str], *, keep_passing: bool = False) -> None:
        self._items = frozenset(trial_items)
        self._keep_passing = keep_passing
        # By candidate how many of its experiments were known when its items were looked at.
        self._looked_at: dict[str, int] = {}
        self._scores: dict[str, tuple[int, dict[str, float]]] = {}

    async def refusal(
        self, choice: str, baseline: str, rivals: Sequence[TrialResult], history: TrialHistory
    ) -> Refusal | None:
        """Why a choice does not stand, by the first of these rivals; None where it does.

        The baseline gives way to whoever is better at all.
        """
        own = await self._mean_scores(choice, history)
        for rival in rivals:
            if rival.candidate_id == choice:
                continue
            theirs = await self._mean_scores(rival.candidate_id, history)
            shared = sorted(own.keys() & theirs.keys())
            p_value = chance_of_gain([own[one] for one in shared], [theirs[one] for one in shared])
            better = sum(theirs[one] - own[one] for one in shared) > _ROUNDING
            if better and (choice == baseline or p_value < _CHANCE):
                return Refusal(
                    choice=choice, better=rival.candidate_id, items=len(shared), p_value=p_value
                )
        return None

    async def turn_down_broken(self, index: TrialIndex, history: TrialHistory) -> None:
        """Have no candidate win that is known to break what the baseline passes.

        One that failed too seldom to tell stays: it is run again once it is to win.
        """
        baseline = index.baseline()
        if not self._keep_passing or baseline is None:
            return
        for trial in index.by_score():
            known = len(index.trials_of(index.candidates[trial.candidate_id].configuration.hash))
            same = self._looked_at.get(trial.candidate_id) == known
            if trial.candidate_id == baseline.candidate_id or same:
                continue
            self._looked_at[trial.candidate_id] = known
            before = count_passes(await history.load_item_results(baseline.candidate_id))
            after = count_passes(await history.load_item_results(trial.candidate_id))
            broken = broken_items(before, after)
            if broken.of(Standing.BROKEN):
                index.turn_down(trial.candidate_id, broken)

    async def _mean_scores(self, candidate_id: str, history: TrialHistory) -> Mapping[str, float]:
        experiments = sum(
            one.candidate_id == candidate_id for one in (*history.tried, *history.mini_batches)
        )
        kept = self._scores.get(candidate_id)
        if kept is None or kept[0] != experiments:
            results = await history.load_item_results(candidate_id)
            kept = self._scores[candidate_id] = experiments, self._means(results)
        return kept[1]

    def _means(self, results: Sequence[ItemResult]) -> dict[str, float]:
        """An outage is no result."""
        found: dict[str, list[float]] = {}
        for one in results:
            if one.item_id in self._items and not (one.error and one.error.kind.outside):
                found.setdefault(one.item_id, []).append(one.score)
        return {item: fmean(scores) for item, scores in found.items()}
