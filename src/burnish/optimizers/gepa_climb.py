"""The tip's own way up: look, try a line for every failure, join what mended something, and again."""

from __future__ import annotations

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


class Climb:
    """Moves that improve the tip."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def moves(self, tip: Known, places: int) -> list[Move]:
        """The tip's own way up: look, try lines for every failure once, join them, and again."""
        missing = self._desk.missing(tip)
        if missing:
            return [self._desk.look(tip, missing)]
        lines = []
        if any(tried == 0 for _, tried in self._failures(tip)):
            lines = await self._lines(tip, places)
        return (
            lines
            or await self._joins(tip)
            or self._look_further(tip)
            or await self._lines(tip, places)
        )

    def _look_further(self, one: Known) -> list[Move]:
        """The next chunk of the pool, rather than the same failures again: they may be bad luck."""
        start = len(self._desk.window)
        further = self._desk.items.pool[start : start + self._desk.settings.look]
        return [self._desk.look(one, further)] if further else []

    def _failures(self, one: Known) -> list[tuple[str, int]]:
        """Its failures that are worth a reflection, with how often one was tried.

        Those tried least go first, and of these the ones that more candidates failed.
        """
        tried = self._attempts(one)
        failed = [
            (item, tried.get(item, 0))
            for item in self._desk.window
            if item in one.results and one.weak(item)
        ]
        return sorted(
            (pair for pair in failed if pair[1] < self._desk.settings.tries),
            key=lambda pair: (
                pair[1],
                -self._desk.evidence.times_failed(pair[0]),
                self._desk.draw("failure", pair[0]),
            ),
        )

    def _attempts(self, one: Known) -> dict[str, int]:
        """How often each item was tried under this candidate."""
        found: dict[str, int] = {}
        for child in self._desk.evidence.children(one.candidate.id):
            if kind_of(child.candidate) in (Kind.LINE, Kind.REWRITE):
                for item in child.results:
                    found[item] = found.get(item, 0) + 1
        return found

    async def _lines(self, tip: Known, places: int) -> list[Move]:
        """Single lines, each on what it is about."""
        failures = [item for item, _ in self._failures(tip)]
        if places < 1 or not failures:
            return []
        passed = self._desk.passes(tip, 2 * places, "gate")
        ideas = await self._desk.ideas.of(tip, failures, passed[:1], places=places)
        found = []
        for place, idea in enumerate(ideas):
            motives = idea.motives[: self._desk.settings.gate_failed]
            # What is about no failure in particular may do harm anywhere.
            beside = [passed[place % len(passed)]] if passed and idea.vague else []
            if idea.whole is not None:
                items = [*idea.motives, *passed[: len(idea.motives)]]
                said = described(Kind.REWRITE, idea.said or "Written anew.")
                found.append(self._desk.move(idea.whole, tip, said, items))
            elif idea.edit is not None:
                said = described(Kind.LINE, f"{said_of([idea.edit])} {idea.said}".strip())
                configuration = edited(tip.candidate.configuration, [idea.edit])
                found.append(self._desk.move(configuration, tip, said, [*motives, *beside]))
        return [move for move in found if self._desk.is_new(move)][:places]

    async def _joins(self, tip: Known) -> list[Move]:
        """All lines that mended something in one child; halves of a child that did not win."""
        survivors: dict[tuple[str, str, str], LineEdit] = {}
        joined: set[tuple[str, str, str]] = set()
        halves: list[list[LineEdit]] = []
        evidence = self._desk.evidence
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
        failures = [item for item in self._desk.window if item in tip.results and tip.weak(item)]
        wanted = [await self._desk.ideas.distinct(tip, fresh, failures)] if fresh else halves
        items = [*failures, *self._desk.passes(tip, self._desk.settings.join_passed, "join")]
        found = []
        for edits in wanted:
            configuration = edited(tip.candidate.configuration, edits)
            said = described(Kind.JOIN, f"Joined what mended failures. {said_of(edits)}")
            move = self._desk.move(configuration, tip, said, items)
            known = self._desk.by_hash.get(configuration.hash)
            if known is None or not evidence.verified(known, tip):
                found.append(move)
        return [move for move in found if self._desk.is_new(move)]
