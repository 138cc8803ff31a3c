"""Reflection in `gepa`: tasks become questions, answers become whole rewrites of one section."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from burnish.domain import ModelResponse, TrialHistory
from burnish.domain.wording import counted
from burnish.optimizers.gepa.evidence import Known
from burnish.optimizers.gepa.parents import Task
from burnish.optimizers.gepa.step_view import Move, StepView
from burnish.optimizers.shared.answer_reading import Rewritten, Unusable
from burnish.optimizers.shared.asking import Asker
from burnish.optimizers.shared.reflection import Question, Shown, recurring_reasons

_MOST_EXAMPLE = 300
_MOST_SAID = 160
_MOST_TRIED = 5
# So many answers in a row of which none could be used end a search.
USELESS_IN_A_ROW = 12


@dataclass(slots=True)
class Tally:
    """How often the meta-model was asked, and what of its answers could not be used, by kind.

    A text that came back as it was is of no use, but no fault of the answer's form. `in_vain` counts
    by parent and section how often items were shown without anything new coming back.
    """

    asked: int = 0
    unusable: int = 0
    in_a_row: int = 0
    example: str = ""
    kinds: dict[str, int] = field(default_factory=dict)
    in_vain: dict[str, dict[str, dict[str, int]]] = field(default_factory=dict)

    def count(self, answer: str, kind: str | None = None) -> None:
        """Note one answer; a `kind` says why it cannot be used."""
        self.asked += 1
        if kind is not None:
            self.kinds = {**self.kinds, kind: self.kinds.get(kind, 0) + 1}
        if kind in (None, "unchanged"):
            self.in_a_row = 0
            return
        self.in_a_row += 1
        self.unusable += 1
        self.example = self.example or " ".join(answer.split())[:_MOST_EXAMPLE] or f"({kind})"

    def brought_nothing(self, task: Task) -> None:
        """Note that a question taught nothing new."""
        of_parent = self.in_vain.get(task.parent.id, {})
        times = Counter(of_parent.get(task.section, {}))
        times.update(task.failures)
        of_parent = {**of_parent, task.section: dict(times)}
        self.in_vain = {**self.in_vain, task.parent.id: of_parent}

    def in_words(self) -> str:
        """The kinds with their numbers, the most frequent first."""
        often = sorted(self.kinds.items(), key=lambda one: (-one[1], one[0]))
        return ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in often)


@dataclass(frozen=True, kw_only=True)
class Reflection:
    """Asks one meta-model on behalf of one step."""

    asker: Asker
    view: StepView
    history: TrialHistory
    directives: Mapping[str, str] = field(default_factory=dict)
    guidance: str | None = None
    section_guidance: Mapping[str, str] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)

    async def moves(self, tasks: Sequence[Task]) -> list[Move]:
        """Rewrites, each to be tried on the failures that it saw and an item that passed."""
        questions = [await self._question(task) for task in tasks]
        answers = await self.asker.ask_each([(one.prompt(), one.schema()) for one in questions])
        failed = [one for one in answers if isinstance(one, BaseException)]
        if failed and len(failed) == len(answers):
            # Nobody is there: that is no result of a search, and a resumed run may go on.
            raise failed[0]
        found: dict[str, Move] = {}
        for task, question, answer in zip(tasks, questions, answers, strict=True):
            read = self._read(question, answer)
            if isinstance(read, Unusable):
                self.tally.brought_nothing(task)
                continue
            said, parent = read.reason, task.parent
            made = parent.candidate.configuration.with_sections({task.section: read.text})
            move = self.view.move(
                made,
                parent,
                [*task.failures, *task.passed],
                said=said or f"The section {task.section} was written anew.",
                kind="rewrite",
                section=task.section,
                shown=[*task.failures, *task.passed],
            )
            if made.hash in found or not self.view.is_new(move):
                self.tally.brought_nothing(task)
            else:
                found[made.hash] = move
        return list(found.values())

    def _read(
        self, question: Question, answer: ModelResponse | BaseException
    ) -> Rewritten | Unusable:
        """What came of one call, counted."""
        if isinstance(answer, BaseException):
            self.tally.count(str(answer) or type(answer).__name__, "failed")
            return Unusable("failed")
        read = question.read(answer.text, answer.finish_reason)
        self.tally.count(answer.text, read.kind if isinstance(read, Unusable) else None)
        return read

    async def _question(self, task: Task) -> Question:
        texts, section = task.parent.candidate.configuration.sections, task.section
        return Question(
            section=section,
            text=texts[section],
            facts=self.view.facts,
            failed=tuple((await self._shown(task.parent, task.failures)).values()),
            passed=tuple((await self._shown(task.parent, task.passed)).values()),
            others={path: text for path, text in texts.items() if path != section},
            refined=recurring_reasons(
                task.parent.results[item]
                for item in self.view.items.pool
                if item in task.parent.results
            ),
            tried=self._tried(task),
            directive=self.directives.get(section, ""),
            guidance=tuple(
                one for one in (self.guidance, self.section_guidance.get(section)) if one
            ),
            max_tokens=self.view.settings.max_prompt_tokens,
            by_schema=self.asker.by_schema,
        )

    def _tried(self, task: Task) -> tuple[str, ...]:
        """The latest rewrites of a parent's section: what they said, and what they gained."""
        evidence, parent, found = self.view.evidence, task.parent, []
        for child in evidence.children(parent):
            if child.kind != "rewrite" or child.section != task.section:
                continue
            shared = sum(1 for item in child.results if item in parent.results)
            said = " ".join((child.candidate.rationale or "no reason was given").split())
            gain = evidence.gain(child, parent)
            found.append(f"{gain:+.2g} on {shared} tasks: {said[:_MOST_SAID]}")
        in_vain = self.view.in_vain.get(parent.id, {}).get(task.section, {})
        if times := max((in_vain.get(item, 0) for item in task.failures), default=0):
            found.append(f"shown {counted(times, 'time')} before, these tasks led to no new text")
        return tuple(found[-_MOST_TRIED:])

    async def _shown(self, parent: Known, item_ids: Sequence[str]) -> Mapping[str, Shown]:
        items = await self.history.load_items(item_ids)
        return {item.id: Shown(item=item, result=parent.results[item.id]) for item in items}
