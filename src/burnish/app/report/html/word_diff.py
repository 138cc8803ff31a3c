"""What changed between two texts, word by word."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from burnish.app.report.html.markup import safe

# A piece of text that both have, that only the first has, or that only the second has.
Piece = tuple[str, str]
SAME, REMOVED, ADDED = "same", "removed", "added"

# A word or a sign with the space behind it; only the word decides what is equal.
Word = tuple[str, str]
_WORD = re.compile(r"(\w+|[^\w\s]|^)(\s*)")
# Beyond so many pairs of equal words, lines are compared first and words only within them.
_MAX_PAIRS = 60_000
# Equal pieces up to so long are no landmarks between two longer changes.
_SCRAP = 12


def word_diff(before: str, after: str) -> list[Piece]:
    """Pieces in reading order, removals before the additions that replace them."""
    old, new = _words(before), _words(after)
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


def _words(text: str) -> list[Word]:
    return [(word, space) for word, space in _WORD.findall(text) if word or space]


def _by_words(old: Sequence[Word], new: Sequence[Word]) -> Iterator[Piece]:
    matcher = SequenceMatcher(None, [w for w, _ in old], [w for w, _ in new], autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag != "equal":
            yield REMOVED, _joined(old[a:b])
            yield ADDED, _joined(new[c:d])
            continue
        for (word, before), (_, after) in zip(old[a:b], new[c:d], strict=True):
            if before == after:
                yield SAME, word + before
            else:
                yield from ((SAME, word), (REMOVED, before), (ADDED, after))


def _by_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[Piece]:
    for tag, a, b, c, d in SequenceMatcher(None, old, new).get_opcodes():
        if tag == "equal":
            yield SAME, "".join(old[a:b])
        elif b - a == d - c:
            for before, after in zip(old[a:b], new[c:d], strict=True):
                yield from _by_words_if_few(before, after)
        else:
            yield from _by_words_if_few("".join(old[a:b]), "".join(new[c:d]))


def _by_words_if_few(before: str, after: str) -> Iterator[Piece]:
    old, new = _words(before), _words(after)
    if _pairs(old, new) <= _MAX_PAIRS:
        yield from _by_words(old, new)
    else:
        yield from ((REMOVED, before), (ADDED, after))


def _joined(words: Sequence[Word]) -> str:
    return "".join(word + space for word, space in words)


def _pairs(old: Sequence[Word], new: Sequence[Word]) -> int:
    """How many pairs of equal words there are: what finding the longest match costs."""
    counts = Counter(word for word, _ in new)
    return sum(counts[word] for word, _ in old)


def _tidied(pieces: Iterator[Piece]) -> list[Piece]:
    """One change between two equal pieces; a scrap that is equal by chance joins the changes."""
    changes = _changes(pieces)
    found: list[Piece] = []
    removed, added, same = changes[0]
    for gone, come, then in changes[1:]:
        if len(same) <= min(_SCRAP, max(len(removed), len(added)), max(len(gone), len(come))):
            removed, added, same = removed + same + gone, added + same + come, then
        else:
            found += [(REMOVED, removed), (ADDED, added), (SAME, same)]
            removed, added, same = gone, come, then
    found += [(REMOVED, removed), (ADDED, added), (SAME, same)]
    return [one for one in found if one[1]]


def _changes(pieces: Iterator[Piece]) -> list[tuple[str, str, str]]:
    """What was removed, what was added and what stayed behind that, over and over."""
    found: list[tuple[str, str, str]] = []
    removed = added = same = ""
    for kind, text in pieces:
        if kind != SAME and text and same:
            found.append((removed, added, same))
            removed = added = same = ""
        removed += text if kind == REMOVED else ""
        added += text if kind == ADDED else ""
        same += text if kind == SAME else ""
    return [*found, (removed, added, same)]
