"""What the simulated reflection model understands of the prompt of any optimizer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from .reading import pairs_in, read
from .statements import REF, split_statements, words_of
from .vocabulary import TOPICS

_FENCE = re.compile(r"```[^\n`]*\n(.*?)\n?[ \t]*```", re.DOTALL)
_COMPLAINT = re.compile(
    r"In (T-\d{5}) the part about the ([a-z]+) should have said ([a-z]+(?:-[a-z]+)*)"
)
_MESSAGE = re.compile(r"\[(T-\d{5})\]([^\n]*)")
_EXPECTED = re.compile(
    r"(?:expected|correct|reference|target|gold|desired)[\w ]*\W{1,12}"
    r"(T-\d{5}): ([a-z-]+(?:, [a-z-]+)*)",
    re.IGNORECASE,
)
# Quoted for orientation; a model that is told so takes nothing over from there.
_BESIDE = re.compile(r"\bother sections\b", re.IGNORECASE)
_LIMIT = re.compile(
    r"(?:below|at most|within|no more than|under) (\d+) (tokens|words|characters)", re.IGNORECASE
)
_WORDS_A_UNIT = {"tokens": 0.75, "words": 1.0, "characters": 1 / 6}
_AVOID = re.compile(
    r"reject|did not help|not help|worse|avoid|do not repeat|don't repeat|failed (?:ideas|attempts)"
    r"|tried (?:before|already)|already tried",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Complaint:
    """What went wrong with one part of one ticket."""

    ref: str
    topic: str
    action: str


@dataclass(frozen=True)
class Understood:
    """The parts of a reflection prompt that the simulated model makes use of."""

    current: str
    rest: str
    """The prompt without the current text."""
    complaints: tuple[Complaint, ...]
    messages: Mapping[str, str]
    """Texts of tickets by number."""
    answers: Mapping[str, str]
    """Right answers of tickets by number, as far as they are known from the prompt."""
    elsewhere: tuple[tuple[str, str], ...]
    """Rules that stand outside the current text, such as in other candidates."""
    avoided: frozenset[tuple[str, str]]
    """Rules that the prompt advises against."""
    most_words: int | None
    """The length that the prompt asks the new text to stay below."""


def understand(prompt: str, sections: Mapping[str, str]) -> Understood:
    """Read a prompt. JSON-escaped line breaks count as line breaks."""
    prompt = prompt.replace("\\n", "\n").replace('\\"', '"')
    current, rest = _current(prompt, sections)
    messages = {ref: text.strip() for ref, text in _MESSAGE.findall(rest)}
    expected = dict(_EXPECTED.findall(rest))
    complaints = [Complaint(*found) for found in _COMPLAINT.findall(rest)]
    complaints += _inferred(messages, expected)
    elsewhere, avoided = _other_rules(rest)
    return Understood(
        current=current,
        rest=rest,
        complaints=tuple(dict.fromkeys(complaints)),
        messages=messages,
        answers=expected,
        elsewhere=elsewhere,
        avoided=avoided,
        most_words=_most_words(rest),
    )


def _current(prompt: str, sections: Mapping[str, str]) -> tuple[str, str]:
    """The first fenced text that looks like instructions of this world, and all around it."""
    fences = list(_FENCE.finditer(prompt))
    anchors = [set(words_of(split_statements(text)[0])) for text in sections.values()]
    known = [fence for fence in fences if _is_instruction(fence.group(1), anchors)]
    if not fences:
        return next(iter(sections.values())), prompt
    chosen = (known or fences)[0]
    return chosen.group(1).strip("\n"), prompt[: chosen.start()] + prompt[chosen.end() :]


def _is_instruction(text: str, anchors: list[set[str]]) -> bool:
    if read(text).directives and not REF.search(text):
        return True
    said = [set(words_of(statement)) for statement in split_statements(text)]
    return any(len(anchor & one) >= 0.6 * len(anchor) for anchor in anchors for one in said)


def _inferred(messages: Mapping[str, str], expected: Mapping[str, str]) -> list[Complaint]:
    """What a ticket beside its right answer tells, complaint or not."""
    found: list[Complaint] = []
    for ref, answer in expected.items():
        words = dict.fromkeys(words_of(messages.get(ref, "")))
        topics, actions = [word for word in words if word in TOPICS], answer.split(", ")
        if len(topics) == len(actions):
            found += [Complaint(ref, *pair) for pair in zip(topics, actions, strict=True)]
    return found


def _most_words(rest: str) -> int | None:
    found = _LIMIT.search(rest)
    return int(int(found.group(1)) * _WORDS_A_UNIT[found.group(2).lower()]) if found else None


def _other_rules(
    rest: str,
) -> tuple[tuple[tuple[str, str], ...], frozenset[tuple[str, str]]]:
    """Rules in the rest of the prompt: those to take over, and those that it advises against.

    What a line says of the lines below it holds for their block, or to the next heading.
    """
    found: list[tuple[str, str]] = []
    avoided: set[tuple[str, str]] = set()
    mood, listed = "", False
    for line in rest.splitlines():
        if line.startswith("#") or line.rstrip().endswith(":"):
            against, beside = _AVOID.search(line), _BESIDE.search(line)
            mood, listed = "avoid" if against else "beside" if beside else "", False
        elif line.strip():
            listed = True
        elif listed:
            mood = ""
        parts = [] if REF.search(line) else split_statements(line)
        pairs = [pair for part in parts for pair in pairs_in(words_of(part))]
        if mood == "avoid":
            avoided.update(pairs)
        elif not mood:
            found += pairs
    kept = tuple(pair for pair in dict.fromkeys(found) if pair not in avoided)
    return kept, frozenset(avoided)
