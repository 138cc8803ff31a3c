"""The items: tickets that each touch one or two topics, and how often each kind comes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .draws import draw, pick, shuffled
from .statements import REF, words_of
from .vocabulary import DAYS, ENDINGS, JOINS, OPENINGS

Row = dict[str, Any]

_ATTEMPTS = 1_000
_SPLIT_REFS = 20_000
_FIRST_REF = {"train": 0, "validation": _SPLIT_REFS}


@dataclass(frozen=True)
class Kind:
    """Tickets on the same topics, and their share of all tickets."""

    topics: tuple[str, ...]
    share: float


def make_kinds(topics: Sequence[str], *, pairs: float, seed: object) -> tuple[Kind, ...]:
    """Single topics of unequal shares, and a share `pairs` of tickets with two topics."""
    weights = [1.0 + 1.5 * draw(seed, "share", topic) for topic in topics]
    whole = sum(weights)
    singles = [
        Kind((topic,), (1 - pairs) * weight / whole)
        for topic, weight in zip(topics, weights, strict=True)
    ]
    ring = shuffled(topics, seed, "pairs")
    both = [
        Kind((first, second), pairs / len(ring))
        for first, second in zip(ring, [*ring[1:], ring[0]], strict=True)
    ]
    return (*singles, *both)


def make_rows(
    kinds: Sequence[Kind], rules: Mapping[str, str], *, split: str, count: int, seed: object
) -> list[Row]:
    """Independent draws of tickets; drawn again until every topic occurs, if there is room."""
    wanted = set(rules) if count >= 3 * len(rules) else set()
    for attempt in range(_ATTEMPTS):
        drawn = [_kind_at(kinds, draw(seed, split, attempt, n)) for n in range(count)]
        if wanted <= {topic for kind in drawn for topic in kind.topics}:
            break
    return [
        _row(kind, rules, split=split, number=n, ref=_ref(split, n, seed), seed=seed)
        for n, kind in enumerate(drawn)
    ]


def topics_of(row: Mapping[str, Any], rules: Mapping[str, str]) -> list[str]:
    """The topics that a ticket touches, in the order of its text."""
    return [word for word in dict.fromkeys(words_of(str(row["message"]))) if word in rules]


def ref_of(row: Mapping[str, Any]) -> str:
    """The ticket's own number."""
    found = REF.search(str(row["message"]))
    if found is None:
        raise ValueError(f"the message names no ticket: {row['message']!r}")
    return found.group()


def _ref(split: str, number: int, seed: object) -> str:
    """A ticket's number: no two of a world are alike, because the step and the range are coprime."""
    first = _FIRST_REF.get(split, 2 * _SPLIT_REFS)
    return f"T-{10_000 + (int(90_000 * draw(seed, 'refs')) + 7_919 * (first + number)) % 90_000}"


def _kind_at(kinds: Sequence[Kind], place: float) -> Kind:
    for kind in kinds:
        place -= kind.share
        if place < 0:
            return kind
    return kinds[-1]


def _row(
    kind: Kind, rules: Mapping[str, str], *, split: str, number: int, ref: str, seed: object
) -> Row:
    key = (seed, split, number)
    text = pick(OPENINGS, *key, "opening").format(kind.topics[0])
    for topic in kind.topics[1:]:
        text += pick(JOINS, *key, "join", topic).format(topic)
    text += pick(ENDINGS, *key, "ending").format(day=pick(DAYS, *key, "day"), number=ref[-2:])
    return {
        "id": f"{split}-{number:03d}",
        "message": f"[{ref}] {text}",
        "expected": f"{ref}: " + ", ".join(rules[topic] for topic in kind.topics),
        "split": split,
    }
