"""What became of the lines that were tried on a candidate: which to join, and which to look into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from burnish.optimizers.gepa.line_edits import LineEdit, split_units
from burnish.optimizers.gepa.moves import Kind, edited, edits_between, kind_of
from burnish.optimizers.gepa.step_context import CLOSE, Desk
from burnish.optimizers.shared.evidence import Known

Key = tuple[str, str, str]


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

    def __init__(self, desk: Desk, tip: Known) -> None:
        self._desk = desk
        self._tip = tip
        self._sets: dict[frozenset[Key], tuple[list[LineEdit], Known]] = {}
        self._joined: set[Key] = set()
        # Halves of sets that were joined: what to try if the whole was no better.
        self.halves: list[list[LineEdit]] = []
        for child in desk.evidence.children(tip.candidate.id):
            if kind_of(child.candidate) in (Kind.LINE, Kind.JOIN):
                self._add(child)

    def _add(self, child: Known) -> None:
        edits = edits_between(self._tip.candidate.configuration, child.candidate.configuration)
        verified = self._desk.evidence.verified(child, self._tip)
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
        if self._desk.evidence.gain(child, tip) <= CLOSE:
            return []
        better = [
            item
            for item, own in child.results.items()
            if item in tip.results and own.score > tip.results[item].score + CLOSE
        ]
        return better[: self._desk.settings.gate_failed]

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
            and self._desk.ideas.allows(edited(text, part))
        ]

    @cached_property
    def _own(self) -> set[Key]:
        """Drops of what the baseline says."""
        sections = self._desk.evidence.baseline.candidate.configuration.sections
        return {
            (path, unit.key, "") for path, text in sections.items() for unit in split_units(text)
        }


def _keys(edits: Sequence[LineEdit]) -> frozenset[Key]:
    return frozenset(edit.key for edit in edits)
