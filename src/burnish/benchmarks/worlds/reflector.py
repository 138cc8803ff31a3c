"""The simulated reflection model: reads any optimizer's prompt and writes a new text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from .draws import digest, draw, pick, shuffled
from .nature import Habits
from .reading import REF, length_of, pairs_in, read, split_statements, strip_marker, words_of
from .vocabulary import (
    ACTIONS,
    HARMFUL_LINES,
    MEMORY_LINE,
    RULE_LINES,
    TOPICS,
    USELESS_LINES,
    VAGUE_LINES,
)

_MOST_COPIED = 4
_RESTATE = 0.3
_MEND = 0.7
_WRITE_ELSEWHERE = 0.5
_BULLETS = ("- ", "* ", "", "- ")
_CHATTER = (
    "I looked at the examples and what was said about them.",
    "The answers show a pattern that the instructions do not cover yet.",
    "Here is my analysis: some tickets need steps that are not written down.",
)
_CLOSINGS = ("This should cover the cases above.", "I kept the rest as it was.", "")
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


class Task(Protocol):
    """What the reflector knows of its world: less than the rules, which it must read."""

    key: str
    sections: dict[str, str]

    def home(self, topic: str) -> str | None:
        """The section in which a rule on this topic works."""

    def special_lines(self, topic: str, key: str) -> list[str] | None:
        """Lines that stand in for a plain rule on this topic."""

    def extra_lines(self, current: str, key: str) -> list[str]:
        """Lines that it adds to any text."""


class Reflector:
    """Answers one prompt; every draw is hashed from the prompt and the world's seed."""

    def __init__(self, task: Task, habits: Habits) -> None:
        self._task = task
        self._habits = habits
        self._key = ""

    def answer(self, prompt: str) -> str:
        """Some words, and the new text in a fence."""
        self._key = digest(self._task.key, prompt)
        told = understand(prompt, self._task.sections)
        lines = self._revise(told.current.splitlines())
        for complaint in self._chosen(told):
            lines = self._act(lines, complaint, told)
        lines += self._copied(told, lines)
        lines += self._extras(told)
        if told.most_words is not None and self._draw("limit") < self._habits.obey:
            lines = self._fitted(lines, told.most_words)
        text = "\n".join(lines).strip("\n")
        opening, closing = self._pick(_CHATTER, "chatter"), self._pick(_CLOSINGS, "closing")
        return f"{opening}\n\n```\n{text}\n```\n{closing}".rstrip("\n")

    def _chosen(self, told: Understood) -> list[Complaint]:
        """The complaints it acts upon: one a topic, at most as many as it can hold."""
        said = read(told.current).directives
        section = self._section(told.current)
        fitting: dict[str, Complaint] = {}
        for one in shuffled(told.complaints, self._key, "complaints"):
            known = said.get(one.topic) == frozenset({one.action})
            if known and self._draw("restate", one.topic) >= _RESTATE:
                continue
            home = self._task.home(one.topic)
            foreign = home is not None and home != section
            if foreign and self._draw("foreign", one.topic) >= _WRITE_ELSEWHERE:
                continue
            avoid = (one.topic, one.action) in told.avoided
            if avoid and self._draw("avoid", one.topic) < self._habits.obey:
                continue
            fitting.setdefault(one.topic, one)
        return list(fitting.values())[: self._habits.capacity]

    def _act(self, lines: list[str], complaint: Complaint, told: Understood) -> list[str]:
        """The text with what it makes of one complaint."""
        habits, topic = self._habits, complaint.topic
        place = self._draw("outcome", topic, complaint.ref)
        if place < habits.right:
            if self._draw("mend", topic) < _MEND:
                lines = [line for line in lines if not self._contradicts(line, complaint)]
            special = self._task.special_lines(topic, self._key)
            if special is not None:
                tried = len(special) == 1 and self._is_avoided(special[0], told)
                return lines + ([] if tried else [f"- {line}" for line in special])
            return [*lines, self._rule(topic, complaint.action)]
        place -= habits.right
        if place < habits.wrong:
            others = [action for action in ACTIONS if action != complaint.action]
            return [*lines, self._rule(topic, self._pick(others, "wrong", topic))]
        place -= habits.wrong
        if place < habits.vague:
            return [*lines, "- " + self._pick(VAGUE_LINES, "vague", topic).format(topic=topic)]
        place -= habits.vague
        if place < habits.memory:
            return [*lines, self._memory(complaint, told)]
        return lines

    def _rule(self, topic: str, action: str) -> str:
        bullet = self._pick(_BULLETS, "bullet", topic)
        return bullet + self._pick(RULE_LINES, "line", topic).format(topic=topic, action=action)

    def _memory(self, complaint: Complaint, told: Understood) -> str:
        of_ticket = [one.action for one in told.complaints if one.ref == complaint.ref]
        answer = told.answers.get(complaint.ref) or ", ".join(of_ticket)
        message = told.messages.get(complaint.ref, f"… {complaint.topic} …").strip('" ')
        return "- " + MEMORY_LINE.format(ref=complaint.ref, message=message, answer=answer)

    def _copied(self, told: Understood, lines: Sequence[str]) -> list[str]:
        said = read("\n".join(lines)).directives
        new = [pair for pair in told.elsewhere if pair[0] not in said]
        chosen = [pair for pair in new if self._draw("copy", *pair) < self._habits.copy]
        return [self._rule(topic, action) for topic, action in chosen[:_MOST_COPIED]]

    def _extras(self, told: Understood) -> list[str]:
        """Lines that nobody asked for, but for those that were advised against."""
        made = self._task.extra_lines(told.current, self._key)
        if self._draw("useless") < self._habits.useless:
            made.append(self._pick(USELESS_LINES, "useless line"))
        if self._draw("harmful") < self._habits.harmful:
            made.append(self._pick(tuple(HARMFUL_LINES.values()), "harmful line"))
        return [f"- {line}" for line in made if not self._is_avoided(line, told)]

    def _is_avoided(self, line: str, told: Understood) -> bool:
        """Whether a line was shown as tried before, and the advice is taken."""
        return line in told.rest and self._draw("obey", line) < self._habits.obey

    def _revise(self, lines: Sequence[str]) -> list[str]:
        """The old lines: some worded anew, some forgotten, perhaps one that does nothing left out."""
        opening = {split_statements(text)[0] for text in self._task.sections.values()}
        kept: list[str] = []
        for number, line in enumerate(lines):
            if not line.strip() or split_statements(line)[0] in opening:
                kept.append(line)
            elif self._draw("drop", number, line) >= self._habits.drop:
                kept.append(self._reworded(line, number))
        idle = self._idle(kept)
        if idle and self._draw("condense") < self._habits.condense:
            del kept[idle[int(self._draw("idle") * len(idle))]]
        return kept

    def _idle(self, lines: Sequence[str]) -> list[int]:
        """Places of lines that seem to do nothing: without a rule, or with one that was said before."""
        opening = {split_statements(text)[0] for text in self._task.sections.values()}
        said: set[frozenset[object]] = set()
        found = []
        for number, line in enumerate(lines):
            if not line.strip() or split_statements(line)[0] in opening:
                continue
            reading = read(line)
            content = frozenset(reading.directives.items())
            if not reading.quoted and (not content or content in said):
                found.append(number)
            said.add(content)
        return found

    def _fitted(self, lines: list[str], most_words: int) -> list[str]:
        """Fewer lines that do nothing, until the text is as short as was asked for."""
        kept = list(lines)
        while sum(length_of(line) for line in kept) > most_words and (idle := self._idle(kept)):
            del kept[idle[-1]]
        return kept

    def _reworded(self, line: str, number: int) -> str:
        pairs = list(read(line).directives.items())
        if self._draw("reword", number, line) >= self._habits.reword:
            return line
        if len(pairs) == 1 and len(pairs[0][1]) == 1 and len(split_statements(line)) == 1:
            topic, actions = pairs[0]
            return self._rule(topic, next(iter(actions)))
        return f"{self._pick(_BULLETS, 'bullet', number)}{strip_marker(line)}"

    def _contradicts(self, line: str, complaint: Complaint) -> bool:
        said = read(line).directives.get(complaint.topic, frozenset())
        return bool(said) and complaint.action not in said

    def _section(self, text: str) -> str | None:
        """Which section a text is a version of, by its opening."""
        said = set(words_of(text))
        overlaps = {
            name: _overlap(words_of(split_statements(baseline)[0]), said)
            for name, baseline in self._task.sections.items()
        }
        return max(overlaps, key=lambda name: overlaps[name]) if any(overlaps.values()) else None

    def _draw(self, *parts: object) -> float:
        return draw(self._key, *parts)

    def _pick(self, options: Sequence[str], *parts: object) -> str:
        return pick(options, self._key, *parts)


def _overlap(words: Sequence[str], said: set[str]) -> float:
    return sum(word in said for word in words) / max(len(words), 1)


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
