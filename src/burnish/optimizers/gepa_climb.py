"""The tip's own way up: look, try a line for every failure, join what mended something, and again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from burnish.optimizers.evidence import Known
from burnish.optimizers.gepa_desk import CLOSE, Desk
from burnish.optimizers.gepa_moves import (
    Kind,
    Move,
    described,
    edited,
    edits_between,
    kind_of,
    said_of,
)
from burnish.optimizers.line_edits import LineEdit

# A line that is about no failure in particular is gated on so many.
_VAGUE = 2
_MUCH = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """Lines that mended something and were not joined yet, and halves of sets that were."""

    survivors: list[LineEdit]
    halves: list[list[LineEdit]]


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
        lines = self._tried_lines(tip)
        kept = await self._desk.ideas.distinct(tip, lines.survivors, failed)
        mended = await self._desk.ideas.mended(tip, kept, failed)
        waiting = [item for item in self._in_turn(tip) if item not in mended]
        found = await self._lines(tip, waiting, kept, places)
        if not found and len(waiting) > 1:
            # Nothing new came of it: the same failures in other company.
            found = await self._lines(tip, waiting[::2] + waiting[1::2], kept, places)
        if not found and kept:
            enough = len(mended) >= self._desk.settings.mended * len(failed)
            found = self._joins(tip, [kept], in_full=enough)
        return (
            found
            or self._joins(tip, lines.halves)
            or self._look_further(tip)
            or await self._lines(tip, self._in_turn(tip), kept, places)
        )

    def _look_further(self, one: Known) -> list[Move]:
        """The next chunk of the pool, rather than the same failures again: they may be bad luck."""
        return self._desk.look(one, self._desk.next_chunk)

    def _in_turn(self, one: Known) -> list[str]:
        """Its failures that are worth a reflection.

        Those tried least go first, and of these the ones that more candidates failed.
        """
        tried: Counter[str] = Counter()
        for child in self._desk.evidence.children(one.candidate.id):
            if kind_of(child.candidate) in (Kind.LINE, Kind.REWRITE):
                tried.update(child.results.keys())
        failed = self._desk.failed(one)
        # Where little fails, much of it is bad luck, which no line mends.
        often = len(failed) > _MUCH * len(self._desk.window)
        tries = self._desk.settings.tries if often else 1
        return sorted(
            (item for item in failed if tried[item] < tries),
            key=lambda item: (
                tried[item],
                -self._desk.evidence.times_failed(item),
                self._desk.draw("failure", item),
            ),
        )

    async def _lines(
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
                said = described(Kind.REWRITE, idea.said or "Written anew.")
                found.append(self._desk.move(idea.whole, tip, said, items))
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

    def _line(self, tip: Known, edits: Sequence[LineEdit], said: str, items: Sequence[str]) -> Move:
        rationale = described(Kind.LINE, f"{said_of(edits)} {said}".strip())
        return self._desk.move(edited(tip.candidate.configuration, edits), tip, rationale, items)

    def _tried_lines(self, tip: Known) -> Tried:
        """What became of the lines that were tried on the tip."""
        evidence = self._desk.evidence
        survivors: dict[tuple[str, str, str], LineEdit] = {}
        joined: set[tuple[str, str, str]] = set()
        halves: list[list[LineEdit]] = []
        for child in evidence.children(tip.candidate.id):
            kind = kind_of(child.candidate)
            if kind not in (Kind.LINE, Kind.JOIN):
                continue
            edits = edits_between(tip.candidate.configuration, child.candidate.configuration)
            verified = evidence.verified(child, tip)
            if kind is Kind.JOIN or verified:
                joined.update(edit.key for edit in edits)
                if verified and len(edits) > 1:
                    middle = len(edits) // 2
                    halves += [edits[:middle], edits[middle:]]
            elif evidence.gain(child, tip) > CLOSE:
                survivors.update({edit.key: edit for edit in edits})
        fresh = [edit for key, edit in survivors.items() if key not in joined]
        return Tried(survivors=fresh, halves=halves)

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
            said = described(Kind.JOIN, f"Joined what mended failures. {said_of(edits)}")
            known = self._desk.by_hash.get(configuration.hash)
            if known is None or not self._desk.evidence.verified(known, tip):
                found.append(self._desk.move(configuration, tip, said, None if in_full else items))
        return [move for move in found if self._desk.is_new(move)]
