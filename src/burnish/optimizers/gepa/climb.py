"""Climbing moves of gepa: lines tried for failures, joined, and dropped where they block others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from burnish.domain import Configuration, placeholders
from burnish.optimizers.gepa.line_edits import LineEdit, split_units
from burnish.optimizers.gepa.moves import (
    MOST_SAID,
    Kind,
    Move,
    Purpose,
    Reason,
    edited,
    edits_between,
    has_purpose,
    kind_of,
    said_of,
)
from burnish.optimizers.gepa.step_context import CLOSE, StepContext
from burnish.optimizers.shared.evidence import Known, is_weak
from burnish.optimizers.shared.seeded_random import generator

_ASKED = "Is it in the way of others?"
_GROUPS = 4
_ITEMS = 3
# So many are more than bad luck: mended by a line alone, or with a line about them.
_FEWEST, _FEWEST_TOLD = 2, 5
Key = tuple[str, str, str]
# A line that is about no failure in particular is gated on so many.
_VAGUE = 2
_MUCH = 0.3
_RICH = 10
_TOGETHER = 6
_UNIONS = 8
_UNITED = "Together, what was tried alone in vain."


class Climb:
    """Moves that improve the tip."""

    def __init__(self, context: StepContext) -> None:
        self._context = context

    async def moves(self, tip: Known, places: int) -> list[Move]:
        """Look at the window, try lines until its failures seem mended, join them, look further."""
        looks = self._context.look(tip, self._context.missing(tip))
        if looks:
            return looks
        failed = self._context.failed(tip)
        lines = Tried(self._context, tip)
        kept = await self._context.ideas.distinct(tip, lines.survivors, failed)
        mended = await self._context.ideas.mended(tip, kept, failed)
        waiting = [item for item in self.in_turn(tip) if item not in mended]
        found = (
            self._parts(tip, lines, places)
            or self._freed(tip, lines.survivors)
            or (await Conflicts(self._context).moves(tip))[:places]
            or await self.lines(tip, waiting, kept, places)
        )
        if not found and len(waiting) > 1:
            # Nothing new came of it: the same failures in other company.
            found = await self.lines(tip, waiting[::2] + waiting[1::2], kept, places)
        if not found and kept:
            enough = len(mended) >= self._context.settings.mended * len(failed)
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
        context = self._context
        edits = context.ideas.edit_history.in_vain_on(failed, tip.candidate.configuration)
        tried = sum(
            1
            for child in context.evidence.children(tip.candidate.id)
            if has_purpose(child.candidate, Purpose.UNION)
        )
        stubborn = sorted(
            failed,
            key=lambda item: (-context.evidence.times_failed(item), context.draw("united", item)),
        )
        found = []
        for place in range(min(places, _UNIONS - tried) if len(edits) > 1 else 0):
            chance = generator(context.facts.seed, "union", tip.candidate.number, tried + place)
            some = chance.sample(edits, min(_TOGETHER, len(edits)))
            found.append(self._line(tip, some, _UNITED, stubborn[:_VAGUE], Purpose.UNION))
        return [move for move in found if context.is_new(move)]

    def _look_further(self, one: Known) -> list[Move]:
        """The next chunk of the pool, rather than the same failures again: they may be bad luck."""
        return self._context.look(one, self._context.next_chunk)

    def in_turn(self, one: Known) -> list[str]:
        """Its failures that are worth a reflection.

        Those tried least go first, and of these the ones that more candidates failed.
        """
        tried: Counter[str] = Counter()
        for child in self._context.evidence.children(one.candidate.id):
            if kind_of(child.candidate) in (Kind.LINE, Kind.REWRITE):
                tried.update(child.results.keys())
        failed = self._context.failed(one)
        # Where little fails, much of it is bad luck, which no line mends: worth it with much to spare.
        often = len(failed) > _MUCH * len(self._context.window)
        rich = (
            self._context.left
            > _RICH * self._context.items.trial_items * self._context.items.repeats
        )
        tries = self._context.settings.tries if often or rich else 1
        return sorted(
            (item for item in failed if tried[item] < tries),
            key=lambda item: (
                tried[item],
                -self._context.evidence.times_failed(item),
                self._context.draw("failure", item),
            ),
        )

    async def lines(
        self, tip: Known, failures: Sequence[str], kept: Sequence[LineEdit], places: int
    ) -> list[Move]:
        """Single lines, each on what it is about. The model sees those that did well already."""
        if places < 1 or not failures:
            return []
        passed = self._context.passes(tip, 2 * places, "gate")
        ideas = await self._context.ideas.of(tip, failures, passed[:1], places=places, kept=kept)
        found = []
        for idea in ideas:
            if idea.whole is not None:
                items = [*idea.failures, *passed[: len(idea.failures)]]
                reason = Reason(kind=Kind.REWRITE, said=idea.said or "Written anew.")
                found.append(self._context.move(idea.whole, tip, reason, items))
            elif idea.edit is not None and not idea.vague:
                items = list(idea.failures[: self._context.settings.gate_failed])
                found.append(self._line(tip, [idea.edit], idea.said, items))
        vague = [idea for idea in ideas if idea.vague and idea.edit is not None]
        if vague:
            # About no failure in particular: one gate for all, with an item that they may break.
            edits = [idea.edit for idea in vague if idea.edit is not None]
            about = dict.fromkeys(item for idea in vague for item in idea.failures)
            items = [*list(about)[:_VAGUE], *passed[:1]]
            found.append(self._line(tip, edits, vague[0].said, items))
        return [move for move in found if self._context.is_new(move)][:places]

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
        return self._context.move(edited(tip.candidate.configuration, edits), tip, reason, items)

    def _parts(self, tip: Known, lines: Tried, places: int) -> list[Move]:
        """Sets of lines that mended something without one of them: is it needed?"""
        found = [
            self._line(tip, part.edits, "A part of what helped.", part.items)
            for part in lines.parts
        ]
        return [move for move in found if self._context.is_new(move)][:places]

    def _freed(self, tip: Known, survivors: Sequence[LineEdit]) -> list[Move]:
        """The tip without the lines that seem to be in the way of others, before anything else."""
        blocking = Conflicts(self._context).blocking(tip)
        drops = [edit for edit in survivors if edit.key in blocking]
        return self._joins(tip, [drops]) if drops else []

    def _joins(
        self, tip: Known, wanted: Sequence[Sequence[LineEdit]], *, in_full: bool = False
    ) -> list[Move]:
        """Sets of lines as children: on the window's failures and some passes, or as a trial."""
        items = [
            *self._context.failed(tip),
            *self._context.passes(tip, self._context.settings.join_passed, "join"),
        ]
        found = []
        for edits in wanted:
            configuration = edited(tip.candidate.configuration, edits)
            said = f"Joined what mended failures. {said_of(edits)}"
            reason = Reason(kind=Kind.JOIN, said=said)
            known = self._context.by_hash.get(configuration.hash)
            if known is None or not self._context.evidence.verified(known, tip):
                found.append(
                    self._context.move(configuration, tip, reason, None if in_full else items)
                )
        return [move for move in found if self._context.is_new(move)]


class Conflicts:
    """Moves that leave out lines of the tip."""

    def __init__(self, context: StepContext) -> None:
        self._context = context

    async def moves(self, tip: Known) -> list[Move]:
        """The tip without some of its lines, on what only other lines are about."""
        configuration = tip.candidate.configuration
        baseline = self._context.evidence.baseline.candidate.configuration
        added = [edit for edit in edits_between(baseline, configuration) if edit.new]
        failed = self._context.failed(tip)
        mended = {item: keys for item, keys in self._owners(tip).items() if item in failed}
        told = await self._context.ideas.told(tip, added, failed)
        if len(mended) < _FEWEST and len(told) < _FEWEST_TOLD:
            return []
        owners = {item: mended.get(item, set()) | told.get(item, set()) for item in failed}
        broken = [item for item in failed if owners[item]]
        broken.sort(key=lambda item: (item not in mended, self._context.draw("broken", item)))
        found = []
        for group in self._groups(baseline, added):
            keys = {edit.key for edit in group}
            items = [item for item in broken if not owners[item] & keys][:_ITEMS]
            drops = [LineEdit(edit.section, edit.new, "") for edit in group]
            reason = Reason(
                kind=Kind.LINE, said=f"{_ASKED} {said_of(drops)}", purpose=Purpose.CONFLICT
            )
            if items:
                found.append(self._context.move(edited(configuration, drops), tip, reason, items))
        return [move for move in found if self._context.is_new(move)]

    def _groups(
        self, baseline: Configuration, added: Sequence[LineEdit]
    ) -> Iterator[list[LineEdit]]:
        """What the baseline has of its own, and then what was added, in a few groups."""
        own = [
            LineEdit(section, "", unit.text)
            for section in self._context.ideas.sections
            for unit in split_units(baseline.sections[section])
            if not placeholders(unit.text)
        ]
        if own:
            yield own
        size = max(-(-len(added) // _GROUPS), 1)
        for start in range(0, len(added), size):
            yield list(added[start : start + size])

    def blocking(self, tip: Known) -> set[Key]:
        """Drops that were tried because of a conflict, as part of a group or alone."""
        found: set[Key] = set()
        for child in self._context.evidence.children(tip.candidate.id):
            if has_purpose(child.candidate, Purpose.CONFLICT):
                edits = edits_between(tip.candidate.configuration, child.candidate.configuration)
                found.update(edit.key for edit in edits)
        return found

    def _owners(self, one: Known) -> dict[str, set[Key]]:
        """Items that single lines of it mended on an ancestor, and which ones."""
        evidence = self._context.evidence
        found: dict[str, set[Key]] = {}
        for elder in evidence.lineage(one.candidate.id)[1:]:
            before = elder.candidate.configuration
            taken = {edit.key for edit in edits_between(before, one.candidate.configuration)}
            for child in evidence.children(elder.candidate.id):
                if kind_of(child.candidate) is not Kind.LINE:
                    continue
                keys = {edit.key for edit in edits_between(before, child.candidate.configuration)}
                if not keys <= taken or evidence.gain(child, elder) <= CLOSE:
                    continue
                for item, own in child.results.items():
                    if item in elder.results and elder.weak(item) and not is_weak(own):
                        found.setdefault(item, set()).update(keys)
        return found


@dataclass(frozen=True, slots=True)
class Part:
    """Some lines of a set that mended something, and the items to try them on."""

    edits: list[LineEdit]
    items: list[str]


class Tried:
    """The lines and sets of lines that were tried on a tip.

    A set is joined as a whole only if it is minimal, that is if nothing is mended without any one of
    its lines: what is of no use must not come along with what is, and what helps only together must
    not be taken apart.
    """

    def __init__(self, context: StepContext, tip: Known) -> None:
        self._context = context
        self._tip = tip
        self._sets: dict[frozenset[Key], tuple[list[LineEdit], Known]] = {}
        self._joined: set[Key] = set()
        # Halves of sets that were joined: what to try if the whole was no better.
        self.halves: list[list[LineEdit]] = []
        for child in context.evidence.children(tip.candidate.id):
            if kind_of(child.candidate) in (Kind.LINE, Kind.JOIN):
                self._add(child)

    def _add(self, child: Known) -> None:
        edits = edits_between(self._tip.candidate.configuration, child.candidate.configuration)
        verified = self._context.evidence.verified(child, self._tip)
        if kind_of(child.candidate) is Kind.JOIN or verified:
            self._joined.update(edit.key for edit in edits)
            if verified and len(edits) > 1:
                middle = len(edits) // 2
                self.halves += [edits[:middle], edits[middle:]]
        else:
            self._sets[_keys(edits)] = (edits, child)

    @property
    def survivors(self) -> list[LineEdit]:
        """Lines of minimal sets that mended something and were not joined yet."""
        found = {
            edit.key: edit
            for keys in self._least
            if not self._untried(self._sets[keys][0])
            for edit in self._sets[keys][0]
        }
        return [edit for key, edit in found.items() if key not in self._joined]

    @property
    def parts(self) -> list[Part]:
        """Sets that mended something without one of their lines, as far as that was not tried."""
        return [
            Part(part, self._gained[keys])
            for keys in self._least
            for part in self._untried(self._sets[keys][0])
        ]

    @cached_property
    def _gained(self) -> dict[frozenset[Key], list[str]]:
        """Sets that were better on the whole, and on which items."""
        found = {keys: self._mended(child) for keys, (_, child) in self._sets.items()}
        return {keys: items for keys, items in found.items() if items}

    @cached_property
    def _least(self) -> list[frozenset[Key]]:
        """Those of which no part that was tried does the same."""
        return [keys for keys in self._gained if not any(one < keys for one in self._gained)]

    def _mended(self, child: Known) -> list[str]:
        tip = self._tip
        if self._context.evidence.gain(child, tip) <= CLOSE:
            return []
        better = [
            item
            for item, own in child.results.items()
            if item in tip.results and own.score > tip.results[item].score + CLOSE
        ]
        return better[: self._context.settings.gate_failed]

    def _untried(self, edits: Sequence[LineEdit]) -> list[list[LineEdit]]:
        if all(edit.key in self._own for edit in edits):
            return []  # Less of the baseline's own text is no loss.
        parts = [[one for one in edits if one is not left] for left in edits]
        text = self._tip.candidate.configuration
        return [
            part
            for part in parts
            if part
            and _keys(part) not in self._sets
            and self._context.ideas.allows(edited(text, part))
        ]

    @cached_property
    def _own(self) -> set[Key]:
        """Drops of what the baseline says."""
        sections = self._context.evidence.baseline.candidate.configuration.sections
        return {
            (path, unit.key, "") for path, text in sections.items() for unit in split_units(text)
        }


def _keys(edits: Sequence[LineEdit]) -> frozenset[Key]:
    return frozenset(edit.key for edit in edits)
