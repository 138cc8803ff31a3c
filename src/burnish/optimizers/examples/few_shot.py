"""The `few_shot` optimizer: which training items to show, how many, and in what order."""

from __future__ import annotations

from collections.abc import Sequence

from burnish.domain import (
    CandidateProposal,
    OptimizerState,
    RunContext,
    StopDecision,
    StopReason,
    TrialHistory,
    TrialResult,
)
from burnish.optimizers.examples.search import ExamplePool, Row, describe_row, pick_rows
from burnish.optimizers.shared.facts import RunFacts
from burnish.optimizers.shared.search_status import (
    GOING_ON,
    first_state,
    next_state,
    reached,
    stale,
)
from burnish.optimizers.shared.seeded_random import generator
from burnish.support.number_checks import bad_setting, require_target, require_whole

# Examples are drawn from this many training items at most, so that the state stays small.
_MOST_ITEMS = 256


class FewShot:
    """Shows up to `max_examples` items of the train split, never of another.

    Answers come from `answer_field`; without it from the field that holds the labels, else from one
    of the usual names. Labels are balanced and take turns; later rows are changes of the best ones.
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

    def initialize(self, context: RunContext) -> OptimizerState:
        """Remember the run's facts and which training items may be shown."""
        train = sorted(context.splits.get("train", ()))
        if len(train) > _MOST_ITEMS:
            train = sorted(generator(context.seed, "pool").sample(train, _MOST_ITEMS))
        return first_state(context, train=train)

    def propose(
        self, state: OptimizerState, history: TrialHistory, max_candidates: int
    ) -> list[CandidateProposal]:
        """Rows of examples that were not tried yet."""
        pool = self._pool(state, history)
        return [
            CandidateProposal(
                configuration=pool.configuration(row.places),
                parent_candidate_ids=(row.parent,),
                rationale=describe_row(pool, row),
            )
            for row in self._picks(pool, state, history, max_candidates)
        ]

    def observe(
        self, state: OptimizerState, trial_results: Sequence[TrialResult]
    ) -> OptimizerState:
        """One generation on; what was shown stands in the history."""
        return next_state(state, trial_results)

    def should_stop(self, state: OptimizerState, history: TrialHistory) -> StopDecision:
        """At the target, out of patience, or with nothing (more) to show."""
        enough = reached(state, self.target) or stale(state, self.patience)
        if enough:
            return enough
        pool = self._pool(state, history)
        if not pool.shown or not self._most(pool):
            return StopDecision(
                should_stop=True,
                reason=StopReason.ALGORITHM_SPECIFIC,
                message=self._why_none(state, pool),
            )
        if not self._picks(pool, state, history, 1):
            return StopDecision(
                should_stop=True,
                reason=StopReason.CONVERGENCE,
                message=f"no new row of the {len(pool.shown)} examples was found",
            )
        return GOING_ON

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
