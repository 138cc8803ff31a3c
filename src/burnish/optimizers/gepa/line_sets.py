"""Sets of lines by what is known of each line: the best that was not tried, and the best that was."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum

from burnish.domain import Configuration
from burnish.optimizers.gepa.line_edits import LineEdit
from burnish.optimizers.gepa.line_effects import LineEffects, Sight, World
from burnish.optimizers.gepa.line_names import answers_of, names_of
from burnish.optimizers.gepa.moves import edited, edits_between
from burnish.optimizers.gepa.noise import Subjects
from burnish.optimizers.shared.evidence import Evidence, Known

# What a line has to earn, as a share of the scale; more if it may be about everything.
_COST, _GENERAL_COST = 0.002, 0.01
# A set that promises less than this above what was tried is not worth a trial.
_GAIN = 0.004
# By how many deviations a line may do less than is likely: what is little known is left out.
_DOUBT = 1.0
# How much of what a trial was better than its lines promise is more than luck.
_OWN = 0.2
# How much of an item's luck stays the same while the lines about it do.
_ALIKE = 0.3
_ROUNDS = 4
_IN_PART = "\x1e"
_CLOSE = 1e-9

Names = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LineSet:
    """Lines over the baseline that promise more than any trial, and the trial nearest to them."""

    configuration: Configuration
    edits: tuple[LineEdit, ...]
    parent: str


class LineSets:
    """All lines of a run, as edits of its baseline, and the fit of their effects."""

    def __init__(self, evidence: Evidence, subjects: Subjects) -> None:
        self._evidence = evidence
        self._root = evidence.baseline.candidate.configuration
        known = evidence.known.values()
        edits = {
            one.candidate.id: edits_between(self._root, one.candidate.configuration)
            for one in known
        }
        distinct = {edit.key: edit for many in edits.values() for edit in many}
        named = names_of(list(distinct.values()), subjects, answers_of(evidence))
        self._lines: dict[str, LineEdit] = {}
        for edit in distinct.values():
            self._lines.setdefault(named[edit.key], edit)
        self._sets: dict[str, Names] = {
            one: tuple(dict.fromkeys(named[edit.key] for edit in many))
            for one, many in edits.items()
        }
        self._items = tuple(dict.fromkeys(item for one in known for item in one.results))
        self._about = {
            name: subjects.of(edit.new or edit.old) for name, edit in self._lines.items()
        }
        self._reach = {
            name: self._items if about is None else [one for one in self._items if one in about]
            for name, about in self._about.items()
        }

    def best(
        self,
        world: World,
        *,
        tried: Iterable[str],
        allowed: Callable[[Configuration], bool],
    ) -> LineSet | None:
        """The best set in a possible world; None if a trial is as good, or it may not be tried."""
        start = max(self._trialed, key=lambda one: self._worth(world, self._sets[one]))
        names = self._climbed(world, self._sets[start])
        gain = self._worth(world, names) - self._worth(world, self._sets[start])
        chosen = set(names)
        if gain <= _GAIN * world.scale or any(chosen == set(self._sets[o]) for o in self._trialed):
            return None
        edits = tuple(edit for name, edit in self._lines.items() if name in chosen)
        made = edited(self._root, edits)
        if made.hash in set(tried) or not allowed(made):
            return None
        nearest = min(
            self._trialed, key=lambda one: len(chosen.symmetric_difference(self._sets[one]))
        )
        return LineSet(configuration=made, edits=edits, parent=nearest)

    def likely(self) -> World:
        """What all results say, with doubt about what was seen little."""
        return self._likely

    def drawn(self, seed: int, generation: int) -> World:
        """Another world that is possible by what was seen."""
        return self._fit.draw(seed, "sets", generation)

    def winner(self) -> str:
        """The trial that is best by what all results say of its lines, and by its own a little."""
        world = self.likely()
        scores = {one.candidate.id: one.trial_score or 0.0 for one in self._evidence.trialed}

        def worth(one: str) -> float:
            return (1 - _OWN) * self._worth(world, self._sets[one]) + _OWN * scores[one]

        return max(self._trialed, key=worth)

    @cached_property
    def _likely(self) -> World:
        return self._fit.cautious(_DOUBT)

    @cached_property
    def _trialed(self) -> list[str]:
        return [one.candidate.id for one in self._evidence.trialed]

    @cached_property
    def _fit(self) -> LineEffects:
        names = [name for name, about in self._about.items() if about is None]
        scores = [one.score for one in self._evidence.baseline.results.values()]
        return LineEffects(
            list(self._sights()),
            ease=fsum(scores) / max(len(scores), 1),
            general=frozenset([*names, *(f"{name}{_IN_PART}" for name in names)]),
        )

    def _sights(self) -> Iterator[Sight]:
        """All results. What a line about everything does to mini-batches is told apart.

        They are mostly failures, which any change mends by luck: it must not take the credit. And an
        item that ran a hundred times with the same lines about it says little more than one that ran
        twice: it may be an odd one.
        """
        alike = Counter(self._touching(*one) for one in self._results())
        for one, item in self._results():
            part = one.trial_score is None or item in self._evidence.train_items
            names = self._sets[one.candidate.id]
            general = [name for name in names if self._about[name] is None]
            touching = self._touching(one, item)
            yield Sight(
                item,
                (*touching[1], *(f"{name}{_IN_PART}" if part else name for name in general)),
                one.results[item].score,
                1 / (1 + _ALIKE * (alike[touching] - 1)),
            )

    def _results(self) -> Iterator[tuple[Known, str]]:
        for one in self._evidence.known.values():
            for item in one.results:
                yield one, item

    def _touching(self, one: Known, item: str) -> tuple[str, Names]:
        """An item with the lines of a candidate that are about it and not about everything."""
        names = self._sets[one.candidate.id]
        return item, tuple(name for name in names if item in (self._about[name] or ()))

    def _worth(self, world: World, names: Sequence[str]) -> float:
        sums = self._sums(world, names)
        scores = fsum(world.within(value) for value in sums.values()) / max(len(sums), 1)
        return scores - fsum(self._cost(world, name) for name in names)

    def _sums(self, world: World, names: Sequence[str]) -> dict[str, float]:
        sums = {item: world.ease[item] for item in self._items}
        for name in names:
            for item in self._reach[name]:
                sums[item] += world.effect(name)
        return sums

    def _cost(self, world: World, name: str) -> float:
        return world.scale * (_GENERAL_COST if self._about[name] is None else _COST)

    def _climbed(self, world: World, start: Sequence[str]) -> Names:
        """Lines taken in and left out one by one while that is better."""
        here = dict.fromkeys(start)
        sums = self._sums(world, start)
        for _ in range(_ROUNDS):
            before = tuple(here)
            for name in self._lines:
                sign = -1 if name in here else 1
                step = sign * world.effect(name)
                gain = fsum(
                    world.within(sums[item] + step) - world.within(sums[item])
                    for item in self._reach[name]
                )
                if gain / len(sums) > sign * self._cost(world, name) + _CLOSE:
                    for item in self._reach[name]:
                        sums[item] += step
                    if sign > 0:
                        here[name] = None
                    else:
                        del here[name]
            if before == tuple(here):
                break
        return tuple(here)
