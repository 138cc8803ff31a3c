"""What `evolve` asks its model: to cross two texts, to mend one, or to say it in other words."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from burnish.domain import Candidate, OptimizerState, TrialHistory
from burnish.optimizers.evolve.crossover import Child
from burnish.optimizers.shared.copied_answers import without_copies
from burnish.optimizers.shared.facts import RunFacts
from burnish.optimizers.shared.fresh import speaking_paths, with_text
from burnish.optimizers.shared.meta_question import MetaQuestion, Scored
from burnish.optimizers.shared.ranking import ranked
from burnish.optimizers.shared.reflection import Shown, read_answer
from burnish.optimizers.shared.train_looks import failures_of, reader, some

_PARAPHRASES = 0.2
_CROSS = (
    "Cross both texts: take the best rules and wordings of each into one text, and leave out what "
    "they say twice."
)
_MEND = "Keep what works in the text, and change or add what the failed tasks call for."
_IMPROVE = "Make the text more precise: say what to look for and how to decide."
_PARAPHRASE = "Say the same in other words, with the same rules and nothing added."


@dataclass(frozen=True, slots=True, kw_only=True)
class Nursery:
    """What the questions of one step are made from."""

    facts: RunFacts
    paths: Sequence[str]
    scores: Mapping[str, float]
    failed: Sequence[Shown]

    @classmethod
    async def of(cls, state: OptimizerState, history: TrialHistory) -> Nursery:
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
            labels=self.facts.labels,
            max_chars=self.facts.space.max_section_chars,
            way=way,
            whose="a prompt",
        )

    def read(self, first: Candidate, question: MetaQuestion, answer: str) -> Child | None:
        """The child of an answer; None when it is garbage or learnt by heart."""
        told = read_answer(answer, question.text)
        before = "\n".join(self.facts.baseline.sections.values())
        shown = [one.item for one in question.failed]
        text = without_copies(told[0], before, shown) if told else None
        made = with_text(first.configuration, question.section, text) if text else None
        if told is None or made is None:
            return None
        return Child(configuration=made, says=told[1] or f"A new text of {question.section}.")
