"""Where results turn by luck: lines are judged by a fit of all results, and so is the winner.

A gate of one item or a single trial says little then. The climb only finds lines; which of them belong
together is settled by trials of the best set as the fit sees it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from burnish.domain import ItemResult
from burnish.optimizers.gepa.climb import Climb
from burnish.optimizers.gepa.explore import Explore
from burnish.optimizers.gepa.line_effects import World
from burnish.optimizers.gepa.line_sets import LineSets
from burnish.optimizers.gepa.moves import Kind, Move, Reason, said_of
from burnish.optimizers.gepa.noise import Subjects, TurnsMemo, is_shown
from burnish.optimizers.gepa.step_context import Desk
from burnish.optimizers.shared.evidence import Known

_LOOK = 16
# Where the best fails next to nothing, luck has little room.
_LITTLE = 0.05


@dataclass
class SettleMemo:
    """What was worked out before, and from what.

    A pure cache: without it the same is worked out again.
    """

    subjects: dict[str, Subjects] = field(default_factory=dict)
    turns: TurnsMemo = field(default_factory=dict)
    results: list[Mapping[str, ItemResult]] = field(default_factory=list)
    sets: LineSets | None = None


class Settle:
    """The moves of one step."""

    def __init__(self, desk: Desk, memo: SettleMemo) -> None:
        self._desk = desk
        self._memo = memo

    async def is_due(self) -> bool:
        """Whether results turn though no line about them was changed, and much is left to be had."""
        desk = self._desk
        best = max(one.trial_score or 0.0 for one in desk.evidence.trialed)
        if desk.facts.perfect_score is None or best > desk.facts.perfect_score - _LITTLE:
            return False
        return is_shown(desk.evidence, await self._subjects(), self._memo.turns)

    async def moves(self, places: int) -> list[Move]:
        """A trial of the best set of lines if there is a better one than was tried.

        Else the winner on more items, then new lines for what it fails, then a set that would be
        better in another possible world.
        """
        desk, sets = self._desk, await self._sets()
        winner = desk.evidence.known[sets.winner()]
        return (
            self._trial(sets, sets.likely())
            or self._look(winner)
            or await self._lines(winner, places)
            or self._trial(sets, sets.drawn(desk.facts.seed, desk.generation))
            or await Explore(desk).moves(winner, places)
        )

    async def winner(self) -> str:
        """Of all trials."""
        return (await self._sets()).winner()

    def _trial(self, sets: LineSets, world: World) -> list[Move]:
        desk = self._desk
        best = sets.best(world, tried=desk.tried, allowed=desk.ideas.allows)
        if best is None:
            return []
        said = f"Lines put together anew. {said_of(best.edits)}"
        reason = Reason(kind=Kind.MERGE, said=said)
        return [desk.move(best.configuration, desk.evidence.known[best.parent], reason, None)]

    def _look(self, winner: Known) -> list[Move]:
        """At items to reflect on, part by part."""
        missing = [item for item in self._desk.items.pool if item not in winner.results]
        return self._desk.look(winner, missing[:_LOOK])

    async def _lines(self, winner: Known, places: int) -> list[Move]:
        climb = Climb(self._desk)
        return await climb.lines(winner, climb.in_turn(winner), (), places)

    async def _sets(self) -> LineSets:
        evidence, memo = self._desk.evidence, self._memo
        results = [one.results for one in evidence.known.values()]
        # The very same ones: what was read again may be other.
        if memo.sets is None or list(map(id, results)) != list(map(id, memo.results)):
            memo.sets, memo.results = LineSets(evidence, await self._subjects()), results
        return memo.sets

    async def _subjects(self) -> Subjects:
        key, items = self._desk.evidence.baseline.candidate.id, self._desk.items
        if key not in self._memo.subjects:
            ids = [*items.train, *items.validation]
            self._memo.subjects[key] = Subjects(await self._desk.ideas.history.load_items(ids))
        return self._memo.subjects[key]
