"""Failure matching: which failures an edit is meant to mend, by the words that they share."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from burnish.optimizers.shared.reflection import Shown, feedback_of, inputs_of

_WORD = re.compile(r"[^\W_]{3,}")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+")
# An item is a motive when it shares nearly as much with the edit as the best one.
_NEARLY = 0.6
# A word of this share of all failures belongs to the task.
_COMMON = 0.5
_SEVERAL = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """The items that a text is about, by which words, and whether one line says these already."""

    items: tuple[str, ...]
    words: frozenset[str]
    restated: bool


def words_of(text: str) -> frozenset[str]:
    """The words of a text, in lower case."""
    return frozenset(_WORD.findall(text.lower()))


class FailureMatcher:
    """Failures that were shown to the meta-model, and how rare each of their words is."""

    def __init__(self, failures: Sequence[Shown]) -> None:
        self._words: Mapping[str, frozenset[str]] = {
            shown.item.id: words_of(f"{inputs_of(shown.item)} {feedback_of(shown.result)}")
            for shown in failures
        }
        self._common = Counter(word for words in self._words.values() for word in words)
        self._inputs = {shown.item.id: words_of(inputs_of(shown.item)) for shown in failures}
        self._complaints = {shown.item.id: self._parts(shown) for shown in failures}

    def match(self, text: str, known: str, shown: Sequence[str]) -> Match:
        """Those of the shown items that a text is about, best first; none if it fits none.

        Words that each line of the prompt so far (`known`) has tell nothing new.
        """
        said = words_of(text)
        scores = {item: self._overlap(said, item) for item in shown}
        best = max(scores.values(), default=0.0)
        if best <= 0:
            return Match(items=(), words=frozenset(), restated=False)
        fitting = sorted(
            (item for item in shown if scores[item] >= _NEARLY * best),
            key=lambda item: -scores[item],
        )
        telling = frozenset(
            word
            for word in said & self._words[fitting[0]]
            if self._common[word] < _COMMON * len(self._words)
        )
        restated = any(telling <= words_of(line) for line in known.splitlines())
        return Match(items=tuple(fitting), words=telling, restated=restated)

    def tells(self, item: str, told: Sequence[frozenset[str]]) -> bool:
        """Whether one of these sets of telling words is all about an item.

        If several things are said against it, there must be one about each.
        """
        about = [words for words in told if words <= self._words[item]]
        complaints = self._complaints[item]
        return bool(about) and (
            len(complaints) < _SEVERAL
            or all(any(words & part for words in about) for part in complaints)
        )

    def takes_up(self, text: str, item: str) -> bool:
        """Whether a text has something of what is said against an item, beyond the item's own words.

        True where nothing but the item's own words is said.
        """
        offered = frozenset().union(*self._complaints[item]) - self._inputs[item]
        return not offered or bool(offered & words_of(text))

    def _parts(self, shown: Shown) -> list[frozenset[str]]:
        """What is said against an item, sentence by sentence, by the words that few failures share."""
        sentences = _SENTENCE_END.split(feedback_of(shown.result))
        most = _COMMON * len(self._words)
        parts = [
            frozenset(word for word in words_of(one) if self._common[word] < most)
            for one in sentences
        ]
        return [part for part in parts if part]

    def _overlap(self, words: frozenset[str], item: str) -> float:
        """Shared words, rare ones above all: a word of most failures says nothing about one."""
        total = len(self._words)
        shared = words & self._words[item]
        # Exact, so that the order of a set plays no part.
        return math.fsum(
            1 - self._common[word] / total
            for word in shared
            if total == 1 or self._common[word] < _COMMON * total
        ) + (0.001 * len(shared) if total == 1 else 0.0)
