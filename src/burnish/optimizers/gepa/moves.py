"""What `gepa` may do next, as proposals. The kind of a move stands at the end of its rationale."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from burnish.domain import Candidate, CandidateProposal, Configuration
from burnish.optimizers.gepa.line_edits import LineEdit, apply_edits, split_edits

_KIND = re.compile(r" \[gepa: ([a-z]+)\]\Z")
_MOST_SAID = 600


class Kind(StrEnum):
    """Why a candidate was made."""

    LINE = "line"
    JOIN = "join"
    REWRITE = "rewrite"
    MERGE = "merge"
    PRUNE = "prune"


_KINDS = {kind.value: kind for kind in Kind}


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A candidate to run: on some items, or as a trial."""

    configuration: Configuration
    parents: tuple[str, ...]
    rationale: str | None
    items: tuple[str, ...] | None
    cost: int

    def proposal(self, *notes: str) -> CandidateProposal:
        """For the framework. Notes on the run go into the rationale of what is new."""
        return CandidateProposal(
            configuration=self.configuration,
            parent_candidate_ids=self.parents,
            rationale=None if self.rationale is None else _noted(self.rationale, notes),
            item_ids=self.items,
        )


def described(kind: Kind, said: str) -> str:
    """A rationale that people read and `kind_of` too."""
    short = said if len(said) <= _MOST_SAID else f"{said[: _MOST_SAID - 1]}…"
    return f"{short} [gepa: {kind.value}]"


def _noted(rationale: str, notes: Iterable[str]) -> str:
    """With the notes before the kind, which stays last."""
    place = _KIND.search(rationale)
    end = len(rationale) if place is None else place.start()
    return " ".join([rationale[:end], *filter(None, notes)]) + rationale[end:]


def kind_of(candidate: Candidate) -> Kind | None:
    """Why a candidate was made; None for the baseline and others' candidates."""
    found = _KIND.search(candidate.rationale or "")
    return _KINDS.get(found.group(1)) if found else None


def edits_between(parent: Configuration, child: Configuration) -> list[LineEdit]:
    """What a child changed, section by section."""
    return [
        edit
        for section, text in child.sections.items()
        if text != parent.sections.get(section, "")
        for edit in split_edits(section, parent.sections.get(section, ""), text)
    ]


def edited(parent: Configuration, edits: Iterable[LineEdit]) -> Configuration:
    """The parent under edits of any of its sections."""
    by_section: dict[str, list[LineEdit]] = {}
    for edit in edits:
        by_section.setdefault(edit.section, []).append(edit)
    return parent.with_sections(
        {path: apply_edits(parent.sections[path], many) for path, many in by_section.items()}
    )


def said_of(edits: Sequence[LineEdit]) -> str:
    """Edits in words."""
    said = "; ".join(edit.describe() for edit in edits)
    return f"{said[:1].upper()}{said[1:]}."
