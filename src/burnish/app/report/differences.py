"""What two configurations differ in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from burnish.domain import Configuration, Json, canonical_json


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionChange:
    """A section's text before and after; None where it does not exist."""

    path: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterChange:
    """A parameter before and after, in a list of one; an empty list where it is not set."""

    name: str
    before: tuple[Json, ...]
    after: tuple[Json, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """All that changed between two configurations."""

    sections: tuple[SectionChange, ...] = ()
    parameters: tuple[ParameterChange, ...] = ()
    examples_before: tuple[Mapping[str, Json], ...] = ()
    examples_after: tuple[Mapping[str, Json], ...] = ()

    @property
    def examples_changed(self) -> bool:
        """Whether other examples are shown, or in another order."""
        return not _equal(self.examples_before, self.examples_after)

    @property
    def empty(self) -> bool:
        """Whether nothing changed."""
        return not (self.sections or self.parameters or self.examples_changed)

    def to_json(self) -> dict[str, Any]:
        """Each change with both sides; what is absent on one side is null there."""
        sections = [
            {"path": one.path, "before": one.before, "after": one.after} for one in self.sections
        ]
        parameters = [
            {"name": one.name, "before": _first(one.before), "after": _first(one.after)}
            for one in self.parameters
        ]
        examples = None
        if self.examples_changed:
            examples = {
                "before": [dict(one) for one in self.examples_before],
                "after": [dict(one) for one in self.examples_after],
            }
        return {"sections": sections, "parameters": parameters, "examples": examples}


def difference(before: Configuration, after: Configuration) -> Difference:
    """What changed from one configuration to another, in the first one's order."""
    paths = dict.fromkeys((*before.sections, *after.sections))
    names = dict.fromkeys((*before.parameters, *after.parameters))
    same_examples = _equal(before.examples, after.examples)
    return Difference(
        sections=tuple(
            SectionChange(
                path=path, before=before.sections.get(path), after=after.sections.get(path)
            )
            for path in paths
            if before.sections.get(path) != after.sections.get(path)
        ),
        parameters=tuple(
            ParameterChange(name=name, before=old, after=new)
            for name in names
            if not _equal(
                old := _value(before.parameters, name), new := _value(after.parameters, name)
            )
        ),
        examples_before=() if same_examples else before.examples,
        examples_after=() if same_examples else after.examples,
    )


def _value(parameters: Mapping[str, Json], name: str) -> tuple[Json, ...]:
    return (parameters[name],) if name in parameters else ()


def _equal(one: Sequence[Json], other: Sequence[Json]) -> bool:
    """By what the configuration's hash goes by: 1 is 1.0, and true is not 1."""
    return canonical_json(list(one)) == canonical_json(list(other))


def _first(values: Sequence[Json]) -> Json:
    return values[0] if values else None
