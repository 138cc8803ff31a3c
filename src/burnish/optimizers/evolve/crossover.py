"""Crossover and mutation without a model: edits of one parent, or parts of two."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from burnish.domain import Candidate, Configuration, Json, UsageError
from burnish.optimizers.edits.edit_catalog import EditCatalog
from burnish.optimizers.shared.facts import RunFacts
from burnish.optimizers.shared.line_edits import LineEdit, apply_edits, key_of, split_edits

# How often a line that only the second parent has comes in, a changed one is exchanged or stands
# beside its rival, and one that only the first has goes: parents owe their rank to what they added.
_ADDS, _CHANGES, _JOINS, _DROPS = 0.75, 0.35, 0.35, 0.25
_DROPS_AN_EDIT = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """A configuration and what was done for it."""

    configuration: Configuration
    says: str
    # The edits that it is a set of, if it is one.
    edits: tuple[str, ...] | None = None


class ChildMaker:
    """Makes children. Parents that are sets of edits stay such sets; of others the text is changed."""

    def __init__(self, facts: RunFacts, *, max_edits: int) -> None:
        self._facts = facts
        self._catalog = EditCatalog.of(facts)
        self._max_edits = max_edits

    @property
    def can_mutate(self) -> bool:
        """Whether there is any edit of the baseline."""
        return bool(self._catalog.edits)

    def mutate(self, parent: Candidate, chance: random.Random) -> Child | None:
        """The parent with an edit more, less or for another."""
        names = self._names(parent)
        if names is None:
            return self._mutate_text(parent, chance)
        if not self._catalog.edits:
            return None
        if names and (len(names) >= self._max_edits or chance.random() < _DROPS_AN_EDIT):
            gone = chance.choice(names)
            names = tuple(one for one in names if one != gone)
        if not names or chance.random() >= _DROPS_AN_EDIT:
            names = self._catalog.with_edit(names, self._draw(self._catalog, chance))
        return self._built(names, "Mutated")

    def cross(self, first: Candidate, second: Candidate, chance: random.Random) -> Child | None:
        """Edits, sections, lines and settings of either parent."""
        names = self._names(first), self._names(second)
        if names[0] is not None and names[1] is not None:
            both = [*names[0], *(one for one in names[1] if one not in names[0])]
            shared = set(names[0]) & set(names[1])
            kept = [one for one in both if one in shared or chance.random() < 0.5]
            return self._built(tuple(kept[: self._max_edits]), "Crossed")
        return _crossed_texts(first.configuration, second.configuration, chance)

    def _names(self, candidate: Candidate) -> tuple[str, ...] | None:
        if candidate.id == self._facts.baseline_candidate_id:
            return ()
        return self._catalog.names_of(candidate)

    def _built(self, names: Sequence[str], how: str) -> Child | None:
        made = self._catalog.build(names) if names else None
        if made is None:
            return None
        said = f"{how}. {self._catalog.describe(made.names)}"
        return Child(configuration=made.configuration, says=said, edits=made.names)

    def _mutate_text(self, parent: Candidate, chance: random.Random) -> Child | None:
        """An edit of the parent's own text; its name would mean nothing to the baseline's catalog."""
        catalog = EditCatalog.of(replace(self._facts, baseline=parent.configuration))
        made = catalog.build([self._draw(catalog, chance)]) if catalog.edits else None
        if made is None:
            return None
        said = "; ".join(catalog.edits[name].says for name in made.names)
        return Child(configuration=made.configuration, says=f"Mutated: {said}.")

    def _draw(self, catalog: EditCatalog, chance: random.Random) -> str:
        """A family first, so that those with many variants don't crowd out the others."""
        families: dict[str, list[str]] = {}
        for name, edit in catalog.edits.items():
            families.setdefault(edit.family, []).append(name)
        return chance.choice(families[chance.choice(list(families))])


def _crossed_texts(
    first: Configuration, second: Configuration, chance: random.Random
) -> Child | None:
    sections = {
        path: _crossed_lines(path, text, second.sections[path], chance)
        for path, text in first.sections.items()
    }
    parameters: dict[str, Json] = {}
    for name in sorted({*first.parameters, *second.parameters}):
        whose = chance.choice((first, second)).parameters
        if name in whose:
            parameters[name] = whose[name]
    examples = [dict(one) for one in chance.choice((first, second)).examples]
    try:
        made = Configuration.of(
            {"sections": sections, "parameters": parameters, "examples": examples}
        )
    except UsageError:
        return None
    return Child(configuration=made, says="Crossed: parts of both parents.")


def _crossed_lines(path: str, first: str, second: str, chance: random.Random) -> str:
    drawn = [_drawn(edit, chance.random()) for edit in split_edits(path, first, second)]
    edits = [edit for edit in drawn if edit is not None]
    return apply_edits(first, edits) if edits else first


def _drawn(edit: LineEdit, luck: float) -> LineEdit | None:
    """What becomes of one difference between the parents."""
    if not edit.old:
        return edit if luck < _ADDS else None
    if not edit.new:
        return edit if luck < _DROPS else None
    if luck < _CHANGES:
        return edit
    beside = replace(edit, old="", after=key_of(edit.old))
    return beside if luck < _CHANGES + _JOINS else None
