"""Moves of `gepa`: what it may do next, why, and the proposals that they become."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from burnish.domain import Candidate, CandidateProposal, Configuration, Json
from burnish.optimizers.gepa.line_edits import LineEdit, apply_edits, split_edits
from burnish.optimizers.shared.candidate_metadata import metadata_of

MOST_SAID = 600


class Kind(StrEnum):
    """Why a candidate was made."""

    LINE = "line"
    JOIN = "join"
    REWRITE = "rewrite"
    MERGE = "merge"
    PRUNE = "prune"


class Purpose(StrEnum):
    """What a line was tried for besides a failure that it is about."""

    UNION = "union"
    CONFLICT = "conflict"


_KINDS = {kind.value: kind for kind in Kind}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why a candidate is made: in words for people, and as data for later steps."""

    kind: Kind
    said: str
    purpose: Purpose | None = None

    def rationale(self, *notes: str) -> str:
        """A sentence or some, with notes on the run before the kind."""
        said = self.said
        short = said if len(said) <= MOST_SAID else f"{said[: MOST_SAID - 1]}…"
        return f"{' '.join([short, *filter(None, notes)])} [gepa: {self.kind.value}]"

    @property
    def metadata(self) -> dict[str, Json]:
        """What `kind_of` and `has_purpose` read."""
        found: dict[str, Json] = {"kind": self.kind.value}
        return found if self.purpose is None else {**found, "purpose": self.purpose.value}


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A candidate to run: on some items, or as a trial. A known candidate needs no reason."""

    configuration: Configuration
    parents: tuple[str, ...]
    reason: Reason | None
    items: tuple[str, ...] | None
    cost: int

    def proposal(self, *notes: str) -> CandidateProposal:
        """For the framework. Notes on the run go into the rationale of what is new."""
        return CandidateProposal(
            configuration=self.configuration,
            parent_candidate_ids=self.parents,
            rationale=None if self.reason is None else self.reason.rationale(*notes),
            item_ids=self.items,
            metadata={} if self.reason is None else self.reason.metadata,
        )


def kind_of(candidate: Candidate) -> Kind | None:
    """Why a candidate was made; None for the baseline and others' candidates."""
    kind = metadata_of(candidate).get("kind")
    return _KINDS.get(kind) if isinstance(kind, str) else None


def has_purpose(candidate: Candidate, purpose: Purpose) -> bool:
    """Whether a candidate was made for this purpose."""
    return metadata_of(candidate).get("purpose") == purpose.value


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
