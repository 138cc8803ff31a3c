"""Whether results turn by luck: the same item ends otherwise though no line about it was changed.

Models that answer anew and judges that waver give other scores to a prompt that says the same. A run
never pays for one configuration on one item twice, so this shows where a child differs from its parent
by lines about certain items only (they share rare words with them) and other items turn all the same.
Lines that may be about everything prove nothing: their effect on other items can be real.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from burnish.domain import Item, ItemResult
from burnish.optimizers.gepa.moves import edits_between
from burnish.optimizers.shared.evidence import Evidence, Known
from burnish.optimizers.shared.failure_matching import words_of
from burnish.optimizers.shared.reflection import inputs_of

# A word of this share of the items belongs to the task, and a line about so many to them all.
_RARE = 0.25
_MOST_ITEMS = 0.4
# Fewer items say nothing about a pair, and fewer pairs nothing about a run.
_FEWEST_ITEMS = 4
FEWEST_PAIRS = 20
_CLOSE = 1e-9


@dataclass(frozen=True, slots=True)
class Turns:
    """Items whose lines stayed the same in a child, and how many of them turned."""

    turned: int
    items: int


@dataclass(frozen=True, slots=True)
class Counted:
    """What these results of a child and of its parent show, if anything."""

    child: Mapping[str, ItemResult]
    parent: Mapping[str, ItemResult]
    turns: Turns | None


TurnsMemo = dict[str, Counted]
"""By child."""


class Subjects:
    """Which items a line is about, by the rare words that they share."""

    def __init__(self, items: Sequence[Item]) -> None:
        words = {item.id: words_of(inputs_of(item)) for item in items}
        common = Counter(word for said in words.values() for word in said)
        self._items: dict[str, set[str]] = {}
        self._count = len(words)
        for item, said in words.items():
            for word in said:
                if common[word] <= _RARE * self._count:
                    self._items.setdefault(word, set()).add(item)

    def has(self, word: str) -> bool:
        """Whether a word tells some items from others."""
        return word in self._items

    def of(self, line: str) -> set[str] | None:
        """The items; None for a line that may be about any."""
        found: set[str] = set()
        for word in words_of(line):
            found |= self._items.get(word, set())
        return found if 0 < len(found) <= _MOST_ITEMS * self._count else None


def turns(evidence: Evidence, subjects: Subjects, memo: TurnsMemo | None = None) -> Iterator[Turns]:
    """What every child shows that ran enough of what its changes are not about.

    With a memo only those are counted which ran something since.
    """
    counted: TurnsMemo = {} if memo is None else memo
    for child in evidence.known.values():
        parents = child.candidate.parent_candidate_ids
        parent = evidence.known.get(parents[0]) if parents else None
        if parent is None:
            continue
        known = counted.get(child.candidate.id)
        if known is None or known.child is not child.results or known.parent is not parent.results:
            known = Counted(child.results, parent.results, _turns_of(child, parent, subjects))
            counted[child.candidate.id] = known
        if known.turns is not None:
            yield known.turns


def is_shown(evidence: Evidence, subjects: Subjects, memo: TurnsMemo | None = None) -> bool:
    """Whether something turned by luck in most children that could show it."""
    seen = list(turns(evidence, subjects, memo))
    return len(seen) >= FEWEST_PAIRS and 2 * sum(one.turned > 0 for one in seen) > len(seen)


def _turns_of(child: Known, parent: Known, subjects: Subjects) -> Turns | None:
    shared = _untouched(child, parent, subjects)
    if len(shared) < _FEWEST_ITEMS:
        return None
    turned = [
        item
        for item in shared
        if abs(child.results[item].score - parent.results[item].score) > _CLOSE
    ]
    return Turns(len(turned), len(shared))


def _untouched(child: Known, parent: Known, subjects: Subjects) -> Sequence[str]:
    shared = [item for item in child.results if item in parent.results]
    if len(shared) < _FEWEST_ITEMS:
        return ()
    touched: set[str] = set()
    for edit in edits_between(parent.candidate.configuration, child.candidate.configuration):
        for line in filter(None, (edit.old, edit.new)):
            about = subjects.of(line)
            if about is None:
                return ()
            touched |= about
    return [item for item in shared if item not in touched]
