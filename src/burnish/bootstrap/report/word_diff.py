"""What changed between two texts, word by word."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from burnish.bootstrap.report.markup import safe

# A piece of text that both have, that only the first has, or that only the second has.
Piece = tuple[str, str]
SAME, REMOVED, ADDED = "same", "removed", "added"

_WORD = re.compile(r"\w+|[^\w\s]|\s+")
# Beyond so many pairs of equal words, lines are compared first and words only within them.
_MAX_PAIRS = 400_000


def word_diff(before: str, after: str) -> list[Piece]:
    """Pieces in reading order, removals before the additions that replace them."""
    old, new = _WORD.findall(before), _WORD.findall(after)
    if _pairs(old, new) <= _MAX_PAIRS:
        return _tidied(_by_words(old, new))
    return _tidied(_by_lines(before.splitlines(keepends=True), after.splitlines(keepends=True)))


def diff_html(before: str, after: str) -> str:
    """The difference as safe HTML."""
    tags = {SAME: "", REMOVED: "del", ADDED: "ins"}
    return "".join(
        f"<{tags[kind]}>{safe(text)}</{tags[kind]}>" if tags[kind] else safe(text)
        for kind, text in word_diff(before, after)
    )


def _by_words(old: Sequence[str], new: Sequence[str]) -> Iterator[Piece]:
    for tag, a, b, c, d in SequenceMatcher(str.isspace, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield SAME, "".join(old[a:b])
            continue
        if a < b:
            yield REMOVED, "".join(old[a:b])
        if c < d:
            yield ADDED, "".join(new[c:d])


def _by_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[Piece]:
    for tag, a, b, c, d in SequenceMatcher(None, old, new).get_opcodes():
        gone, come = "".join(old[a:b]), "".join(new[c:d])
        if tag == "equal":
            yield SAME, gone
        elif _pairs(words := _WORD.findall(gone), others := _WORD.findall(come)) <= _MAX_PAIRS:
            yield from _by_words(words, others)
        else:
            yield from ((REMOVED, gone), (ADDED, come))


def _pairs(old: Sequence[str], new: Sequence[str]) -> int:
    """How many pairs of equal words there are: what finding the longest match costs."""
    counts = Counter(word for word in new if not word.isspace())
    return sum(counts[word] for word in old if not word.isspace())


def _tidied(pieces: Iterator[Piece]) -> list[Piece]:
    """Changes with nothing but space between them become one."""
    found: list[Piece] = []
    removed = added = space = ""
    for kind, text in pieces:
        if kind == REMOVED:
            removed, added, space = removed + space + text, added + space, ""
        elif kind == ADDED:
            removed, added, space = removed + space, added + space + text, ""
        elif text.isspace() and "\n" not in text and removed.strip() and added.strip():
            space += text
        else:
            found += [one for one in ((REMOVED, removed), (ADDED, added)) if one[1]]
            found.append((SAME, space + text))
            removed = added = space = ""
    found += [one for one in ((REMOVED, removed), (ADDED, added), (SAME, space)) if one[1]]
    return found
