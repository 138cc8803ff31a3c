"""Mechanical edits whose parents come from the per-item Pareto front, too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from burnish.domain import OptimizerState, TrialHistory
from burnish.optimizers.draws import generator
from burnish.optimizers.edits import Edits
from burnish.optimizers.facts import RunFacts
from burnish.optimizers.library import Library
from burnish.optimizers.trial_reading import mean_scores

_DRAWN = 2
# Item results are read from storage on each call, so the front is that of the best trials.
_ON_FRONT = 12
_CLOSE = 1e-9


class FrontEdits(Edits):
    """`edits` that also starts from candidates which lead on some items, however poor on others."""

    def __init__(
        self,
        *,
        target: float | None,
        patience: int,
        temperature: float,
        max_prompt_tokens: int | None = None,
    ) -> None:
        super().__init__(target=target, patience=patience)
        self._temperature = temperature
        self._max_prompt_tokens = max_prompt_tokens

    def _library(self, state: OptimizerState) -> Library:
        return Library.of(RunFacts.within(state), max_prompt_tokens=self._max_prompt_tokens)

    def _leaders(
        self, library: Library, state: OptimizerState, history: TrialHistory
    ) -> Sequence[str]:
        complete = [one for one in history.trials if one.counts]
        best = sorted(complete, key=lambda one: -(one.objective_score or 0.0))[:_ON_FRONT]
        if len(best) <= _DRAWN:
            return ()
        scores = {
            one.candidate_id: mean_scores(history.item_results(one.candidate_id)) for one in best
        }
        leads = {one: _leads(own, scores.values()) for one, own in scores.items()}
        # By number: ids differ between runs.
        names = sorted(leads, key=lambda one: history.candidate(one).number)
        power = 1 / max(self._temperature, 0.05)
        chance = generator(library.facts.seed, "front", state.generation)
        weights = [max(leads[name], 0.1) ** power for name in names]
        return chance.choices(names, weights, k=_DRAWN)


def _leads(own: Mapping[str, float], all_scores: Iterable[Mapping[str, float]]) -> int:
    """On how many items nobody is better."""
    tables = list(all_scores)
    return sum(
        1
        for item, score in own.items()
        if all(table.get(item, score) <= score + _CLOSE for table in tables)
    )
