"""Meta-model question about one section: its scored history, where it fails, and what to write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from burnish.domain import Configuration, Json, placeholders
from burnish.optimizers.shared.acceptance import with_text
from burnish.optimizers.shared.answer_reading import Unusable, read_answer
from burnish.optimizers.shared.cleaning import fence
from burnish.optimizers.shared.copied_answers import without_copies
from burnish.optimizers.shared.facts import RunFacts
from burnish.optimizers.shared.reflection import Shown, feedback_of, inputs_of

_MOST_OUTPUT = 1_500
_MOST_OTHER = 600
# Each place of a step is asked for something else, so that equal models don't answer alike.
WAYS = (
    "Keep what works in the best text, and change or add what its failures call for.",
    "Write a text that differs clearly from all of the texts above, and that you expect to score "
    "higher.",
    "Join the strengths of the texts with the highest scores in one text.",
    "Make the best text clearer and shorter, and name the rule that is missing most.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A text that was tried, and the score of the prompt that it was part of."""

    text: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """A configuration with the text of an answer. `cut` says that lines were left out of it."""

    configuration: Configuration
    says: str
    cut: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MetaQuestion:
    """One call. `scored` is in ascending order of scores, without the text itself."""

    section: str
    text: str
    score: float
    scored: Sequence[Scored]
    failed: Sequence[Shown]
    others: Mapping[str, str]
    facts: RunFacts
    max_chars: int
    way: str
    whose: str = "the best prompt so far"

    def prompt(self) -> str:
        """The text that the model gets."""
        return "\n\n".join(
            [
                "You improve the prompt of an assistant. The aim is a higher score on new tasks.",
                f"This is the section `{self.section}` of {self.whose}, which scored "
                f"{self.score:.4g}:\n{fence(self.text)}",
                *self._others(),
                *self._history(),
                *self._failures(),
                self._task(),
            ]
        )

    def read(self, answer: str, whole: Configuration, *, baseline: Configuration) -> Rewrite | None:
        """What an answer makes of a configuration; None when it is garbage or learnt by heart."""
        told = read_answer(answer, self.text, section=self.section)
        if isinstance(told, Unusable):
            return None
        before = "\n".join(baseline.sections.values())
        text = without_copies(told.text, before, [one.item for one in self.failed])
        made = with_text(whole, self.section, text) if text else None
        if made is None:
            return None
        says = told.reason or f"A new text of {self.section}."
        return Rewrite(configuration=made, says=says, cut=text != told.text)

    def _others(self) -> list[str]:
        lines = [
            f"> {path}: {' '.join(text.split())[:_MOST_OTHER]}"
            for path, text in self.others.items()
        ]
        return ["The other sections of the prompt:\n" + "\n".join(lines)] if lines else []

    def _history(self) -> list[str]:
        if not self.scored:
            return []
        tried = [f"Score {one.score:.4g}:\n{fence(one.text)}" for one in self.scored]
        return [
            "Texts of this section that were tried, with the scores that they got, in ascending "
            "order of scores:",
            *tried,
        ]

    def _failures(self) -> list[str]:
        if not self.failed:
            return []
        return [
            "Tasks that the assistant got wrong, with what it answered and how that was judged:",
            *(_case(number, one, self.facts) for number, one in enumerate(self.failed, start=1)),
        ]

    def _task(self) -> str:
        names = ", ".join(f"{{{{{name}}}}}" for name in dict.fromkeys(placeholders(self.text)))
        kept = f" Keep {names} exactly as it is written." if names else ""
        given = ", ".join(self.facts.labels)
        labels = f" The answers are: {given}." if given else ""
        return (
            f"Write a new text of the section `{self.section}`. {self.way} State general rules; "
            f"copy neither the tasks above nor their answers.{labels}{kept} Use at most "
            f"{self.max_chars} characters.\n\n"
            "First say in one sentence what is new in it. Then give the whole text within ``` "
            "fences, and nothing after it."
        )


def shortened(value: Json, most: int) -> str:
    """A text that is cut where it gets long."""
    text = str(value)
    return text if len(text) <= most else f"{text[:most]} …"


def _case(number: int, shown: Shown, facts: RunFacts) -> str:
    output = shown.result.output
    said = shortened(output.text, _MOST_OUTPUT) if output else "(nothing)"
    return (
        f"# Task {number}\n{inputs_of(shown.item, facts)}\n"
        f"Answer of the assistant: {said}\nJudgement: {feedback_of(shown.result)}"
    )
