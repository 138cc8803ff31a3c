"""Training items as examples: what is shown of each, and the answer that goes with it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property

from burnish.domain import Configuration, Item, Json, UsageError, canonical_hash
from burnish.optimizers.shared.facts import RunFacts

# Columns that usually hold the right answer, most telling first.
_USUAL_FIELDS = ("label", "expected", "answer", "output", "target", "completion", "response")


@dataclass(frozen=True, kw_only=True)
class Shown:
    """One training item as an example. `kind` is its label, or empty when answers are free text."""

    item_id: str
    example: Mapping[str, Json]
    kind: str


@dataclass(frozen=True, kw_only=True)
class ExamplePool:
    """All examples that may be shown, in a fixed order. Sets of them are tuples of positions."""

    facts: RunFacts
    shown: tuple[Shown, ...]

    @classmethod
    def of(cls, facts: RunFacts, items: Sequence[Item], answer_field: str | None) -> ExamplePool:
        """Examples of the items that have an answer and all fields that the prompt shows."""
        ordered = sorted(items, key=lambda item: item.id)
        field = answer_field or find_answer_field(facts, ordered)
        if answer_field and not any(answer_field in item.data for item in ordered):
            raise _no_such_field(answer_field, ordered)
        found = [one for item in ordered if field and (one := _shown(facts, item, field))]
        return cls(facts=facts, shown=tuple(found))

    @cached_property
    def kinds(self) -> dict[str, tuple[int, ...]]:
        """Positions by label."""
        by_kind: dict[str, list[int]] = {}
        for place, one in enumerate(self.shown):
            by_kind.setdefault(one.kind, []).append(place)
        return {kind: tuple(by_kind[kind]) for kind in sorted(by_kind)}

    def configuration(self, places: Sequence[int]) -> Configuration:
        """The baseline with these examples in this order."""
        examples = [dict(self.shown[place].example) for place in places]
        return Configuration.of({**self.facts.baseline.to_json(), "examples": examples})

    def places_in(self, configuration: Configuration) -> tuple[int, ...] | None:
        """Which examples a candidate shows; None when one of them is not ours."""
        found = [self._by_hash.get(canonical_hash(one)) for one in configuration.examples]
        known = [place for place in found if place is not None]
        return tuple(known) if len(known) == len(found) else None

    @cached_property
    def _by_hash(self) -> dict[str, int]:
        return {canonical_hash(one.example): place for place, one in enumerate(self.shown)}


def find_answer_field(facts: RunFacts, items: Sequence[Item]) -> str | None:
    """The field whose values are the labels, else the first of the usual names that all items have."""
    shown = facts.baseline.placeholders
    columns = sorted({name for item in items for name in item.data} - shown)
    labels = {label.casefold() for label in facts.labels}
    for name in sorted(columns, key=lambda one: (_usual_rank(one), one)):
        values = [item.data.get(name) for item in items]
        if labels and all(isinstance(one, str) and one.casefold() in labels for one in values):
            return name
    for name in _USUAL_FIELDS:
        if name in columns and all(item.data.get(name) is not None for item in items):
            return name
    return None


def _usual_rank(name: str) -> int:
    return _USUAL_FIELDS.index(name) if name in _USUAL_FIELDS else len(_USUAL_FIELDS)


def _shown(facts: RunFacts, item: Item, field: str) -> Shown | None:
    answer = item.data.get(field)
    if answer is None:
        return None
    by_fold = {label.casefold(): label for label in facts.labels}
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    text = by_fold.get(text.casefold(), text)
    if facts.labels and text not in facts.labels:
        return None
    fields = _fields(facts, item, field)
    if fields is None or not text.strip():
        return None
    return Shown(
        item_id=item.id,
        example={"input": fields, "output": text},
        kind=text if facts.labels else "",
    )


def _fields(facts: RunFacts, item: Item, answer_field: str) -> dict[str, Json] | None:
    """What the prompt shows of an item; without placeholders, all of it but the answer."""
    names = facts.baseline.placeholders
    if not names:
        return {name: value for name, value in item.data.items() if name != answer_field}
    tops = {name if name in item.data else name.split(".", 1)[0] for name in names}
    if answer_field in tops or not tops <= item.data.keys():
        return None
    return {name: item.data[name] for name in sorted(tops)}


def _no_such_field(field: str, items: Sequence[Item]) -> UsageError:
    columns = sorted({name for item in items for name in item.data})
    close = get_close_matches(field, columns, n=1)
    return UsageError(
        what=f"the answers of examples cannot be found in {field!r}",
        why="no training item has that field",
        fix=f"did you mean {close[0]!r}?" if close else f"use one of {', '.join(columns)}",
        code="unknown_field",
    )
