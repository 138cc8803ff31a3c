"""Labels of people: sets of outputs that are labelled, what people said of each, and versions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from burnish.domain.errors import UsageError
from burnish.domain.json_values import Json

# The column with what people said beside their label: reflection reads it.
COMMENT = "label_comment"
# All columns with what was said of an output: a judge that labels are compared with sees none.
SAID = (COMMENT, "comment", "feedback")
GOOD, BAD = "pass", "fail"
OUTPUT, OTHER, TIE = "output", "other", "tie"
# One key of the keyboard for each value.
MOST_VALUES = 10


class LabelKind(StrEnum):
    """What people say of an output: a score, pass or fail, a class, or which of two is better."""

    SCORE = "score"
    PASS = "pass"  # noqa: S105 - a label
    CLASS = "class"
    PREFERENCE = "preference"


class LabelState(StrEnum):
    """What became of an item at a person's hands; withdrawn is without a label, or without any more."""

    LABELLED = "labelled"
    SKIPPED = "skipped"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRules:
    """What a label may be: its kind, the classes of a class, the ends of a score."""

    kind: LabelKind
    classes: tuple[str, ...] = ()
    low: int = 1
    high: int = 5
    instructions: str = ""

    def __post_init__(self) -> None:
        classed, scored = self.kind is LabelKind.CLASS, self.kind is LabelKind.SCORE
        if classed != bool(self.classes):
            raise _bad_rules(
                "a set of classes needs them, and no other kind has any",
                "name two or more classes, or choose another kind",
            )
        distinct = {one.strip().casefold() for one in self.classes if one.strip()}
        if classed and not 2 <= len(distinct) == len(self.classes) <= MOST_VALUES:
            why = f"its {len(self.classes)} classes are not 2 to {MOST_VALUES} different names"
            raise _bad_rules(why, "name them once each")
        if scored and not (0 <= self.low < self.high and self.high - self.low < MOST_VALUES):
            raise _bad_rules(
                f"a scale from {self.low} to {self.high} has no key for each value",
                "use one such as 1 to 5, 0 to 9 or 1 to 10",
            )

    @property
    def values(self) -> tuple[Json, ...]:
        """All that a label can be, in the order of their keys."""
        if self.kind is LabelKind.SCORE:
            return tuple(range(self.low, self.high + 1))
        if self.kind is LabelKind.CLASS:
            return self.classes
        return (GOOD, BAD) if self.kind is LabelKind.PASS else (OUTPUT, OTHER, TIE)

    def to_json(self) -> dict[str, Any]:
        """The stored form."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__} | {
            "kind": self.kind.value,
            "classes": list(self.classes),
        }

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> LabelRules:
        """From the stored form."""
        kind, classes = LabelKind(value["kind"]), tuple(value["classes"])
        return cls(**{**value, "kind": kind, "classes": classes})


def _bad_rules(why: str, fix: str) -> UsageError:
    return UsageError(what="the label set cannot be made", why=why, fix=fix, code="invalid_labels")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelItem:
    """What is labelled: the fields that people see, and an output, or two to choose from.

    `origin` tells who wrote the outputs, and is kept from whoever labels.
    """

    id: str
    data: Mapping[str, Json]
    output: str | None = None
    other: str | None = None
    origin: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """What a person said of an item. The newest counts, earlier ones are its history.

    `output_left` says on which side the first of two outputs was shown.
    """

    item_id: str
    person: str
    state: LabelState = LabelState.LABELLED
    value: Json = None
    comment: str = ""
    output_left: bool | None = None
    number: int = 0
    current: bool = True
    created_at: str = ""

    def says_the_same(self, other: Label) -> bool:
        """Whether nothing was changed; on which side it was shown is no change."""
        names = ("state", "value", "comment")
        return all(getattr(self, name) == getattr(other, name) for name in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelSet:
    """Outputs to be labelled, by the rules for their labels. `seed` decides orders and sides."""

    id: str
    name: str
    rules: LabelRules
    items: int
    seed: int
    source: Mapping[str, Any] = field(default_factory=dict)
    author: str = ""
    created_at: str = ""
    last_version: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelVersion:
    """The labels of a moment: `digest` is of all that they say, `dataset_id` names the rows.

    `undecided` rows, on which people are split evenly, and rows without a label are not in it.
    """

    version: int
    digest: str
    dataset_id: str
    rows: int
    labels: int
    undecided: int
    people: tuple[str, ...]
    author: str = ""
    note: str = ""
    created_at: str = ""


def order_for(label_set: LabelSet, person: str, item_ids: Iterable[str]) -> list[str]:
    """The person's own random order of the items, the same each time."""
    return sorted(item_ids, key=lambda one: (_draw(label_set, person, "order", one), one))


def output_is_left(label_set: LabelSet, person: str, item_id: str) -> bool:
    """Whether the first of two outputs is shown on the left, drawn for the person and the item."""
    return _draw(label_set, person, "side", item_id)[0] < 128


def _draw(label_set: LabelSet, *words: str) -> bytes:
    text = "\x00".join([str(label_set.seed), *words])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
