"""Mechanical edits whose parents come from the per-item Pareto front, too."""

from __future__ import annotations

from collections.abc import Sequence

from burnish.domain import OptimizerState, TrialHistory
from burnish.optimizers.edits.edit_catalog import Library
from burnish.optimizers.edits.optimizer import Edits
from burnish.optimizers.shared.facts import RunFacts
from burnish.optimizers.shared.pareto import draw_leaders, leads
from burnish.optimizers.shared.seeded_random import generator
from burnish.optimizers.shared.trial_reading import mean_scores

_DRAWN = 2
# Item results are read from storage on each call, so the front is that of the best trials.
_ON_FRONT = 12


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
        led = leads(scores)
        # By number: ids differ between runs.
        order = sorted(led, key=lambda one: history.candidate(one).number)
        chance = generator(library.facts.seed, "front", state.generation)
        return draw_leaders(chance, led, order, temperature=self._temperature, count=_DRAWN)
