"""Noise search of gepa: which set of lines promises most where single results are luck."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import fsum

from burnish.domain import Configuration, ItemResult
from burnish.optimizers.gepa.climb import Climb
from burnish.optimizers.gepa.explore import Explore
from burnish.optimizers.gepa.line_edits import LineEdit
from burnish.optimizers.gepa.line_effects import LineEffects, Sight, World
from burnish.optimizers.gepa.moves import Kind, Move, Reason, edited, edits_between, said_of
from burnish.optimizers.gepa.noise import Subjects, TurnsMemo, is_shown
from burnish.optimizers.gepa.step_context import StepContext
from burnish.optimizers.shared.evidence import Evidence, Known
from burnish.optimizers.shared.failure_matching import words_of

# A word of lines on more subjects belongs to their way of speaking, unless it is an answer.
_SUBJECTS = 4
_LONGEST_ANSWER = 200
Key = tuple[str, str, str]
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
_LOOK = 16
# Where the best fails next to nothing, luck has little room.
_LITTLE = 0.05


class NoiseSearch:
    """The moves of one step."""

    def __init__(self, context: StepContext, memo: NoiseMemo) -> None:
        self._context = context
        self._memo = memo

    async def is_due(self) -> bool:
        """Whether results turn though no line about them was changed, and much is left to be had."""
        context = self._context
        best = max(one.trial_score or 0.0 for one in context.evidence.trialed)
        if context.facts.perfect_score is None or best > context.facts.perfect_score - _LITTLE:
            return False
        return is_shown(context.evidence, await self._subjects(), self._memo.turns)

    async def moves(self, places: int) -> list[Move]:
        """A trial of the best set of lines if there is a better one than was tried.

        Else the winner on more items, then new lines for what it fails, then a set that would be
        better in another possible world.
        """
        context, sets = self._context, await self._sets()
        winner = context.evidence.known[sets.winner()]
        return (
            self._trial(sets, sets.likely())
            or self._look(winner)
            or await self._lines(winner, places)
            or self._trial(sets, sets.drawn(context.facts.seed, context.generation))
            or await Explore(context).moves(winner, places)
        )

    async def winner(self) -> str:
        """Of all trials."""
        return (await self._sets()).winner()

    def _trial(self, sets: LineSets, world: World) -> list[Move]:
        context = self._context
        best = sets.best(world, tried=context.tried, allowed=context.ideas.allows)
        if best is None:
            return []
        said = f"Lines put together anew. {said_of(best.edits)}"
        reason = Reason(kind=Kind.MERGE, said=said)
        return [context.move(best.configuration, context.evidence.known[best.parent], reason, None)]

    def _look(self, winner: Known) -> list[Move]:
        """At items to reflect on, part by part."""
        missing = [item for item in self._context.items.pool if item not in winner.results]
        return self._context.look(winner, missing[:_LOOK])

    async def _lines(self, winner: Known, places: int) -> list[Move]:
        climb = Climb(self._context)
        return await climb.lines(winner, climb.in_turn(winner), (), places)

    async def _sets(self) -> LineSets:
        evidence, memo = self._context.evidence, self._memo
        results = [one.results for one in evidence.known.values()]
        # The very same ones: what was read again may be other.
        if memo.sets is None or list(map(id, results)) != list(map(id, memo.results)):
            memo.sets, memo.results = LineSets(evidence, await self._subjects()), results
        return memo.sets

    async def _subjects(self) -> Subjects:
        key, items = self._context.evidence.baseline.candidate.id, self._context.items
        if key not in self._memo.subjects:
            ids = [*items.train, *items.validation]
            self._memo.subjects[key] = Subjects(await self._context.ideas.history.load_items(ids))
        return self._memo.subjects[key]


@dataclass
class NoiseMemo:
    """What was worked out before, and from what.

    A pure cache: without it the same is worked out again.
    """

    subjects: dict[str, Subjects] = field(default_factory=dict)
    turns: TurnsMemo = field(default_factory=dict)
    results: list[Mapping[str, ItemResult]] = field(default_factory=list)
    sets: LineSets | None = None


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


def names_of(
    edits: Sequence[LineEdit], subjects: Subjects, answers: frozenset[str] = frozenset()
) -> Mapping[Key, str]:
    """Names by the telling words of a line, so that two wordings of one rule are one.

    Words that lines on many subjects share belong to their way of speaking. Words of short answers
    tell all the same: many rules may give one label, and a rule that gives another is another.
    """
    words = {edit.key: words_of(edit.new) for edit in edits if edit.new and not edit.old}
    used: dict[str, set[object]] = {}
    for key, said in words.items():
        about = frozenset(filter(subjects.has, said)) or key
        for word in said:
            used.setdefault(word, set()).add(about)
    found = {}
    for edit in edits:
        telling = sorted(
            word
            for word in words.get(edit.key, ())
            if len(used[word]) <= _SUBJECTS or subjects.has(word) or word in answers
        )
        found[edit.key] = f"{edit.section}: " + (" ".join(telling) or " > ".join(edit.key[1:]))
    return found


def answers_of(evidence: Evidence) -> frozenset[str]:
    """The words of what was answered in trials, where that is a label or a few, not a text."""
    outputs = {
        result.output.text
        for one in evidence.trialed
        for result in one.results.values()
        if result.output is not None and len(result.output.text) <= _LONGEST_ANSWER
    }
    return frozenset(word for output in outputs for word in words_of(output))
