"""Refined reasons: complaints about first outputs that refinement resolved again and again."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from burnish.domain import ItemResult, Outcome

_WORD = re.compile(r"[^\W_]{3,}")
_MOST_REASONS = 5
_LONGEST = 300
# Two complaints are one when they share so much of the words of the shorter one.
_ALIKE = 0.6
_RECURS = 2
_RESOLVED = (Outcome.FIXED, Outcome.IMPROVED)


@dataclass(slots=True)
class _Complaint:
    text: str
    words: frozenset[str]
    items: set[str]


def recurring_reasons(results: Iterable[ItemResult]) -> tuple[str, ...]:
    """What judges said of first outputs that refinement then made better, the most frequent first.

    Of complaints that are alike in words the shortest stands for all; what was said of one item only
    is left out.
    """
    found: list[_Complaint] = []
    refined = 0
    for result in results:
        refinement = result.refinement
        if refinement is None or refinement.rounds == 0:
            continue
        refined += 1
        reason = " ".join(refinement.first_reason.split())[:_LONGEST]
        if refinement.outcome in _RESOLVED and reason:
            _add(found, reason, result.item_id)
    recurring = [one for one in found if len(one.items) >= _RECURS]
    recurring.sort(key=lambda one: (-len(one.items), one.text))
    return tuple(
        f"{one.text} ({len(one.items)} of {refined} refined answers)"
        for one in recurring[:_MOST_REASONS]
    )


def _add(found: list[_Complaint], reason: str, item_id: str) -> None:
    words = frozenset(_WORD.findall(reason.lower()))
    for one in found:
        if _alike(words, one.words):
            one.items.add(item_id)
            one.text = min(one.text, reason, key=lambda text: (len(text), text))
            return
    found.append(_Complaint(reason, words, {item_id}))


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    if not one or not other:
        return one == other
    return len(one & other) >= _ALIKE * min(len(one), len(other))
