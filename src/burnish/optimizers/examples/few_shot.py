"""The `few_shot` optimizer: which training items to show, how many, and in what order."""

from __future__ import annotations

from burnish.domain import (
    CandidateProposal,
    OptimizerState,
    StopDecision,
    StopReason,
    TrialHistory,
)
from burnish.domain.wording import counted
from burnish.optimizers.examples.search import ExamplePool, Row, pick_rows, row_proposal
from burnish.optimizers.shared.facts import RunFacts
from burnish.optimizers.shared.search_status import stop
from burnish.optimizers.shared.train_looks import TrainingSearch
from burnish.support.number_checks import bad_setting, require_target, require_whole


class FewShot(TrainingSearch):
    """Shows up to `max_examples` items of the train split, never of another.

    Answers come from `answer_field`; without it from the field that holds the labels, else from one
    of the usual names. Labels are balanced and take turns; later rows are changes of the best ones.
    `target` ends the search at that score, and so do `patience` trials without a better one.
    """

    name = "few_shot"

    def __init__(
        self,
        *,
        max_examples: int = 8,
        answer_field: str | None = None,
        target: float | None = None,
        patience: int = 8,
    ) -> None:
        self.max_examples = require_whole("few_shot", "max_examples", max_examples, least=1)
        if answer_field is not None and (not isinstance(answer_field, str) or not answer_field):
            raise bad_setting("few_shot", "answer_field", f"{answer_field!r} is not a field's name")
        self.answer_field = answer_field
        self.target = require_target("few_shot", target)
        self.patience = require_whole("few_shot", "patience", patience, least=1)

    def propose(
        self, state: OptimizerState, history: TrialHistory, max_candidates: int
    ) -> list[CandidateProposal]:
        """Rows of examples that were not tried yet."""
        pool = self._pool(state, history)
        rows = self._picks(pool, state, history, max_candidates)
        return [row_proposal(pool, row) for row in rows]

    def _exhausted(self, state: OptimizerState, history: TrialHistory) -> StopDecision | None:
        """When there is nothing (more) to show."""
        pool = self._pool(state, history)
        if not pool.shown or not self._most(pool):
            return stop(self._why_none(state, pool))
        if not self._picks(pool, state, history, 1):
            return stop(
                f"no new row of the {counted(len(pool.shown), 'example')} was found",
                StopReason.CONVERGENCE,
            )
        return None

    def _pool(self, state: OptimizerState, history: TrialHistory) -> ExamplePool:
        items = history.items(state.algorithm_data["train"])
        return ExamplePool.of(RunFacts.within(state), items, self.answer_field if items else None)

    def _most(self, pool: ExamplePool) -> int:
        return min(self.max_examples, pool.facts.space.max_examples)

    def _picks(
        self, pool: ExamplePool, state: OptimizerState, history: TrialHistory, count: int
    ) -> list[Row]:
        return pick_rows(pool, state, history, count, most=self._most(pool))

    def _why_none(self, state: OptimizerState, pool: ExamplePool) -> str:
        if not state.algorithm_data["train"]:
            return "there are no training items to show: give the suite a train split"
        if not self._most(pool):
            return "the search space allows no examples: raise its max_examples"
        return "no field of the training items holds their answers: set answer_field"
