"""Shard suites: pairs of item and repeat, how they are cut, and how a suite runs just some."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from burnish.domain import Item, UsageError
from burnish.evaluation.suite import Suite

Pair = tuple[str, int]
# What is left is always cut so fine: large shards first, which cost less to send, and small ones
# at the end, so that no worker is left with much when the others are through.
_PARTS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardSize:
    """How many pairs a shard has: at least `smallest` where there are so many."""

    smallest: int = 16
    largest: int = 64

    def __post_init__(self) -> None:
        if not 1 <= self.smallest <= self.largest:
            raise UsageError(
                what=f"shards of {self.smallest} to {self.largest} runs cannot be cut",
                why="the smallest is at least 1 and at most the largest",
                fix="correct the sizes",
                code="invalid_shard_size",
            )

    def cut(self, pairs: Sequence[tuple[Item, int]]) -> list[list[tuple[Item, int]]]:
        """All pairs in order; the last shards are of nearly equal sizes."""
        rest = iter(pairs)
        return [list(islice(rest, size)) for size in self._sizes(len(pairs))]

    def _sizes(self, left: int) -> Iterator[int]:
        while left > _PARTS * self.smallest:
            size = min(left // _PARTS, self.largest)
            yield size
            left -= size
        if left:
            small, larger = divmod(left, -(-left // self.smallest))
            yield from (small + (number < larger) for number in range(-(-left // self.smallest)))


def repeats_last(pairs: Sequence[tuple[Item, int]]) -> list[list[tuple[Item, int]]]:
    """Pairs in two parts: each question once, then the same questions again under other ids.

    What stands twice in a dataset is so paid for once: the second is answered from the first.
    """
    first: list[tuple[Item, int]] = []
    again: list[tuple[Item, int]] = []
    asked: set[tuple[str, int]] = set()
    for item, repeat in pairs:
        known = (item.hash, repeat) in asked
        asked.add((item.hash, repeat))
        (again if known else first).append((item, repeat))
    return [part for part in (first, again) if part]


def with_runs_of(suite: Suite, pairs: Collection[Pair]) -> Suite:
    """The suite with as many repeats as the highest of the pairs needs."""
    repeats = max(repeat for _, repeat in pairs) + 1
    return replace(suite, policy=replace(suite.policy, repeats=repeats))


def only(wanted: Collection[Pair], pairs: Collection[Pair]) -> set[Pair]:
    """What to skip of all repeats of the pairs' items so that just the wanted ones are run."""
    repeats = max(repeat for _, repeat in wanted) + 1
    every = {(item, repeat) for item, _ in pairs for repeat in range(repeats)}
    return every - set(wanted)
