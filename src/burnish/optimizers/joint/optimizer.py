"""The `joint` optimizer: edits of texts, examples, label words and parameters in one race.

After CAPO (Zehle et al.): instructions and examples are searched together, candidates race block by
block, and longer prompts have to earn their length. Where a model tells the probabilities of labels,
the race also goes by the probability of the right one, which tells two prompts apart with fewer items,
and leaders are tried with a label bias, which takes back what a prompt says for its own sake.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from burnish.domain import (
    Item,
    Json,
    OptimizerState,
    Proposed,
    RunContext,
    StopDecision,
    TrialHistory,
)
from burnish.domain.configuration import MODEL
from burnish.optimizers.edits.edit_catalog import EditCatalog
from burnish.optimizers.examples.search import ExamplePool, find_answer_field
from burnish.optimizers.gepa.evidence import Evidence, Items, Memo
from burnish.optimizers.joint.calibration import Calibration, own_bias, shares_of
from burnish.optimizers.joint.race import Values, item_values
from burnish.optimizers.joint.race_step import Foretold, RaceStep
from burnish.optimizers.joint.variants import Variants
from burnish.optimizers.shared.facts import RunFacts
from burnish.optimizers.shared.search_status import (
    GOING_ON,
    HistorySearch,
    first_state,
    reached,
    stale,
    stop,
    tried_hashes,
)
from burnish.optimizers.shared.seeded_random import generator
from burnish.optimizers.shared.train_looks import train_items
from burnish.optimizers.shared.trial_reading import repeats_of
from burnish.support.number_checks import require_fraction, require_target, require_whole


class Joint(HistorySearch):
    """Varies texts, examples, label words and parameters together.

    Up to `max_examples` training items are shown, labels in balance. Candidates run `block` items at a
    time and go on while they may be the best; the last of the budget completes the leaders. The
    longest prompt of the race counts as `length_penalty` worse than it scored, others in proportion.
    `soft_scores` lets the probability of the right label count too, where the model tells it, and
    weighs labels (`label_bias`) where that makes a leader better.
    `target` ends the search, and so do `patience` generations without a better candidate where no
    number of evaluations is set. `population_size` is how many candidates run side by side.
    """

    name = "joint"

    def __init__(
        self,
        *,
        max_examples: int = 32,
        block: int = 10,
        length_penalty: float = 0.02,
        soft_scores: bool = True,
        target: float | None = None,
        patience: int = 8,
        population_size: int = 8,
    ) -> None:
        self.max_examples = require_whole("joint", "max_examples", max_examples, least=0)
        self.block = require_whole("joint", "block", block, least=1)
        self.length_penalty = require_fraction("joint", "length_penalty", length_penalty)
        self.soft_scores = bool(soft_scores)
        self.target = require_target("joint", target)
        self.patience = require_whole("joint", "patience", patience, least=1)
        self.candidates_per_step = require_whole(
            "joint", "population_size", population_size, least=1
        )
        self._memo = Memo()

    def initialize(self, context: RunContext) -> OptimizerState:
        """Remember the run's facts, the training items, and the order in which items are run."""
        validation = sorted(context.splits["validation"])
        return first_state(context, train=train_items(context), validation=validation)

    async def propose(
        self, state: OptimizerState, history: TrialHistory, max_candidates: int
    ) -> Proposed:
        """The next blocks of those that may be best, and new variants."""
        step, _ = await self._step(state, history)
        return Proposed(proposals=step.moves(max_candidates), state=state)

    async def should_stop(  # type: ignore[override]
        self, state: OptimizerState, history: TrialHistory
    ) -> StopDecision:
        """At the target, when the leaders have had their trials, or out of patience."""
        enough = reached(state, self.target)
        if enough is None and history.evaluations_left is None and self.patience:
            enough = stale(state, self.patience)
        return enough or self._exhausted(state, history) or GOING_ON

    def _exhausted(self, state: OptimizerState, history: TrialHistory) -> StopDecision | None:
        facts = RunFacts.within(state)
        has_texts = any(facts.space.may_change(path) for path in facts.baseline.sections)
        if has_texts or facts.space.parameters or state.algorithm_data["train"]:
            return None
        return stop("no section, parameter or example may change")

    async def choice(self, state: OptimizerState, history: TrialHistory) -> str | None:
        """Of those that ran all items the best by all that they showed; None leaves it to scores."""
        if RunFacts.within(state).perfect_score is None:
            return None
        step, _ = await self._step(state, history)
        return step.winner()

    async def report(
        self, state: OptimizerState, history: TrialHistory, winner_id: str
    ) -> Mapping[str, Json]:
        """How many variants raced, and whether probabilities of labels were used."""
        step, is_soft = await self._step(state, history)
        return {
            "race": {
                "candidates": len(step.entrants),
                "ran_all_items": sum(map(step.is_complete, step.entrants)),
                "soft_scores": is_soft,
            }
        }

    async def _step(self, state: OptimizerState, history: TrialHistory) -> tuple[RaceStep, bool]:
        """The race as it stands, and whether probabilities of labels are known."""
        facts, data = RunFacts.within(state), state.algorithm_data
        validation = tuple(data["validation"])
        items = Items(
            train=(),
            validation=validation,
            trial_items=len(validation),
            repeats=repeats_of(history, facts, len(validation)),
        )
        evidence = await Evidence.gather(history, facts.baseline_candidate_id, items, self._memo)
        pool = ExamplePool.of(facts, await history.load_items(data["train"]), None)
        labels = self._labels(facts, await history.load_items(validation))
        # Some models tell probabilities and others don't: then they would not compare.
        soft = self.soft_scores and MODEL not in facts.space.parameters
        labels_told = labels if soft else {}
        own = {
            one.id: item_values(one.results, labels_told, own_bias(one.candidate.configuration))
            for one in evidence.known.values()
        }
        foretold = self._foretold(evidence, facts, pool, labels_told, own)
        step = RaceStep(
            variants=Variants(EditCatalog.of(facts), pool, most_examples=self.max_examples),
            known=evidence.known,
            values={one: values.by_item for one, values in own.items()},
            foretold=foretold,
            order=balanced_order(validation, labels, facts.seed),
            block=self.block,
            repeats=items.repeats,
            length_penalty=self.length_penalty,
            generation=state.generation,
            left=history.evaluations_left,
            tried=tried_hashes(history),
        )
        return step, any(one.soft for one in own.values())

    def _foretold(
        self,
        evidence: Evidence,
        facts: RunFacts,
        pool: ExamplePool,
        labels: Mapping[str, str],
        own: Mapping[str, Values],
    ) -> dict[str, Foretold]:
        """What a label bias would make of candidates, where that is better than what they are."""
        counts = {kind: len(places) for kind, places in pool.kinds.items()}
        if not labels or not facts.baseline.parameters.get("label_logprobs"):
            return {}
        rule = Calibration(labels=labels, shares=shares_of(facts.labels, counts))
        found = {}
        for one in evidence.known.values():
            bias = rule.fitted(one.candidate.configuration, one.results)
            if bias is None or bias == own_bias(one.candidate.configuration):
                continue
            values = item_values(one.results, labels, bias, foretold=True).by_item
            if fmean(values.values()) > fmean(own[one.id].by_item.values()):
                found[one.id] = Foretold(values=values, bias=bias)
        return found

    def _labels(self, facts: RunFacts, rows: Sequence[Item]) -> dict[str, str]:
        """The right label of each item, where answers are labels."""
        field = find_answer_field(facts, rows) if facts.labels else None
        return {one.id: str(one.data[field]) for one in rows} if field else {}


def balanced_order(items: Sequence[str], labels: Mapping[str, str], seed: int) -> tuple[str, ...]:
    """Items in seeded order, labels taking turns, so that every block has many of them."""
    shuffled = sorted(items)
    generator(seed, "blocks").shuffle(shuffled)
    by_label: dict[str, list[str]] = {}
    for item in shuffled:
        by_label.setdefault(labels.get(item, ""), []).append(item)
    found: list[str] = []
    for place in range(max(map(len, by_label.values()), default=0)):
        found += [group[place] for group in by_label.values() if place < len(group)]
    return tuple(found)
