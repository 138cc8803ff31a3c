"""The largest set of cuts that contains no combination known to regress."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from burnish.optimizers.compress.cuts import Cut

Cuts = tuple[Cut, ...]
# Beyond so many branches the best so far is taken; combinations are few and small in practice.
_MOST_BRANCHES = 5_000


@dataclass(frozen=True, slots=True)
class Conflict:
    """Cuts that break an item together, none of which could be left out."""

    cuts: Cuts
    item_id: str

    def within(self, chosen: Mapping[tuple[str, int | None], Cut]) -> bool:
        """Whether a choice has all of them, or stronger ones in their places."""
        return all(
            (other := chosen.get(place(cut))) is not None and at_least(other, cut)
            for cut in self.cuts
        )


def place(cut: Cut) -> tuple[str, int | None]:
    """Where a cut is made: one can be chosen for each place."""
    return cut.path, cut.unit


def at_least(one: Cut, other: Cut) -> bool:
    """Whether a cut at the same place takes as much away as another, or more."""
    return one.name == other.name or one.saving > other.saving


def best_choice(options: Sequence[Sequence[Cut]], conflicts: Sequence[Conflict]) -> Cuts:
    """At most one of each place's options, given strongest first, without any conflict.

    Each conflict is undone by weakening one of its cuts; which ones is searched by branch and bound.
    """
    return _Choice(options, conflicts).best()


class _Choice:
    def __init__(self, options: Sequence[Sequence[Cut]], conflicts: Sequence[Conflict]) -> None:
        self._options = {place(cuts[0]): tuple(cuts) for cuts in options if cuts}
        # Single cuts leave no choice, so they come first.
        self._conflicts = sorted(conflicts, key=lambda one: len(one.cuts))
        self._branches = 0
        self._found: dict[tuple[str, int | None], Cut] = {}
        self._most = -1

    def best(self) -> Cuts:
        self._search({where: cuts[0] for where, cuts in self._options.items()})
        return tuple(sorted(self._found.values(), key=lambda cut: (-cut.saving, cut.name)))

    def _search(self, chosen: dict[tuple[str, int | None], Cut]) -> None:
        total = sum(cut.saving for cut in chosen.values())
        if total <= self._most:
            return
        conflict = next((one for one in self._conflicts if one.within(chosen)), None)
        if conflict is None:
            self._found, self._most = chosen, total
            return
        ways = [self._weakened(chosen, cut) for cut in conflict.cuts]
        ways.sort(key=lambda way: -sum(cut.saving for cut in way.values()))
        for way in ways:
            if self._branches >= _MOST_BRANCHES and self._most >= 0:
                return
            self._branches += 1
            self._search(way)

    def _weakened(
        self, chosen: dict[tuple[str, int | None], Cut], cut: Cut
    ) -> dict[tuple[str, int | None], Cut]:
        """Without the cut and anything as strong, but with the next weaker one."""
        where = place(cut)
        weaker = next((one for one in self._options[where] if not at_least(one, cut)), None)
        left = {key: one for key, one in chosen.items() if key != where}
        return left if weaker is None else {**left, where: weaker}
