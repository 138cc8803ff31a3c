"""The `evolve` optimizer: a genetic search whose population is the best part of the history.

Parents come from tournaments among complete trials, so the best stay by themselves. Children are
crossed or mutated, by a model when there is one, else by the edits that `edits` uses.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from burnish.domain import (
    Candidate,
    CandidateProposal,
    Model,
    OptimizerState,
    RunContext,
    StopDecision,
    StopReason,
    TrialHistory,
    TrialResult,
)
from burnish.optimizers.evolve.crossover import Breeder, Child
from burnish.optimizers.evolve.questions import Nursery
from burnish.optimizers.shared.asking import Asker
from burnish.optimizers.shared.facts import RunFacts
from burnish.optimizers.shared.fresh import Fresh, speaking_paths
from burnish.optimizers.shared.ranking import ranked
from burnish.optimizers.shared.search_status import (
    GOING_ON,
    first_state,
    next_state,
    reached,
    stale,
)
from burnish.optimizers.shared.seeded_random import generator
from burnish.optimizers.shared.train_looks import look_at_best, train_items
from burnish.support.number_checks import require_fraction, require_target, require_whole

_MECHANICAL_TRIES = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    """Whom a child comes from; without a second parent it is a mutation."""

    first: Candidate
    second: Candidate | None

    @property
    def ids(self) -> tuple[str, ...]:
        return (self.first.id,) if self.second is None else (self.first.id, self.second.id)


class Evolve:
    """Breeds from the `population` best candidates; works with and without a `model`.

    A parent is the best of `tournament` drawn ones. `crossover` is the share of children with two
    parents. A child whose model answered badly is bred mechanically, with at most `max_edits` edits.
    The model sees `failures` failed tasks; with a train split the best is run on `batch` of its items.
    """

    name = "evolve"

    def __init__(
        self,
        *,
        model: Any = None,
        population: int = 8,
        tournament: int = 3,
        crossover: float = 0.5,
        max_edits: int = 6,
        failures: int = 4,
        batch: int = 12,
        target: float | None = None,
        patience: int = 10,
    ) -> None:
        self.population = require_whole("evolve", "population", population, least=2)
        self.tournament = require_whole("evolve", "tournament", tournament, least=1)
        self.crossover = require_fraction("evolve", "crossover", crossover)
        self.max_edits = require_whole("evolve", "max_edits", max_edits, least=1)
        self.failures = require_whole("evolve", "failures", failures, least=0)
        self.batch = require_whole("evolve", "batch", batch, least=1)
        self.target = require_target("evolve", target)
        self.patience = require_whole("evolve", "patience", patience, least=1)
        self._asker = Asker(model)

    def connect(self, open_model: Callable[[Any], Model]) -> None:
        """Open the model, if there is one."""
        self._asker.connect(open_model)

    def initialize(self, context: RunContext) -> OptimizerState:
        """Remember the run's facts and the training items."""
        return first_state(context, train=train_items(context))

    async def propose(
        self, state: OptimizerState, history: TrialHistory, max_candidates: int
    ) -> list[CandidateProposal]:
        """Children that were not tried yet; for a model, training items are looked at first."""
        facts = RunFacts.within(state)
        found: list[CandidateProposal] = []
        if self._asker.available and self.failures and speaking_paths(facts):
            found = look_at_best(state, history, self.batch)
            if found and state.generation == 0:
                return found
        draws = [
            generator(facts.seed, "evolve", state.generation, facts.in_flight(max_candidates), one)
            for one in range(max_candidates - len(found))
        ]
        pairs = [self._pair(history, chance) for chance in draws]
        written = await self._written(state, history, pairs, draws)
        fresh = Fresh(facts, history)
        breeder = Breeder(facts, max_edits=self.max_edits)
        for pair, child, chance in zip(pairs, written, draws, strict=True):
            if child is not None and fresh.take(child.configuration):
                found.append(_proposal(child, pair))
                continue
            bred = self._bred(breeder, fresh, history, chance)
            if bred is not None:
                found.append(bred)
        return found

    def observe(
        self, state: OptimizerState, trial_results: Sequence[TrialResult]
    ) -> OptimizerState:
        """One generation on; the population is read from the history."""
        return next_state(state, trial_results)

    def should_stop(self, state: OptimizerState, history: TrialHistory) -> StopDecision:
        """At the target, out of patience, or with nothing to change."""
        enough = reached(state, self.target) or stale(state, self.patience)
        if enough:
            return enough
        facts = RunFacts.within(state)
        writes = self._asker.available and speaking_paths(facts)
        if not writes and not Breeder(facts, max_edits=self.max_edits).can_mutate:
            return StopDecision(
                should_stop=True,
                reason=StopReason.ALGORITHM_SPECIFIC,
                message="nothing may be changed: free a section in the search space",
            )
        return GOING_ON

    def _pair(self, history: TrialHistory, chance: random.Random) -> _Pair:
        alive = [one.candidate_id for one in ranked(history)[: self.population]]
        first = self._winner(alive, chance)
        others = [one for one in alive if one != first]
        crosses = bool(others) and chance.random() < self.crossover
        return _Pair(
            first=history.candidate(first),
            second=history.candidate(self._winner(others, chance)) if crosses else None,
        )

    def _winner(self, alive: Sequence[str], chance: random.Random) -> str:
        """The best of a few: they stand in order of rank."""
        drawn = [chance.randrange(len(alive)) for _ in range(self.tournament)]
        return alive[min(drawn)]

    async def _written(
        self,
        state: OptimizerState,
        history: TrialHistory,
        pairs: Sequence[_Pair],
        draws: Sequence[random.Random],
    ) -> list[Child | None]:
        """What the model makes of the pairs, all asked side by side."""
        nursery = await Nursery.of(state, history) if self._asker.available else None
        if nursery is None or not nursery.paths:
            return [None] * len(pairs)
        questions = [
            nursery.question(pair.first, pair.second, chance, failures=self.failures)
            for pair, chance in zip(pairs, draws, strict=True)
        ]
        turn = state.generation * nursery.facts.places
        answers = await asyncio.gather(
            *(self._asker.ask(one.prompt(), turn=turn + n) for n, one in enumerate(questions)),
            return_exceptions=True,
        )
        children: list[Child | None] = []
        for pair, question, answer in zip(pairs, questions, answers, strict=True):
            if isinstance(answer, BaseException):
                raise answer
            children.append(nursery.read(pair.first, question, answer))
        return children

    def _bred(
        self, breeder: Breeder, fresh: Fresh, history: TrialHistory, chance: random.Random
    ) -> CandidateProposal | None:
        """A mechanical child that was not tried."""
        for _ in range(_MECHANICAL_TRIES):
            pair = self._pair(history, chance)
            child = (
                breeder.mutate(pair.first, chance)
                if pair.second is None
                else breeder.cross(pair.first, pair.second, chance)
            )
            if child is not None and fresh.take(child.configuration):
                return _proposal(child, pair)
        return None


def _proposal(child: Child, pair: _Pair) -> CandidateProposal:
    return CandidateProposal(
        configuration=child.configuration,
        parent_candidate_ids=pair.ids,
        rationale=child.says,
        metadata={"edits": None if child.edits is None else list(child.edits)},
    )
