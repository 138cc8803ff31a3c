"""Lines that mended failures alone and do not together: which of them stands in the way?

A trial far below what the single lines promised is the sign. What they mended alone is then run under
the joined text, and where that fails, groups of its other lines are left out in turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from burnish.domain import Configuration, placeholders
from burnish.optimizers.gepa.line_edits import LineEdit, split_units
from burnish.optimizers.gepa.moves import (
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
from burnish.optimizers.gepa.step_context import CLOSE, Desk
from burnish.optimizers.shared.evidence import Known, is_weak

_ASKED = "Is it in the way of others?"
_GROUPS = 4
_ITEMS = 3
# So many are more than bad luck: mended by a line alone, or with a line about them.
_FEWEST, _FEWEST_TOLD = 2, 5

Key = tuple[str, str, str]


class Conflicts:
    """Moves that leave out lines of the tip."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def moves(self, tip: Known) -> list[Move]:
        """The tip without some of its lines, on what only other lines are about."""
        configuration = tip.candidate.configuration
        baseline = self._desk.evidence.baseline.candidate.configuration
        added = [edit for edit in edits_between(baseline, configuration) if edit.new]
        failed = self._desk.failed(tip)
        mended = {item: keys for item, keys in self._owners(tip).items() if item in failed}
        told = await self._desk.ideas.told(tip, added, failed)
        if len(mended) < _FEWEST and len(told) < _FEWEST_TOLD:
            return []
        owners = {item: mended.get(item, set()) | told.get(item, set()) for item in failed}
        broken = [item for item in failed if owners[item]]
        broken.sort(key=lambda item: (item not in mended, self._desk.draw("broken", item)))
        found = []
        for group in self._groups(baseline, added):
            keys = {edit.key for edit in group}
            items = [item for item in broken if not owners[item] & keys][:_ITEMS]
            drops = [LineEdit(edit.section, edit.new, "") for edit in group]
            reason = Reason(
                kind=Kind.LINE, said=f"{_ASKED} {said_of(drops)}", purpose=Purpose.CONFLICT
            )
            if items:
                found.append(self._desk.move(edited(configuration, drops), tip, reason, items))
        return [move for move in found if self._desk.is_new(move)]

    def _groups(
        self, baseline: Configuration, added: Sequence[LineEdit]
    ) -> Iterator[list[LineEdit]]:
        """What the baseline has of its own, and then what was added, in a few groups."""
        own = [
            LineEdit(section, "", unit.text)
            for section in self._desk.ideas.sections
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
        for child in self._desk.evidence.children(tip.candidate.id):
            if has_purpose(child.candidate, Purpose.CONFLICT):
                edits = edits_between(tip.candidate.configuration, child.candidate.configuration)
                found.update(edit.key for edit in edits)
        return found

    def _owners(self, one: Known) -> dict[str, set[Key]]:
        """Items that single lines of it mended on an ancestor, and which ones."""
        evidence = self._desk.evidence
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
