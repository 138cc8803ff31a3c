"""The `bootstrap` optimizer: demonstrations from the agent's own passing runs.

After BootstrapFewShot of Khattab et al. (DSPy). `few_shot` shows the expected answers; this one shows
what the agent itself said where that passed, which fits free text, formats and reasoning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from burnish.domain import (
    CandidateProposal,
    Item,
    ItemResult,
    OptimizerState,
    StopDecision,
    StopReason,
    TrialHistory,
)
from burnish.domain.wording import counted
from burnish.optimizers.examples.search import (
    ExamplePool,
    Shown,
    pick_rows,
    row_proposal,
    shown_fields,
)
from burnish.optimizers.shared.copied_answers import is_answer_field
from burnish.optimizers.shared.facts import RunFacts
from burnish.optimizers.shared.search_status import stop
from burnish.optimizers.shared.seeded_random import generator
from burnish.optimizers.shared.train_looks import (
    TrainingSearch,
    evaluations_to_spare,
    look,
    looked_at,
)
from burnish.support.number_checks import require_target, require_whole

# An output that fills the prompt by itself teaches little and costs much.
_MOST_OUTPUT = 4_000
# Generations between two rounds: a new best should have had time to show itself.
_BETWEEN_ROUNDS = 2


class Bootstrap(TrainingSearch):
    """Shows up to `max_examples` training items with outputs of the agent that passed.

    The first step runs the baseline on `batch` training items. Later rounds, `rounds` in all, run the
    best on items that nobody passed yet, for examples that the baseline could not give. `target` ends
    the search at that score, and so do `patience` trials without a better one.
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
        return [*found, *(row_proposal(pool, row) for row in rows)]

    def _exhausted(self, state: OptimizerState, history: TrialHistory) -> StopDecision | None:
        """When there is nothing (more) to show."""
        if not state.algorithm_data["train"]:
            return stop("there are no training items to run: give the suite a train split")
        if not self._most(RunFacts.within(state)):
            return stop("the search space allows no examples: raise its max_examples")
        seen = self._seen(state, history)
        if self._round(seen, state, history):
            return None
        pool = seen.pool
        if not pool.shown:
            ran = len(frozenset().union(*seen.ran.values()))
            return stop(f"the agent passed none of the {counted(ran, 'training item')} that it ran")
        if not pick_rows(pool, state, history, 1, most=self._most(pool.facts)):
            return stop(
                f"no new row of the {counted(len(pool.shown), 'example')} was found",
                StopReason.CONVERGENCE,
            )
        return None

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Demonstrations:
    """What was seen on training items so far. `ran` has the items that each candidate ran."""

    pool: ExamplePool
    ran: dict[str, frozenset[str]]

    @classmethod
    def read(cls, facts: RunFacts, history: TrialHistory, train: Sequence[str]) -> Demonstrations:
        """From all mini-batches. Of several candidates that passed an item the first is shown, so
        that an example stays what it was."""
        items = {item.id: item for item in history.items(list(train))}
        looked = sorted(
            {one.candidate_id for one in history.mini_batches},
            key=lambda one: history.candidate(one).number,
        )
        shown: dict[str, Shown] = {}
        ran: dict[str, frozenset[str]] = {}
        for candidate_id in looked:
            results = [r for r in history.item_results(candidate_id) if r.item_id in items]
            ran[candidate_id] = frozenset(result.item_id for result in results)
            known = ExamplePool(facts=facts, shown=tuple(shown.values()))
            own = shown_items(known, history, candidate_id)
            for result in results:
                if result.item_id in shown or result.item_id in own:
                    continue
                made = _shown(facts, items[result.item_id], result)
                if made is not None:
                    shown[result.item_id] = made
        ordered = tuple(shown[item] for item in sorted(shown))
        return cls(pool=ExamplePool(facts=facts, shown=ordered), ran=ran)

    def wanted(self, history: TrialHistory, candidate_id: str, train: Sequence[str]) -> list[str]:
        """Training items of which there is no example yet, and that this candidate did not run.

        Its own examples are not among them: it knows their answers.
        """
        seen = self.ran.get(candidate_id, frozenset()) | {one.item_id for one in self.pool.shown}
        own = shown_items(self.pool, history, candidate_id)
        return [item for item in train if item not in seen and item not in own]


def shown_items(pool: ExamplePool, history: TrialHistory, candidate_id: str) -> frozenset[str]:
    """The items among a candidate's examples."""
    places = pool.places_in(history.candidate(candidate_id).configuration) or ()
    return frozenset(pool.shown[place].item_id for place in places)


def _shown(facts: RunFacts, item: Item, result: ItemResult) -> Shown | None:
    """A passing result as an example."""
    if not result.passed or result.error is not None or result.output is None:
        return None
    text = result.output.text.strip()
    by_fold = {label.casefold(): label for label in facts.labels}
    text = by_fold.get(text.casefold(), text)
    fields = shown_fields(facts, item, is_answer_field)
    if not text or len(text) > _MOST_OUTPUT or not fields:
        return None
    return Shown(
        item_id=item.id,
        example={"input": fields, "output": text},
        kind=text if text in facts.labels else "",
    )
