"""Choice of the winner by the optimizer itself, and whether the run's own evidence lets it stand."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from burnish.domain import ItemResult, TrialHistory, TrialResult
from burnish.evaluation.statistics import chance_of_gain

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
    there is more of it.
    """

    def __init__(self, trial_items: Collection[str]) -> None:
        self._items = frozenset(trial_items)
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
