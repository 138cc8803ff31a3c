"""A prompt as statements: what it says, whatever its bullets, numbers, order and white space."""

from __future__ import annotations

import re

_BREAK = re.compile(r"\n+|(?<=[.!?;])\s+")
_MARKER = re.compile(r"^\s*(?:[-*•#>]+|\(?\d{1,3}[.):](?=\s)|\(?[a-z][.)](?=\s))\s*", re.IGNORECASE)
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")
REF = re.compile(r"\bT-\d{5}\b")


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
