"""The `evolve` optimizer: a genetic search whose population is the best part of the history.

Parents come from tournaments among complete trials, so the best stay by themselves. Children are
crossed or mutated, by a model when there is one, else by the edits that `edits` uses.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from burnish.domain import (
    Candidate,
    CandidateProposal,
    OptimizerState,
    StopDecision,
    TrialHistory,
)
from burnish.optimizers.evolve.crossover import Child, ChildMaker
from burnish.optimizers.shared.acceptance import Fresh, speaking_paths
from burnish.optimizers.shared.asking import Asker, ModelAsker, all_answers
from burnish.optimizers.shared.facts import RunFacts
from burnish.optimizers.shared.meta_question import MetaQuestion, Scored
from burnish.optimizers.shared.reflection import Shown
from burnish.optimizers.shared.search_status import ranked, stop
from burnish.optimizers.shared.seeded_random import generator
from burnish.optimizers.shared.train_looks import (
    TrainingSearch,
    failures_of,
    look_at_best,
    reader,
    some,
)
from burnish.support.number_checks import require_fraction, require_target, require_whole

_PARAPHRASES = 0.2
_CROSS = (
    "Cross both texts: take the best rules and wordings of each into one text, and leave out what "
    "they say twice."
)
_MEND = "Keep what works in the text, and change or add what the failed tasks call for."
_IMPROVE = "Make the text more precise: say what to look for and how to decide."
_PARAPHRASE = "Say the same in other words, with the same rules and nothing added."
_MECHANICAL_TRIES = 40


class Evolve(ModelAsker, TrainingSearch):
    """Breeds from the `population` best candidates; works with and without a `model`.

    A parent is the best of `tournament` drawn ones. `crossover` is the share of children with two
    parents. A child whose model answered badly is bred mechanically, with at most `max_edits` edits.
    The model sees `failures` failed tasks; with a train split the best is run on `batch` of its items.
    `target` ends the search at that score, and so do `patience` trials without a better one.
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

    def questions(self, evaluations: int, trials: int) -> tuple[int, int]:
        """One for each child."""
        most = trials if self._asker.available else 0
        return min(most, 1), most

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
        generators = [
            generator(facts.seed, "evolve", state.generation, facts.in_flight(max_candidates), one)
            for one in range(max_candidates - len(found))
        ]
        pairs = [self._pair(history, chance) for chance in generators]
        written = await self._written(state, history, pairs, generators)
        fresh = Fresh(facts, history)
        maker = ChildMaker(facts, max_edits=self.max_edits)
        for pair, child, chance in zip(pairs, written, generators, strict=True):
            if child is not None and fresh.take(child.configuration):
                found.append(_proposal(child, pair))
                continue
            made = self._made(maker, fresh, history, chance)
            if made is not None:
                found.append(made)
        return found

    def _exhausted(self, state: OptimizerState, history: TrialHistory) -> StopDecision | None:
        """When nothing may be changed."""
        facts = RunFacts.within(state)
        writes = self._asker.available and speaking_paths(facts)
        if not writes and not ChildMaker(facts, max_edits=self.max_edits).can_mutate:
            return stop("nothing may be changed: free a section in the search space")
        return None

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
        generators: Sequence[random.Random],
    ) -> list[Child | None]:
        """What the model makes of the pairs, all asked side by side."""
        writer = await ChildWriter.of(state, history) if self._asker.available else None
        if writer is None or not writer.paths:
            return [None] * len(pairs)
        questions = [
            writer.question(pair.first, pair.second, chance, failures=self.failures)
            for pair, chance in zip(pairs, generators, strict=True)
        ]
        turn = state.generation * writer.facts.places
        answers = await all_answers(
            self._asker.ask(one.prompt(), turn=turn + n, beside=len(questions))
            for n, one in enumerate(questions)
        )
        return [
            None if answer is None else writer.read(pair.first, question, answer)
            for pair, question, answer in zip(pairs, questions, answers, strict=True)
        ]

    def _made(
        self, maker: ChildMaker, fresh: Fresh, history: TrialHistory, chance: random.Random
    ) -> CandidateProposal | None:
        """A mechanical child that was not tried."""
        for _ in range(_MECHANICAL_TRIES):
            pair = self._pair(history, chance)
            child = (
                maker.mutate(pair.first, chance)
                if pair.second is None
                else maker.cross(pair.first, pair.second, chance)
            )
            if child is not None and fresh.take(child.configuration):
                return _proposal(child, pair)
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    """Whom a child comes from; without a second parent it is a mutation."""

    first: Candidate
    second: Candidate | None

    @property
    def ids(self) -> tuple[str, ...]:
        return (self.first.id,) if self.second is None else (self.first.id, self.second.id)


def _proposal(child: Child, pair: _Pair) -> CandidateProposal:
    return CandidateProposal(
        configuration=child.configuration,
        parent_candidate_ids=pair.ids,
        rationale=child.says,
        metadata={"edits": None if child.edits is None else list(child.edits)},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildWriter:
    """What the questions of one step are made from."""

    facts: RunFacts
    paths: Sequence[str]
    scores: Mapping[str, float]
    failed: Sequence[Shown]

    @classmethod
    async def of(cls, state: OptimizerState, history: TrialHistory) -> ChildWriter:
        """Read the history once for all places."""
        facts = RunFacts.within(state)
        whose = reader(state, history)
        return cls(
            facts=facts,
            paths=speaking_paths(facts),
            scores={one.candidate_id: one.objective_score or 0.0 for one in ranked(history)},
            failed=await failures_of(history, whose, state.algorithm_data["train"]),
        )

    def question(
        self, first: Candidate, second: Candidate | None, chance: random.Random, *, failures: int
    ) -> MetaQuestion:
        """About one section of the first parent; in a cross one in which the parents differ."""
        texts = first.configuration.sections
        other = texts if second is None else second.configuration.sections
        differing = [path for path in self.paths if texts[path] != other[path]]
        path = chance.choice(differing or list(self.paths))
        failed = some(self.failed, failures, chance)
        scored: list[Scored] = []
        way = _MEND if failed else _IMPROVE
        if second is not None and differing:
            scored, failed, way = (
                [Scored(text=other[path], score=self.scores[second.id])],
                [],
                _CROSS,
            )
        elif chance.random() < _PARAPHRASES:
            failed, way = [], _PARAPHRASE
        return MetaQuestion(
            section=path,
            text=texts[path],
            score=self.scores[first.id],
            scored=scored,
            failed=failed,
            others={name: said for name, said in texts.items() if name != path},
            facts=self.facts,
            max_chars=self.facts.space.max_section_chars,
            way=way,
            whose="a prompt",
        )

    def read(self, first: Candidate, question: MetaQuestion, answer: str) -> Child | None:
        """The child of an answer; None when it is garbage or learnt by heart."""
        made = question.read(answer, first.configuration, baseline=self.facts.baseline)
        return None if made is None else Child(configuration=made.configuration, says=made.says)
