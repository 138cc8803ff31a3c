"""The tip's own way up: look, try a line for every failure, join what mended something, and again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from burnish.optimizers.gepa.conflicts import Conflicts
from burnish.optimizers.gepa.line_edits import LineEdit
from burnish.optimizers.gepa.moves import (
    MOST_SAID,
    Kind,
    Move,
    Purpose,
    Reason,
    edited,
    has_purpose,
    kind_of,
    said_of,
)
from burnish.optimizers.gepa.step_context import Desk
from burnish.optimizers.gepa.tried_lines import Tried
from burnish.optimizers.shared.evidence import Known
from burnish.optimizers.shared.seeded_random import generator

# A line that is about no failure in particular is gated on so many.
_VAGUE = 2
_MUCH = 0.3
_RICH = 10
_TOGETHER = 6
_UNIONS = 8
_UNITED = "Together, what was tried alone in vain."


class Climb:
    """Moves that improve the tip."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def moves(self, tip: Known, places: int) -> list[Move]:
        """Look at the window, try lines until its failures seem mended, join them, look further."""
        looks = self._desk.look(tip, self._desk.missing(tip))
        if looks:
            return looks
        failed = self._desk.failed(tip)
        lines = Tried(self._desk, tip)
        kept = await self._desk.ideas.distinct(tip, lines.survivors, failed)
        mended = await self._desk.ideas.mended(tip, kept, failed)
        waiting = [item for item in self.in_turn(tip) if item not in mended]
        found = (
            self._parts(tip, lines, places)
            or self._freed(tip, lines.survivors)
            or (await Conflicts(self._desk).moves(tip))[:places]
            or await self.lines(tip, waiting, kept, places)
        )
        if not found and len(waiting) > 1:
            # Nothing new came of it: the same failures in other company.
            found = await self.lines(tip, waiting[::2] + waiting[1::2], kept, places)
        if not found and kept:
            enough = len(mended) >= self._desk.settings.mended * len(failed)
            found = self._joins(tip, [kept], in_full=enough)
        return (
            found
            or self._joins(tip, lines.halves)
            or self._look_further(tip)
            or self._unions(tip, failed, places)
            or await self.lines(tip, self.in_turn(tip), kept, places)
        )

    def _unions(self, tip: Known, failed: Sequence[str], places: int) -> list[Move]:
        """Some of what was tried on failures in vain, together: there are lines that help only so."""
        desk = self._desk
        edits = desk.ideas.lessons.in_vain_on(failed, tip.candidate.configuration)
        tried = sum(
            1
            for child in desk.evidence.children(tip.candidate.id)
            if has_purpose(child.candidate, Purpose.UNION)
        )
        stubborn = sorted(
            failed, key=lambda item: (-desk.evidence.times_failed(item), desk.draw("united", item))
        )
        found = []
        for place in range(min(places, _UNIONS - tried) if len(edits) > 1 else 0):
            chance = generator(desk.facts.seed, "union", tip.candidate.number, tried + place)
            some = chance.sample(edits, min(_TOGETHER, len(edits)))
            found.append(self._line(tip, some, _UNITED, stubborn[:_VAGUE], Purpose.UNION))
        return [move for move in found if desk.is_new(move)]

    def _look_further(self, one: Known) -> list[Move]:
        """The next chunk of the pool, rather than the same failures again: they may be bad luck."""
        return self._desk.look(one, self._desk.next_chunk)

    def in_turn(self, one: Known) -> list[str]:
        """Its failures that are worth a reflection.

        Those tried least go first, and of these the ones that more candidates failed.
        """
        tried: Counter[str] = Counter()
        for child in self._desk.evidence.children(one.candidate.id):
            if kind_of(child.candidate) in (Kind.LINE, Kind.REWRITE):
                tried.update(child.results.keys())
        failed = self._desk.failed(one)
        # Where little fails, much of it is bad luck, which no line mends: worth it with much to spare.
        often = len(failed) > _MUCH * len(self._desk.window)
        rich = self._desk.left > _RICH * self._desk.items.trial_items * self._desk.items.repeats
        tries = self._desk.settings.tries if often or rich else 1
        return sorted(
            (item for item in failed if tried[item] < tries),
            key=lambda item: (
                tried[item],
                -self._desk.evidence.times_failed(item),
                self._desk.draw("failure", item),
            ),
        )

    async def lines(
        self, tip: Known, failures: Sequence[str], kept: Sequence[LineEdit], places: int
    ) -> list[Move]:
        """Single lines, each on what it is about. The model sees those that did well already."""
        if places < 1 or not failures:
            return []
        passed = self._desk.passes(tip, 2 * places, "gate")
        ideas = await self._desk.ideas.of(tip, failures, passed[:1], places=places, kept=kept)
        found = []
        for idea in ideas:
            if idea.whole is not None:
                items = [*idea.motives, *passed[: len(idea.motives)]]
                reason = Reason(kind=Kind.REWRITE, said=idea.said or "Written anew.")
                found.append(self._desk.move(idea.whole, tip, reason, items))
            elif idea.edit is not None and not idea.vague:
                items = list(idea.motives[: self._desk.settings.gate_failed])
                found.append(self._line(tip, [idea.edit], idea.said, items))
        vague = [idea for idea in ideas if idea.vague and idea.edit is not None]
        if vague:
            # About no failure in particular: one gate for all, with an item that they may break.
            edits = [idea.edit for idea in vague if idea.edit is not None]
            motives = dict.fromkeys(item for idea in vague for item in idea.motives)
            items = [*list(motives)[:_VAGUE], *passed[:1]]
            found.append(self._line(tip, edits, vague[0].said, items))
        return [move for move in found if self._desk.is_new(move)][:places]

    def _line(
        self,
        tip: Known,
        edits: Sequence[LineEdit],
        said: str,
        items: Sequence[str],
        purpose: Purpose | None = None,
    ) -> Move:
        words = f"{said_of(edits)} {said}".strip()
        # A union whose words are cut is not counted: so it always was, and results depend on it.
        purpose = None if len(words) > MOST_SAID else purpose
        reason = Reason(kind=Kind.LINE, said=words, purpose=purpose)
        return self._desk.move(edited(tip.candidate.configuration, edits), tip, reason, items)

    def _parts(self, tip: Known, lines: Tried, places: int) -> list[Move]:
        """Sets of lines that mended something without one of them: is it needed?"""
        found = [
            self._line(tip, part.edits, "A part of what helped.", part.items)
            for part in lines.parts
        ]
        return [move for move in found if self._desk.is_new(move)][:places]

    def _freed(self, tip: Known, survivors: Sequence[LineEdit]) -> list[Move]:
        """The tip without the lines that seem to be in the way of others, before anything else."""
        blocking = Conflicts(self._desk).blocking(tip)
        drops = [edit for edit in survivors if edit.key in blocking]
        return self._joins(tip, [drops]) if drops else []

    def _joins(
        self, tip: Known, wanted: Sequence[Sequence[LineEdit]], *, in_full: bool = False
    ) -> list[Move]:
        """Sets of lines as children: on the window's failures and some passes, or as a trial."""
        items = [
            *self._desk.failed(tip),
            *self._desk.passes(tip, self._desk.settings.join_passed, "join"),
        ]
        found = []
        for edits in wanted:
            configuration = edited(tip.candidate.configuration, edits)
            said = f"Joined what mended failures. {said_of(edits)}"
            reason = Reason(kind=Kind.JOIN, said=said)
            known = self._desk.by_hash.get(configuration.hash)
            if known is None or not self._desk.evidence.verified(known, tip):
                found.append(
                    self._desk.move(configuration, tip, reason, None if in_full else items)
                )
        return [move for move in found if self._desk.is_new(move)]
