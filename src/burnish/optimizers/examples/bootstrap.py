"""The `bootstrap` optimizer: demonstrations from the agent's own passing runs.

After BootstrapFewShot of Khattab et al. (DSPy). `few_shot` shows the expected answers; this one shows
what the agent itself said where that passed, which fits free text, formats and reasoning.
"""

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
from burnish.optimizers.examples.demonstrations import Demonstrations
from burnish.optimizers.examples.picks import describe_row, pick_rows
from burnish.optimizers.shared.facts import RunFacts
from burnish.optimizers.shared.search_status import (
    GOING_ON,
    first_state,
    next_state,
    reached,
    stale,
)
from burnish.optimizers.shared.seeded_random import generator
from burnish.optimizers.shared.train_looks import evaluations_to_spare, look, looked_at, train_items
from burnish.support.number_checks import require_target, require_whole

# Generations between two rounds: a new best should have had time to show itself.
_BETWEEN_ROUNDS = 2


class Bootstrap:
    """Shows up to `max_examples` training items with outputs of the agent that passed.

    The first step runs the baseline on `batch` training items. Later rounds, `rounds` in all, run the
    best on items that nobody passed yet, for examples that the baseline could not give.
    """

    name = "bootstrap"

    def __init__(
        self,
        *,
        max_examples: int = 4,
        batch: int = 32,
        rounds: int = 3,
        target: float | None = None,
        patience: int = 8,
    ) -> None:
        self.max_examples = require_whole("bootstrap", "max_examples", max_examples, least=1)
        self.batch = require_whole("bootstrap", "batch", batch, least=1)
        self.rounds = require_whole("bootstrap", "rounds", rounds, least=1)
        self.target = require_target("bootstrap", target)
        self.patience = require_whole("bootstrap", "patience", patience, least=1)

    def initialize(self, context: RunContext) -> OptimizerState:
        """Remember the run's facts and the training items."""
        return first_state(context, train=train_items(context))

    def propose(
        self, state: OptimizerState, history: TrialHistory, max_candidates: int
    ) -> list[CandidateProposal]:
        """Rows of examples that were not tried yet, and a mini-batch when a round begins."""
        seen = self._seen(state, history)
        found = self._round(seen, state, history)
        pool = seen.pool
        rows = pick_rows(
            pool, state, history, max_candidates - len(found), most=self._most(pool.facts)
        )
        return [
            *found,
            *(
                CandidateProposal(
                    configuration=pool.configuration(row.places),
                    parent_candidate_ids=(row.parent,),
                    rationale=describe_row(pool, row),
                )
                for row in rows
            ),
        ]

    def observe(
        self, state: OptimizerState, trial_results: Sequence[TrialResult]
    ) -> OptimizerState:
        """One generation on; examples are read from the history."""
        return next_state(state, trial_results)

    def should_stop(self, state: OptimizerState, history: TrialHistory) -> StopDecision:
        """At the target, out of patience, or with nothing (more) to show."""
        enough = reached(state, self.target) or stale(state, self.patience)
        if enough:
            return enough
        if not state.algorithm_data["train"]:
            return _stop("there are no training items to run: give the suite a train split")
        if not self._most(RunFacts.within(state)):
            return _stop("the search space allows no examples: raise its max_examples")
        seen = self._seen(state, history)
        if self._round(seen, state, history):
            return GOING_ON
        pool = seen.pool
        if not pool.shown:
            ran = len(frozenset().union(*seen.ran.values()))
            return _stop(f"the agent passed none of the {ran} training items that it ran")
        if not pick_rows(pool, state, history, 1, most=self._most(pool.facts)):
            return _stop(
                f"no new row of the {len(pool.shown)} examples was found", StopReason.CONVERGENCE
            )
        return GOING_ON

    def _seen(self, state: OptimizerState, history: TrialHistory) -> Demonstrations:
        facts = RunFacts.within(state)
        return Demonstrations.read(facts, history, state.algorithm_data["train"])

    def _most(self, facts: RunFacts) -> int:
        return min(self.max_examples, facts.space.max_examples)

    def _round(
        self, seen: Demonstrations, state: OptimizerState, history: TrialHistory
    ) -> list[CandidateProposal]:
        """A mini-batch of the best, when a round is due and there is something new to run."""
        rounds, best = len(history.mini_batches), str(state.best_candidate_id)
        enough = len(seen.pool.shown) >= self._most(seen.pool.facts)
        early = state.generation < _BETWEEN_ROUNDS * rounds
        if rounds >= self.rounds or (enough and (early or best in looked_at(history))):
            return []
        wanted = seen.wanted(history, best, state.algorithm_data["train"])
        spare = evaluations_to_spare(history)
        size = min(self.batch, len(wanted), len(wanted) if spare is None else spare)
        if size <= 0:
            return []
        chance = generator(seen.pool.facts.seed, "bootstrap", rounds)
        said = f"Round {rounds + 1}: see which training items pass."
        return [look(history, best, sorted(chance.sample(wanted, size)), said)]


def _stop(message: str, reason: StopReason = StopReason.ALGORITHM_SPECIFIC) -> StopDecision:
    return StopDecision(should_stop=True, reason=reason, message=message)
