"""Reflection in `gepa`: tasks become questions, answers become whole rewrites of one section."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from burnish.domain import TrialHistory
from burnish.optimizers.gepa.evidence import Known
from burnish.optimizers.gepa.parents import Task
from burnish.optimizers.gepa.step_view import Move, StepView
from burnish.optimizers.shared.asking import Asker
from burnish.optimizers.shared.refined_reasons import recurring_reasons
from burnish.optimizers.shared.reflection import Question, Shown, read_answer
from burnish.optimizers.shared.seeded_random import generator

_MOST_EXAMPLE = 300


@dataclass(slots=True)
class Tally:
    """How often the meta-model was asked, and what of its answers could not be used."""

    asked: int = 0
    unusable: int = 0
    in_a_row: int = 0
    example: str = ""

    def count(self, answer: str, *, usable: bool) -> None:
        """Note one answer."""
        self.asked += 1
        self.in_a_row = 0 if usable else self.in_a_row + 1
        if not usable:
            self.unusable += 1
            self.example = self.example or " ".join(answer.split())[:_MOST_EXAMPLE]


@dataclass(frozen=True, kw_only=True)
class Reflection:
    """Asks one meta-model on behalf of one step."""

    asker: Asker
    view: StepView
    history: TrialHistory
    sections: tuple[str, ...]
    tally: Tally = field(default_factory=Tally)

    async def moves(self, tasks: Sequence[Task]) -> list[Move]:
        """Rewrites, each to be tried on the failures that it saw and an item that passed."""
        questions = [await self._question(task, place) for place, task in enumerate(tasks)]
        answers = await self.asker.ask_all([question.prompt() for question in questions])
        found: dict[str, Move] = {}
        for task, question, answer in zip(tasks, questions, answers, strict=True):
            read = read_answer(answer, question.text)
            self.tally.count(answer, usable=read is not None or _is_same(answer, question.text))
            if read is None:
                continue
            text, said = read
            parent = task.parent
            made = parent.candidate.configuration.with_sections({question.section: text})
            move = self.view.move(
                made,
                parent,
                [*task.failures, *task.passed],
                said=said or f"The section {question.section} was written anew.",
                kind="rewrite",
                section=question.section,
                shown=[*task.failures, *task.passed],
            )
            if self.view.is_new(move) and made.hash not in self.view.evidence.by_hash:
                found.setdefault(made.hash, move)
        return list(found.values())

    async def _question(self, task: Task, place: int) -> Question:
        texts = task.parent.candidate.configuration.sections
        section = self._section(task.parent, place)
        return Question(
            section=section,
            text=texts[section],
            failed=tuple((await self._shown(task.parent, task.failures)).values()),
            passed=tuple((await self._shown(task.parent, task.passed)).values()),
            others={path: text for path, text in texts.items() if path != section},
            refined=recurring_reasons(
                task.parent.results[item]
                for item in self.view.items.pool
                if item in task.parent.results
            ),
            max_tokens=self.view.settings.max_prompt_tokens,
        )

    async def _shown(self, parent: Known, item_ids: Sequence[str]) -> Mapping[str, Shown]:
        items = await self.history.load_items(item_ids)
        return {item.id: Shown(item=item, result=parent.results[item.id]) for item in items}

    def _section(self, parent: Known, place: int) -> str:
        """The section to work on: in turn, and rather one whose rewrites helped."""
        if len(self.sections) == 1:
            return self.sections[0]
        chance = generator(self.view.facts.seed, "section", self.view.generation, place)
        drawn = {}
        for path in self.sections:
            made = [
                one
                for one in self.view.evidence.known.values()
                if one.kind == "rewrite" and one.candidate.metadata.get("section") == path
            ]
            won = sum(
                1
                for one in made
                if (elder := self.view.evidence.parent(one)) is not None
                and self.view.evidence.gain(one, elder) > 0
            )
            drawn[path] = chance.betavariate(1 + won, 1 + len(made) - won)
        return max(drawn, key=lambda path: drawn[path])


def _is_same(answer: str, current: str) -> bool:
    """Whether an answer gives the text back as it is: no use, but no fault of the answer's form."""
    return current.strip() in answer
