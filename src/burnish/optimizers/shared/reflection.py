"""Reflection on one section: asking a meta-model to improve it, and reading its answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from burnish.domain import Item, ItemResult, Json
from burnish.optimizers.shared.cleaning import extract_rationale, extract_text, fence
from burnish.optimizers.shared.copied_answers import is_answer_field

_MOST_FIELD = 1_500
_MOST_TRACE = 800
_MOST_OTHER = 600
_MOST_IDEAS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One item as the meta-model sees it: what came in, what went out, what was wrong."""

    item: Item
    result: ItemResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One call: a section, the items to learn from, and what is known already."""

    section: str
    text: str
    failed: tuple[Shown, ...]
    passed: tuple[Shown, ...] = ()
    others: Mapping[str, str] | None = None
    helped: tuple[str, ...] = ()
    useless: tuple[str, ...] = ()
    refined: tuple[str, ...] = ()
    max_tokens: int | None = None
    rewrite: bool = False

    def prompt(self) -> str:
        """The text that the meta-model gets."""
        examples = [
            _example(number, shown)
            for number, shown in enumerate((*self.failed, *self.passed), start=1)
        ]
        parts = [
            f"You improve the instructions of an assistant. The section `{self.section}` of "
            "these instructions reads:",
            fence(self.text),
            "Below are tasks that the assistant was given, what it answered, and how that was "
            "judged.",
            *examples,
            *self._context(),
            self._task(),
        ]
        return "\n\n".join(parts)

    def _context(self) -> list[str]:
        found = []
        if self.others:
            found.append("Other sections, which stay as they are:\n" + _quoted(self.others))
        if self.refined:
            found.append(
                "Complaints about first answers that a second try resolved again and again. Say in "
                "the text what resolves them, so that the first answer is right:\n"
                + _bullets(self.refined)
            )
        if self.helped:
            found.append("Earlier changes that measurably helped:\n" + _bullets(self.helped))
        if self.useless:
            found.append(
                "Earlier changes that were tried and did not help (do not repeat them):\n"
                + _bullets(self.useless)
            )
        return found

    def _task(self) -> str:
        how = (
            "Write the section anew, as a whole, in the way that you think works best."
            if self.rewrite
            else "Keep every line that is still right exactly as it is; add, change or drop "
            "single lines."
        )
        limit = f" Stay below {self.max_tokens} tokens." if self.max_tokens else ""
        return (
            "Find out why the failed tasks failed, and what general rules or facts about the task "
            "would have prevented it. Do not copy the tasks above or their answers into the text: "
            f"it must work for new tasks. {how} Keep every {{{{placeholder}}}} as it is.{limit}\n\n"
            "First say in one or two sentences what you change and why. Then give the full new "
            "text of the section within ``` fences."
        )


def read_answer(answer: str, current: str) -> tuple[str, str] | None:
    """The new text and what was said about it; None when there is nothing new to use."""
    text = extract_text(answer, current=current)
    if text is None or text.strip() == current.strip():
        return None
    return text, extract_rationale(answer)


def feedback_of(result: ItemResult) -> str:
    """What the scorers said, or what went wrong."""
    if result.error is not None:
        return f"error: {result.error.message}"
    reasons = [one.reason or one.error or "" for one in result.scores]
    said = " ".join(reason for reason in reasons if reason)
    verdict = "correct" if result.passed else "wrong"
    return f"{verdict}, score {result.score:g}. {said}".strip()


def inputs_of(item: Item) -> str:
    """The item's fields but for those that hold the answer: feedback tells what was wrong."""
    return "\n".join(
        f"{name}: {_short(_without_answers(value), _MOST_FIELD)}"
        for name, value in item.data.items()
        if not is_answer_field(name)
    )


def _example(number: int, shown: Shown) -> str:
    output = shown.result.output
    lines = [
        f"# Example {number}",
        f"## Inputs\n{inputs_of(shown.item)}",
        f"## Generated Outputs\n{_short(output.text if output else '', _MOST_FIELD)}",
        f"## Feedback\n{feedback_of(shown.result)}",
    ]
    if output is not None and output.trace:
        lines.insert(3, f"## Trace\n{_short(output.trace, _MOST_TRACE)}")
    return "\n".join(lines)


def _without_answers(value: Json) -> Json:
    """Nested fields that hold the answer are left out as well."""
    if isinstance(value, Mapping):
        return {
            name: _without_answers(inner)
            for name, inner in value.items()
            if not is_answer_field(name)
        }
    if isinstance(value, list):
        return [_without_answers(inner) for inner in value]
    return value


def _short(value: Json, most: int) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= most else f"{text[:most]} …"


def _quoted(sections: Mapping[str, str]) -> str:
    return "\n".join(
        f"> {path}: {' '.join(text.split())[:_MOST_OTHER]}" for path, text in sections.items()
    )


def _bullets(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines[:_MOST_IDEAS])
