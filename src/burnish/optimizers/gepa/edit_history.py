"""What earlier edits taught a run: which earn something, which were tried in vain, and where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from rapidfuzz import fuzz

from burnish.domain import Configuration
from burnish.optimizers.gepa.line_edits import LineEdit, key_of, split_units
from burnish.optimizers.gepa.moves import Kind, edits_between, kind_of
from burnish.optimizers.shared.evidence import Evidence, Known
from burnish.optimizers.shared.failure_matching import words_of
from burnish.optimizers.shared.gradient import Gradient, Observation

_REJECTED_FOR_GOOD = 2
_MUCH_BETTER = 1.5
# A word of this share of all lines belongs to their way of speaking.
_COMMON = 0.2
_HINTS = 4
_EARNS = 0.01
# A line so alike says the same.
_SAID = 70.0
# The fit grows with the cube of what it is given; older results add little.
_LATEST = 96


@dataclass(frozen=True)
class EditHistory:
    """Read from the evidence of one step."""

    evidence: Evidence

    def earning(self, edits: Sequence[LineEdit]) -> set[tuple[str, str]]:
        """Sections and keys of the lines, among those edits, that seem to earn something."""
        return {
            (edit.section, key_of(edit.new))
            for edit in edits
            if edit.new and self.gradient.effect(_name(edit)).mean >= _EARNS
        }

    def is_rejected(self, edit: LineEdit) -> bool:
        """Whether it mended nothing, again and again, or brings back what was better left out."""
        if self._in_vain.get(edit.key, (edit, 0))[1] >= _REJECTED_FOR_GOOD:
            return True
        return bool(edit.new) and self._is_left_out(edit)

    def in_vain_on(self, item_ids: Sequence[str], text: Configuration) -> list[LineEdit]:
        """Added lines that mended none of these items, if a text does not say the same."""
        wanted = set(item_ids)
        found: dict[tuple[str, str, str], LineEdit] = {}
        for child, parent in self._lines():
            shared = [item for item in child.results if item in wanted and item in parent.results]
            if shared and self.evidence.gain(child, parent) <= 0:
                found.update(
                    {edit.key: edit for edit in _edits(child, parent) if edit.new and not edit.old}
                )
        lines = [edit for edit in found.values() if not self._is_left_out(edit)]
        said = [words_of(unit.text) for one in text.sections.values() for unit in split_units(one)]
        words = {edit.key: words_of(edit.new) for edit in lines}
        common = Counter(word for one in (*words.values(), *said) for word in one)
        most = _COMMON * (len(lines) + len(said))
        return [
            edit
            for edit in lines
            if not any(
                frozenset(word for word in words[edit.key] if common[word] <= most) <= one
                for one in said
            )
        ]

    def _is_left_out(self, edit: LineEdit) -> bool:
        return (edit.section, key_of(edit.new)) in self._left_out

    @cached_property
    def _left_out(self) -> set[tuple[str, str]]:
        """Lines without which a candidate did better, where nothing else was changed."""
        found = set()
        for child, parent in self._pairs():
            edits = _edits(child, parent)
            alone = len(edits) == 1 and bool(edits[0].old) and not edits[0].new
            if alone and self.evidence.gain(child, parent) > _MUCH_BETTER:
                found.add((edits[0].section, key_of(edits[0].old)))
        return found

    def hints(self, section: str, text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What helped elsewhere and is not in this text; what was tried in vain, lately."""
        in_vain = [edit for edit, _ in self._in_vain.values() if edit.section == section]
        useless = tuple(edit.describe() for edit in in_vain[-_HINTS:])
        return tuple(self._helped(section, text)), useless

    def _helped(self, section: str, text: str) -> Iterator[str]:
        """Lines of other lineages that the gradient speaks for, with their estimated effect."""
        units = [unit.key for unit in split_units(text)]
        added = {
            edit.key: edit
            for child, parent in self._pairs()
            for edit in _edits(child, parent)
            if edit.section == section and edit.new and not edit.old
        }
        new = [
            (self.gradient.effect(_name(edit)).mean, edit)
            for edit in added.values()
            if all(fuzz.token_set_ratio(key_of(edit.new), unit) < _SAID for unit in units)
        ]
        new.sort(key=lambda one: -one[0])
        for effect, edit in new[:_HINTS]:
            if effect >= _EARNS:
                yield f"{edit.describe()} (estimated effect on the score: {effect:+.2f})"

    def wins_and_losses(self, section: str) -> tuple[int, int]:
        """How many lines of a section mended something, and how many did not."""
        won = lost = 0
        for child, parent in self._lines():
            before = parent.candidate.configuration.sections.get(section)
            if child.candidate.configuration.sections.get(section) != before:
                gained = self.evidence.gain(child, parent) > 0
                won, lost = won + gained, lost + (not gained)
        return won, lost

    @cached_property
    def gradient(self) -> Gradient:
        """What each edit that was tried does to the score, by all that was seen."""
        observations = []
        for child, parent in self._pairs():
            edits = _edits(child, parent)
            shared = sum(1 for item in child.results if item in parent.results)
            if edits and shared:
                gained = self.evidence.gain(child, parent) / shared
                names = tuple(sorted({_name(edit) for edit in edits}))
                observations.append(
                    Observation(features=names, difference=gained, variance=0.25 / shared)
                )
        return Gradient(observations[-_LATEST:])

    @cached_property
    def _in_vain(self) -> dict[tuple[str, str, str], tuple[LineEdit, int]]:
        """Edits that were tried alone and mended nothing, and how often."""
        found: dict[tuple[str, str, str], tuple[LineEdit, int]] = {}
        for child, parent in self._lines():
            if self.evidence.gain(child, parent) <= 0:
                for edit in _edits(child, parent):
                    found[edit.key] = (edit, found.get(edit.key, (edit, 0))[1] + 1)
        return found

    def _lines(self) -> Iterator[tuple[Known, Known]]:
        """Single lines that were tried, with what they were added to."""
        return (pair for pair in self._pairs() if kind_of(pair[0].candidate) is Kind.LINE)

    def _pairs(self) -> Iterator[tuple[Known, Known]]:
        """Children with their first parent."""
        for child in self.evidence.known.values():
            parents = child.candidate.parent_candidate_ids
            parent = self.evidence.known.get(parents[0]) if parents else None
            if parent is not None:
                yield child, parent


def _edits(child: Known, parent: Known) -> list[LineEdit]:
    return edits_between(parent.candidate.configuration, child.candidate.configuration)


def _name(edit: LineEdit) -> str:
    """The feature of an edit: added lines of one text are one, wherever they stand."""
    return "line " + " > ".join(edit.key[1:]).replace(":", " ")
