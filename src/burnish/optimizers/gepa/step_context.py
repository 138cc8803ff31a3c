"""What every move of a `gepa` step is made from: the evidence, the window of items, and the tip."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from burnish.domain import Configuration, ItemResult, TrialHistory
from burnish.optimizers.gepa.ideas import Ideas
from burnish.optimizers.gepa.moves import Kind, Move, Reason, edits_between, kind_of
from burnish.optimizers.shared.evidence import Evidence, Known, is_weak
from burnish.optimizers.shared.facts import RunFacts
from burnish.optimizers.shared.search_status import tried_hashes
from burnish.optimizers.shared.seeded_random import generator

CLOSE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a step is made."""

    look: int = 16
    further: int = 12
    group: int = 3
    tries: int = 3
    gate_failed: int = 1
    mended: float = 0.65
    join_passed: int = 8
    trial_share: float = 2.0
    few: float = 0.2
    disappointed: float = 0.12
    temperature: float = 0.7


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """The items that a run may use, in the order in which it does.

    A trial runs `trial_items`, of which `validation` is a part where there are very many.
    """

    train: tuple[str, ...]
    validation: tuple[str, ...]
    trial_items: int
    repeats: int = 1

    @property
    def pool(self) -> tuple[str, ...]:
        """What reflection looks at: training items where there are any."""
        return self.train or self.validation


class StepContext:
    """One step's view of the run."""

    def __init__(
        self,
        facts: RunFacts,
        settings: Settings,
        items: Items,
        evidence: Evidence,
        ideas: Ideas,
        history: TrialHistory,
        *,
        generation: int,
    ) -> None:
        self.facts = facts
        self.settings = settings
        self.items = items
        self.evidence = evidence
        self.ideas = ideas
        self.generation = generation
        self.left = math.inf if history.evaluations_left is None else history.evaluations_left
        # Whatever came of their trial: no configuration gets another.
        self.tried = tried_hashes(history)
        self.by_hash = {one.candidate.configuration.hash: one for one in evidence.known.values()}

    @cached_property
    def tip(self) -> Known:
        """The candidate with the best prospects; of nearly equals the shortest."""
        evidence = self.evidence
        # An estimate that a descendant's trial has corrected is no prospect.
        overtaken = {
            elder.candidate.id
            for one in evidence.trialed
            for elder in evidence.lineage(one.candidate.id)[1:]
            if elder.trial_score is None
        }
        contenders = [evidence.baseline]
        for one in evidence.known.values():
            parent = self.parent(one)
            if parent is None or one.candidate.id in overtaken:
                continue
            if evidence.verified(one, parent):
                contenders.append(one)
        return max(
            contenders,
            key=lambda one: (
                round(evidence.estimated_gain(one.candidate.id), 2),
                -length_of(one.candidate.configuration),
                -one.candidate.number,
            ),
        )

    @cached_property
    def window(self) -> tuple[str, ...]:
        """The part of the pool that was looked at, in whole chunks."""
        pool = self.items.pool
        seen = {item for one in self.evidence.known.values() for item in one.results}
        last = max((place for place, item in enumerate(pool, start=1) if item in seen), default=0)
        size = self.settings.look
        while size < last:
            size += self.settings.further
        return pool[:size]

    @property
    def next_chunk(self) -> tuple[str, ...]:
        """What to look at after the window."""
        start = len(self.window)
        return self.items.pool[start : start + self.settings.further]

    @property
    def last_chunk(self) -> tuple[str, ...]:
        """What was looked at last."""
        size = len(self.window)
        return self.window[max(size - self.settings.further, 0) :]

    def parent(self, one: Known) -> Known | None:
        """Its first parent, if that is known."""
        parents = one.candidate.parent_candidate_ids
        return self.evidence.known.get(parents[0]) if parents else None

    def missing(self, one: Known) -> list[str]:
        """Items of the window that nobody in its line ran, or that its ancestors failed.

        Left out are failures that a line which it has taken over mended by itself, unless its trial
        says that the lines get in each other's way.
        """
        mended = self.mended_by_lines(one)
        if self._disappoints(one, mended):
            mended = {}
        found = []
        for item in self.window:
            if item not in one.results and item not in mended:
                last = self.evidence.last_result(one.candidate.id, item)
                if last is None or is_weak(last):
                    found.append(item)
        return found

    def _disappoints(self, one: Known, mended: Mapping[str, ItemResult]) -> bool:
        """Whether its trial is far below what it and its lines promised on the window."""
        if one.trial_score is None or not mended:
            return False
        results = {item: self.evidence.last_result(one.candidate.id, item) for item in self.window}
        promised = [
            item in mended or not is_weak(last)
            for item, last in results.items()
            if last is not None
        ]
        ran = [is_weak(own) for item, own in one.results.items() if item in self._validation]
        if not ran or not promised:
            return False
        return 1 - sum(ran) / len(ran) < sum(promised) / len(promised) - self.settings.disappointed

    @cached_property
    def _validation(self) -> frozenset[str]:
        return frozenset(self.items.validation)

    def mended_by_lines(self, one: Known) -> dict[str, ItemResult]:
        """What lines that it has taken over passed by themselves, where its ancestors ran them."""
        found: dict[str, ItemResult] = {}
        for elder in self.evidence.lineage(one.candidate.id)[1:]:
            taken = {
                edit.key
                for edit in edits_between(
                    elder.candidate.configuration, one.candidate.configuration
                )
            }
            for child in self.evidence.children(elder.candidate.id):
                if kind_of(child.candidate) is not Kind.LINE:
                    continue
                line = edits_between(elder.candidate.configuration, child.candidate.configuration)
                if all(edit.key in taken for edit in line):
                    passed = {item: own for item, own in child.results.items() if not is_weak(own)}
                    found = {**passed, **found}
        return found

    def passes(self, one: Known, most: int, purpose: str) -> list[str]:
        """Items of the window that it passes, in a drawn order.

        Those that it ran itself go first: its children can be compared with it there.
        """
        known = {item: self.evidence.last_result(one.candidate.id, item) for item in self.window}
        passed = [item for item, last in known.items() if last is not None and not is_weak(last)]
        chance = generator(self.facts.seed, purpose, one.candidate.number)
        chance.shuffle(passed)
        return sorted(passed, key=lambda item: item not in one.results)[:most]

    def is_ahead(self, one: Known, by: float = 0.02) -> bool:
        """Whether it was not tried in full, and promises more than what was."""
        if one.candidate.configuration.hash in self.tried:
            return False
        best = max(
            self.evidence.estimated_gain(other.candidate.id) for other in self.evidence.trialed
        )
        return self.evidence.estimated_gain(one.candidate.id) > best + by

    def trial(self, one: Known) -> Move:
        """The whole validation split."""
        return self.move(one.candidate.configuration, one, None, None)

    def look(self, one: Known, items: Sequence[str]) -> list[Move]:
        """A candidate as it is on more items: one fewer each time that none was answered."""
        wanted = items[: max(len(items) - one.lost, 0)]
        return [self.move(one.candidate.configuration, one, None, wanted)] if wanted else []

    def move(
        self,
        configuration: Configuration,
        parent: Known,
        reason: Reason | None,
        items: Sequence[str] | None,
        *others: Known,
    ) -> Move:
        """A configuration on some items, or as a trial; what it ran before costs nothing."""
        wanted = None if items is None else tuple(dict.fromkeys(items))
        known = self.by_hash.get(configuration.hash)
        ran = known.results if known is not None else {}
        if wanted is None:
            train = set(self.items.train)
            runs = self.items.trial_items - sum(1 for item in ran if item not in train)
        else:
            runs = sum(1 for item in wanted if item not in ran)
        same = known is not None and known.candidate.id == parent.candidate.id
        parents = () if same else (parent.candidate.id, *(one.candidate.id for one in others))
        return Move(
            configuration=configuration,
            parents=parents,
            reason=reason,
            items=wanted,
            cost=runs * self.items.repeats,
        )

    def is_new(self, move: Move) -> bool:
        """Whether it would show anything, and may be proposed."""
        if move.items is None and move.configuration.hash in self.tried:
            return False
        return move.cost > 0 and self.ideas.allows(move.configuration)

    def draw(self, purpose: str, item: str) -> float:
        """A number that belongs to this step, purpose and item."""
        return generator(self.facts.seed, purpose, self.generation, item).random()

    def failed(self, one: Known) -> list[str]:
        """Its own failures in the window."""
        return [item for item in self.window if item in one.results and one.weak(item)]


def length_of(configuration: Configuration) -> int:
    """The prompt's length in characters: near enough to tell which is shorter."""
    return sum(len(text) for text in configuration.sections.values())
