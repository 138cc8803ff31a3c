"""One step of the race: which candidates run further items, and which new ones begin."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from burnish.domain import CandidateProposal, Configuration
from burnish.models.tokens import count_tokens
from burnish.optimizers.gepa.evidence import Known
from burnish.optimizers.joint.calibration import with_bias
from burnish.optimizers.joint.race import Entrant, Worth, blocks, next_block, worths
from burnish.optimizers.joint.variants import Child, Variant, Variants
from burnish.optimizers.shared.gradient import Gradient, Observation, Prior
from burnish.optimizers.shared.seeded_random import generator

_PARENTS = 3
_FIRST = 12
_FINALISTS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Foretold:
    """What a candidate's items would be worth with a label bias, and the bias."""

    values: Mapping[str, float]
    bias: Mapping[str, float]


class RaceStep:
    """What the race knows, and what it does next.

    Values are drawn from what is believed of each candidate and of each new variant (Thompson
    sampling); whoever draws best runs next. What is left at the end completes the leaders.
    """

    def __init__(
        self,
        *,
        variants: Variants,
        known: Mapping[str, Known],
        values: Mapping[str, Mapping[str, float]],
        foretold: Mapping[str, Foretold],
        order: Sequence[str],
        block: int,
        repeats: int,
        length_penalty: float,
        generation: int,
        left: int | None,
        tried: frozenset[str],
    ) -> None:
        self._variants = variants
        self._facts = variants.catalog.facts
        self._known = known
        self._parts = blocks(order, block)
        self._items = frozenset(order)
        self._repeats = repeats
        self._penalty = length_penalty
        self._generation = generation
        self._left = math.inf if left is None else left
        self._tried = tried
        self._foretold = foretold
        # What they are, by which the winner is chosen, and what they can be, by which they race.
        self._shown = self._entering(values)
        self.entrants = self._entering(
            {**values, **{name: one.values for name, one in foretold.items()}}
        )

    def _entering(self, values: Mapping[str, Mapping[str, float]]) -> list[Entrant]:
        return [
            Entrant(
                id=one.id,
                number=one.candidate.number,
                values={i: value for i, value in values[one.id].items() if i in self._items},
            )
            for one in self._known.values()
        ]

    def moves(self, places: int) -> list[CandidateProposal]:
        """Trials of those that ran everything, then blocks; finals once no more can be paid."""
        found = [
            self._trial(one)
            for one in self.entrants
            if self.is_complete(one) and not self._had_trial(one)
        ][:places]
        # What begins should be able to end: room for a trial is kept from the first block on, and
        # for one more where weighing labels may pay.
        kept = max(sum(map(self._missing, self._finalists)), self._trial_cost)
        spare = self._left - kept - (self._trial_cost if self._foretold else 0)
        if spare < len(self._parts[0]) * self._repeats:
            finals = self._finals(places - len(found))
            return found + (finals or self._weighed())
        if math.isinf(self._left):
            found = [*self._weighed(), *found][:places]
        return found + self._blocks(places - len(found), spare)

    def winner(self) -> str | None:
        """Of those that had their trial, the one that is worth most; None without any."""
        had = [one for one in self._shown if self._known[one.id].trial_score is not None]
        own = worths(self._shown)
        return max(had, key=lambda one: (own[one.id].mean, -one.number)).id if had else None

    def is_complete(self, one: Entrant) -> bool:
        """Whether it ran every item."""
        return not self._missing(one)

    @cached_property
    def worths(self) -> dict[str, Worth]:
        """What each is worth."""
        return worths(self.entrants)

    @cached_property
    def _ranked(self) -> list[Entrant]:
        """The best first, with what their length costs."""
        return sorted(
            (one for one in self.entrants if one.id in self.worths),
            key=lambda one: (self._cost(one) - self.worths[one.id].mean, one.number),
        )

    def _weighed(self) -> list[CandidateProposal]:
        """A trial of the best leader that ran everything and would be better with a label bias."""
        if self._trial_cost > self._left:
            return []
        for one in self._ranked[:_FINALISTS]:
            foretold = self._foretold.get(one.id)
            if foretold is None or not self.is_complete(one):
                continue
            proposal = self._trial(one)
            made = with_bias(self._known[one.id].candidate.configuration, foretold.bias)
            variant = self._variant(one)
            if made.hash not in self._tried and variant is not None:
                said = self._variants.describe(variant)
                return [
                    replace(
                        proposal,
                        configuration=made,
                        parent_candidate_ids=(one.id,),
                        rationale=f"{said} Weigh the labels, so that none is said for its own sake.",
                        metadata=self._variants.metadata(variant),
                    )
                ]
        return []

    @property
    def _trial_cost(self) -> int:
        return len(self._items) * self._repeats

    @property
    def _finalists(self) -> list[Entrant]:
        """The leaders that still need a trial."""
        return [one for one in self._ranked[:_FINALISTS] if not self._had_trial(one)]

    def _cost(self, one: Entrant) -> float:
        return self._penalty * self._tokens[one.id] / max(self._tokens.values())

    @cached_property
    def _tokens(self) -> dict[str, int]:
        return {one.id: _prompt_tokens(one.candidate.configuration) for one in self._known.values()}

    def _missing(self, one: Entrant) -> int:
        """How many evaluations its trial still costs."""
        return (len(self._items) - len(one.values)) * self._repeats

    def _had_trial(self, one: Entrant) -> bool:
        return self._known[one.id].candidate.configuration.hash in self._tried

    def _finals(self, places: int) -> list[CandidateProposal]:
        """Trials of the leaders, best first, as far as they can be paid."""
        found, left = [], self._left
        for one in self._finalists[:places]:
            if self._missing(one) <= left:
                left -= self._missing(one)
                found.append(self._trial(one))
        return found

    def _blocks(self, places: int, spare: float) -> list[CandidateProposal]:
        """For each place whoever draws best: a candidate that runs on, or a new one."""
        found: list[CandidateProposal] = []
        taken = {one.candidate.configuration.hash for one in self._known.values()}
        going = {
            one.id: (one, part)
            for one in self.entrants
            if one.id in self.worths
            and not self._had_trial(one)
            and (part := next_block(one, self._parts))
        }
        new = iter(self._new(places, taken))
        for place in range(places):
            chance = generator(self._facts.seed, "race", self._generation, place)
            best, drawn = None, -math.inf
            for one, _ in going.values():
                value = self._drawn(one, chance)
                if value > drawn:
                    best, drawn = one, value
            fresh = next(new, None) if best is None or self._prefers_new(drawn, chance) else None
            if fresh is not None:
                items: tuple[str, ...] = tuple(self._parts[0])
                proposal = fresh
            elif best is not None:
                _, items = going.pop(best.id)
                proposal = self._proposal(best, items)
            else:
                break
            spare -= len(items) * self._repeats
            if spare < 0:
                break
            found.append(proposal)
        return found

    def _drawn(self, one: Entrant, chance: random.Random) -> float:
        worth = self.worths[one.id]
        return worth.mean - self._cost(one) + chance.gauss(0.0, worth.deviation)

    def _prefers_new(self, drawn: float, chance: random.Random) -> bool:
        """Whether a new candidate, as good as those so far are by chance, would draw better."""
        seen = [self.worths[one.id].mean for one in self.entrants if one.id in self.worths]
        if len(seen) <= _FIRST:
            return True
        top = sorted(seen)[len(seen) // 2 :]
        middle = sum(top) / len(top)
        spread = math.sqrt(sum((one - middle) ** 2 for one in top) / len(top))
        return chance.gauss(middle, spread) > drawn

    def _new(self, count: int, taken: set[str]) -> list[CandidateProposal]:
        """Variants that never ran: first ones of all kinds, then changes of the leaders."""
        begun = sum(1 for one in self.entrants if one.id != self._facts.baseline_candidate_id)
        chance = generator(self._facts.seed, "first")
        root = self._facts.baseline_candidate_id
        first = [Child(variant=one, parents=(root,)) for one in self._variants.first(chance)]
        found: list[CandidateProposal] = []
        if begun < _FIRST:
            self._take(first[: _FIRST + count], count, taken, found)
        for place in range(count - len(found)):
            options = self._options(place)
            self._take(options, 1, taken, found)
        self._take(first, count - len(found), taken, found)
        return found

    def _options(self, place: int) -> list[Child]:
        """Changes of the leaders, the most promising by a drawn gradient first."""
        chance = generator(self._facts.seed, "children", self._generation, place)
        read: dict[Variant, str] = {}
        for one in self._ranked:
            variant = self._variant(one)
            if variant is not None:  # With a label bias it is the same variant.
                read.setdefault(variant, one.id)
        leaders = [(name, variant) for variant, name in read.items()][:_PARENTS]
        children = list(self._variants.children(leaders, chance))
        drawn = self._gradient.draw(self._facts.seed, "worth", self._generation, place)
        children.sort(key=lambda one: -drawn(self._variants.features(one.variant)))
        return children

    @cached_property
    def _gradient(self) -> Gradient:
        """Which edits and examples made a difference to the baseline."""
        base = self.worths[self._facts.baseline_candidate_id].mean
        seen = [
            Observation(
                features=self._variants.features(variant),
                difference=self.worths[one.id].mean - base,
                variance=max(self.worths[one.id].deviation ** 2, 1e-4),
            )
            for one in self.entrants
            if one.id in self.worths and (variant := self._variant(one)) not in (None, Variant())
        ]
        return Gradient(seen, Prior(pair=0.0))

    def _variant(self, one: Entrant) -> Variant | None:
        if one.id == self._facts.baseline_candidate_id:
            return Variant()
        return self._variants.read(self._known[one.id].candidate)

    def _take(
        self,
        options: Sequence[Child],
        count: int,
        taken: set[str],
        found: list[CandidateProposal],
    ) -> None:
        for child in options:
            if count <= 0:
                return
            made = self._variants.configuration(child.variant)
            if made is None or made.hash in taken or made.hash in self._tried:
                continue
            taken.add(made.hash)
            found.append(self._new_proposal(child, made))
            count -= 1

    def _new_proposal(self, child: Child, made: Configuration) -> CandidateProposal:
        return CandidateProposal(
            configuration=made,
            parent_candidate_ids=child.parents,
            rationale=self._variants.describe(child.variant),
            item_ids=tuple(self._parts[0]),
            metadata=self._variants.metadata(child.variant),
        )

    def _proposal(self, one: Entrant, items: tuple[str, ...] | None) -> CandidateProposal:
        candidate = self._known[one.id].candidate
        return CandidateProposal(
            configuration=candidate.configuration,
            parent_candidate_ids=candidate.parent_candidate_ids,
            rationale=candidate.rationale,
            item_ids=items,
            metadata=dict(candidate.metadata or {}),
        )

    def _trial(self, one: Entrant) -> CandidateProposal:
        return self._proposal(one, None)


def _prompt_tokens(configuration: Configuration) -> int:
    shown = json.dumps([dict(one) for one in configuration.examples], ensure_ascii=False)
    return sum(map(count_tokens, (*configuration.sections.values(), shown)))
