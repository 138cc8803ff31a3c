"""One step's view of a `gepa` run, and the moves that a step is made of."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from burnish.domain import (
    CandidateProposal,
    Configuration,
    Json,
    OptimizerState,
    StopDecision,
    StopReason,
)
from burnish.domain.wording import counted
from burnish.optimizers.gepa.evidence import Evidence, Items, Known
from burnish.optimizers.shared.acceptance import is_acceptable, is_short_enough
from burnish.optimizers.shared.facts import RunFacts
from burnish.optimizers.shared.search_status import stop
from burnish.optimizers.shared.seeded_random import generator

InVain = Mapping[str, Mapping[str, Mapping[str, int]]]
"""By parent, section and item: how often a reflection was shown it in vain."""
_MOST_SAID = 600
_STEPS_A_TRIAL = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a step is made.

    `group` failures are shown at a time; what they teach is then tried on up to `unseen` other
    failures and `passes` items that passed. `look` items are run to find failures.
    """

    population: int = 8
    look: int = 12
    group: int = 3
    unseen: int = 4
    passes: int = 4
    temperature: float = 0.7
    evaluations_per_reflection: float = 12.0
    max_prompt_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A candidate to run: on some items, or as a trial. `metadata` says why it was made."""

    configuration: Configuration
    parents: tuple[str, ...]
    items: tuple[str, ...] | None
    cost: int
    said: str = ""
    metadata: dict[str, Json] = field(default_factory=dict)
    repeats: int | None = None

    def proposal(self) -> CandidateProposal:
        """For the framework."""
        said = self.said if len(self.said) <= _MOST_SAID else f"{self.said[: _MOST_SAID - 1]}…"
        return CandidateProposal(
            configuration=self.configuration,
            parent_candidate_ids=self.parents,
            rationale=said or None,
            item_ids=self.items,
            metadata=self.metadata,
            repeats=self.repeats,
        )


class StepView:
    """What a step is decided by: the evidence, the items and the settings."""

    def __init__(
        self,
        facts: RunFacts,
        settings: Settings,
        items: Items,
        evidence: Evidence,
        *,
        generation: int,
        evaluations_left: int | None,
        tried: frozenset[str],
        sections: tuple[str, ...] = (),
        in_vain: InVain | None = None,
    ) -> None:
        self.facts = facts
        self.settings = settings
        self.items = items
        self.evidence = evidence
        self.generation = generation
        self.left = math.inf if evaluations_left is None else evaluations_left
        # Whatever came of their trial: no configuration gets another.
        self.tried = tried
        self.sections = sections
        self.in_vain = in_vain or {}

    @cached_property
    def tip(self) -> Known:
        """The candidate with the best prospects; of equals the shortest.

        What a descendant's trial has corrected is no prospect any more, nor what has had a trial that
        was lost or ended early.
        """
        evidence = self.evidence
        overtaken = {
            elder.id
            for one in evidence.trialed
            for elder in evidence.lineage(one)[1:]
            if elder.trial_score is None
        }
        contenders = [
            one
            for one in evidence.known.values()
            if one.trial_score is not None
            or (
                one.id not in overtaken
                and one.candidate.configuration.hash not in self.tried
                and self.is_accepted(one)
            )
        ]
        return max(
            contenders,
            key=lambda one: (
                round(evidence.promise(one), 3),
                -length_of(one.candidate.configuration),
                -one.candidate.number,
            ),
        )

    def is_verified(self, one: Known) -> bool:
        """Whether it was put together, or ran more of its parent's items than its reflection saw.

        Where the reflection saw all of them, there is nothing more to try it on but a trial.
        """
        parent = self.evidence.parent(one)
        if parent is None or one.kind == "join":
            return parent is not None
        others = [i for i in self.items.pool if i in parent.results and i not in one.shown]
        return not others or any(item in one.results for item in others)

    def is_accepted(self, one: Known) -> bool:
        """Whether it did better than its parent, on more items than its reflection saw.

        What only leaves something out need not be better.
        """
        parent = self.evidence.parent(one)
        if parent is None or not self.is_verified(one):
            return False
        difference = self.evidence.difference(one, parent)
        return difference >= 0 if one.kind == "prune" else difference > 0

    def failures(self, one: Known) -> list[str]:
        """Items of the pool that it ran and failed, in the order of the pool."""
        return [item for item in self.items.pool if item in one.results and one.weak(item)]

    def passes(self, one: Known) -> list[str]:
        """Items of the pool that it ran and passed, in the order of the pool."""
        return [item for item in self.items.pool if item in one.results and not one.weak(item)]

    def shown(self, parent: Known, section: str | None = None) -> Counter[str]:
        """How often reflections on a parent were shown each item, whatever came of it."""
        found: Counter[str] = Counter()
        for path, times in self.in_vain.get(parent.id, {}).items():
            if section in (None, path):
                found.update(times)
        for child in self.evidence.children(parent):
            if section in (None, child.section):
                found.update(child.shown)
        return found

    def reflected_on(self, parent: Known, section: str | None = None) -> int:
        """How many reflections a parent had; those in vain are counted by what they were shown."""
        return sum(
            1
            for one in self.evidence.children(parent)
            if one.kind == "rewrite" and section in (None, one.section)
        ) + sum(
            self.asked_in_vain(times)
            for path, times in self.in_vain.get(parent.id, {}).items()
            if section in (None, path)
        )

    def asked_in_vain(self, times: Mapping[str, int]) -> int:
        """How many questions showed items so often."""
        return math.ceil(sum(times.values()) / self.settings.group)

    def shuffled(self, items: Sequence[str], *purpose: str | int) -> list[str]:
        """In an order that belongs to this step and purpose."""
        found = list(items)
        generator(self.facts.seed, self.generation, *purpose).shuffle(found)
        return found

    def allows(self, configuration: Configuration) -> bool:
        """Whether the framework and the prompt-length budget take it."""
        return is_acceptable(
            configuration, baseline=self.facts.baseline, space=self.facts.space
        ) and is_short_enough(configuration, self.settings.max_prompt_tokens)

    def trial(self, one: Known) -> Move:
        """The whole validation split."""
        return self.move(one.candidate.configuration, one, None)

    def move(
        self,
        configuration: Configuration,
        parent: Known,
        items: Sequence[str] | None,
        *others: Known,
        said: str = "",
        **metadata: Json,
    ) -> Move:
        """A configuration on some items, or as a trial; what it ran before costs nothing."""
        known = self.evidence.by_hash.get(configuration.hash)
        ran = known.results if known is not None else {}
        wanted = None if items is None else tuple(dict.fromkeys(items))
        if wanted is None:
            train = set(self.items.train)
            runs = self.items.trial_items - sum(1 for item in ran if item not in train)
        else:
            runs = sum(1 for item in wanted if item not in ran)
        same = known is not None and known.id == parent.id
        parents = () if same else tuple(dict.fromkeys((parent.id, *(one.id for one in others))))
        return Move(
            configuration=configuration,
            parents=parents,
            items=wanted,
            cost=runs * self.items.repeats,
            said=said,
            metadata=metadata,
        )

    def is_new(self, move: Move) -> bool:
        """Whether it would show anything, and may be proposed."""
        shows = move.cost > 0 if move.items else move.configuration.hash not in self.tried
        return shows and self.allows(move.configuration)

    def affordable(self, moves: Sequence[Move], places: int) -> list[Move]:
        """What the budget allows such that a last trial stays possible; each configuration once."""
        trial = self.items.trial_items * self.items.repeats
        left, kept, seen = self.left, [], set()
        for move in moves:
            reserve = 0 if move.items is None else trial
            if move.configuration.hash in seen or move.cost + reserve > left:
                continue
            seen.add(move.configuration.hash)
            kept.append(move)
            left -= move.cost
        return kept[:places]


def length_of(configuration: Configuration) -> int:
    """The prompt's length in characters: near enough to tell which is shorter."""
    return sum(len(text) for text in configuration.sections.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How many trials a search may take: all in all, and in a row without a better one."""

    max_iterations: int | None = None
    stop_no_improve: int | None = None

    def trials_left(self, state: OptimizerState) -> int | None:
        """Until `max_iterations`; None without one."""
        if self.max_iterations is None:
            return None
        trials: int = state.algorithm_data["trials"]
        return max(self.max_iterations - trials, 0)

    def within(self, moves: Sequence[Move], state: OptimizerState) -> list[Move]:
        """The moves without the trials that would be too many."""
        left = self.trials_left(state)
        found = []
        for move in moves:
            if move.items is None and left is not None:
                left -= 1
                if left < 0:
                    continue
            found.append(move)
        return found

    def had_enough(self, state: OptimizerState, patience: int | None) -> StopDecision | None:
        """`patience` stands in for `stop_no_improve` where that is not set; None has no end.

        Steps without any trial use it up too, if slowly.
        """
        data = state.algorithm_data
        if self.trials_left(state) == 0:
            return stop(f"max_iterations is reached: {data['trials']} trials")
        patience = self.stop_no_improve or patience
        idle = data["trials"] - data["best_trial"]
        steps = state.generation - data["best_generation"]
        if patience is None or (idle < patience and steps < _STEPS_A_TRIAL * patience):
            return None
        return stop(
            f"{counted(idle, 'trial')} in {counted(steps, 'step')} brought nothing better than "
            f"{state.best_score:.3f}",
            StopReason.NO_IMPROVEMENT,
        )
