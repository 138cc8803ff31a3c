"""What the simulated model understands of a prompt."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from .vocabulary import ACTIONS, TOPICS

_BREAK = re.compile(r"\n+|(?<=[.!?;])\s+")
_MARKER = re.compile(r"^\s*(?:[-*•#>]+|\(?\d{1,3}[.):](?=\s)|\(?[a-z][.)](?=\s))\s*", re.IGNORECASE)
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")
REF = re.compile(r"\bT-\d{5}\b")
_TOPICS = frozenset(TOPICS)
_ACTIONS = frozenset(ACTIONS)


def split_statements(text: str) -> list[str]:
    """Sentences and lines without their markers; empty ones are left out.

    A line that names a ticket stays whole, because the ticket's own text may be quoted in it.
    """
    found: list[str] = []
    for line in text.splitlines():
        parts = [line] if REF.search(line) else _BREAK.split(line)
        found += [bare for part in parts if (bare := strip_marker(part))]
    return found


def strip_marker(line: str) -> str:
    """The line without bullets, numbers and outer white space."""
    previous = None
    while previous != line:
        previous, line = line, _MARKER.sub("", line).strip()
    return line.strip("*_ \t")


def words_of(text: str) -> list[str]:
    """Lower-case words; a hyphenated one is one word."""
    return _WORD.findall(text.lower())


def length_of(text: str) -> int:
    """Tokens of a text, roughly: its words by white space."""
    return len(text.split())


@dataclass(frozen=True)
class Reading:
    """The content of one text. Saying a thing twice adds nothing, except to the length."""

    directives: Mapping[str, frozenset[str]]
    """Actions asserted for each topic."""
    quoted: Mapping[str, frozenset[str]]
    """Actions quoted for each ticket: lines that name a ticket hold for that ticket only."""
    words: frozenset[str]
    content: str
    """All statements in a fixed order, normalised: what is the same however it is laid out."""
    length: int = 0

    def has(self, word: str) -> bool:
        """Whether the rare word of a special line stands in the text."""
        return word in self.words


@dataclass
class _Notes:
    directives: dict[str, set[str]] = field(default_factory=dict)
    quoted: dict[str, set[str]] = field(default_factory=dict)
    words: set[str] = field(default_factory=set)
    statements: set[str] = field(default_factory=set)


@lru_cache(maxsize=20_000)
def read(text: str) -> Reading:
    """The content of a text."""
    notes = _Notes()
    for statement in split_statements(text):
        words = words_of(statement)
        notes.words.update(words)
        notes.statements.add(" ".join(words) + " ".join(REF.findall(statement)))
        refs = REF.findall(statement)
        if refs:
            for ref in refs:
                notes.quoted.setdefault(ref, set()).update(_ACTIONS.intersection(words))
            continue
        for topic, action in pairs_in(words):
            notes.directives.setdefault(topic, set()).add(action)
    return Reading(
        directives={topic: frozenset(said) for topic, said in notes.directives.items()},
        quoted={ref: frozenset(said) for ref, said in notes.quoted.items()},
        words=frozenset(notes.words),
        content="\n".join(sorted(notes.statements)),
        length=length_of(text),
    )


def pairs_in(words: Collection[str]) -> Iterator[tuple[str, str]]:
    """Topics with the actions asserted for them: an action belongs to the topic before it."""
    topic: str | None = None
    waiting: list[str] = []
    for word in words:
        if word in _TOPICS:
            topic = word
            yield from ((topic, action) for action in waiting)
            waiting = []
        elif word in _ACTIONS:
            if topic is None:
                waiting.append(word)
            else:
                yield topic, word
