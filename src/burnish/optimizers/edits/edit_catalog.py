"""All edits that a baseline allows, and candidates as sets of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from burnish.domain import Candidate, Configuration, Json
from burnish.optimizers.edits.operators import (
    definitions,
    format_lines,
    input_frame,
    instructions,
    label_words,
    lines,
    openings,
    settings,
    task_wording,
)
from burnish.optimizers.edits.operators.edit import Edit
from burnish.optimizers.edits.operators.subject import Subject
from burnish.optimizers.shared.acceptance import is_acceptable, is_short_enough
from burnish.optimizers.shared.candidate_metadata import metadata_of
from burnish.optimizers.shared.facts import RunFacts

_FAMILIES = (
    input_frame,
    task_wording,
    label_words,
    format_lines,
    definitions,
    instructions,
    openings,
    lines,
    settings,
)


@dataclass(frozen=True, kw_only=True)
class EditSet:
    """Edits that took effect together, in their fixed order, and what came of them."""

    names: tuple[str, ...]
    configuration: Configuration

    @property
    def metadata(self) -> dict[str, Json]:
        """What `Library.names_of` reads of a candidate that is made of it."""
        return {"edits": list(self.names)}


@dataclass(frozen=True, kw_only=True)
class Library:
    """The edits of one baseline by name. The same baseline gives the same library everywhere."""

    facts: RunFacts
    edits: dict[str, Edit]
    max_prompt_tokens: int | None = None

    @classmethod
    def of(cls, facts: RunFacts, *, max_prompt_tokens: int | None = None) -> Library:
        """Every edit of every family that may change this baseline."""
        subject = Subject.of(facts.baseline, facts.space, facts.labels)
        found: dict[str, Edit] = {}
        for family in _FAMILIES:
            for edit in family.edits(subject):
                found.setdefault(edit.name, edit)
        return cls(facts=facts, edits=found, max_prompt_tokens=max_prompt_tokens)

    @cached_property
    def singles(self) -> tuple[str, ...]:
        """Edits that change the baseline by themselves, each to another text."""
        by_hash: dict[str, str] = {}
        for name in self.edits:
            made = self.build([name])
            if made is not None:
                by_hash.setdefault(made.configuration.hash, name)
        return tuple(by_hash.values())

    def build(self, names: Iterable[str]) -> EditSet | None:
        """The baseline under these edits, or None when that cannot be proposed.

        The first of two edits of one group wins. Edits without effect in this company are left
        out of the result's names, so that names and text always agree.
        """
        configuration = self.facts.baseline
        applied: list[str] = []
        for edit in self._ordered(names):
            changed = edit.apply(configuration)
            if changed is not None and changed != configuration:
                configuration = changed
                applied.append(edit.name)
        if not applied or not is_acceptable(
            configuration, baseline=self.facts.baseline, space=self.facts.space
        ):
            return None
        if not is_short_enough(configuration, self.max_prompt_tokens):
            return None
        return EditSet(names=tuple(applied), configuration=configuration)

    def with_edit(self, names: Sequence[str], name: str) -> tuple[str, ...]:
        """The names with one more, which replaces the one of its group."""
        group = self.edits[name].group
        return (*(one for one in names if self.edits[one].group != group), name)

    def describe(self, names: Sequence[str]) -> str:
        """A rationale that people read, with the names at its end."""
        said = "; ".join(self.edits[name].says for name in names)
        return f"{said[:1].upper()}{said[1:]}. [edits: {json.dumps(list(names))}]"

    def names_of(self, candidate: Candidate) -> tuple[str, ...] | None:
        """The edits that a candidate was made of; None when it is no set of these edits."""
        names = metadata_of(candidate).get("edits")
        if not isinstance(names, (list, tuple)):
            return None
        known = [name for name in names if isinstance(name, str) and name in self.edits]
        return tuple(known) if len(known) == len(names) else None

    def _ordered(self, names: Iterable[str]) -> list[Edit]:
        by_group: dict[str, Edit] = {}
        for name in names:
            edit = self.edits[name]
            by_group.setdefault(edit.group, edit)
        place = {name: number for number, name in enumerate(self.edits)}
        return sorted(by_group.values(), key=lambda edit: (edit.stage, place[edit.name]))
