"""Field scorers: reading the item's field that an output is compared with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Protocol, runtime_checkable

from burnish.domain import AgentOutput, Item, Json, Score, UsageError, exact_hash

DEFAULT_FIELD = "expected"


@runtime_checkable
class FieldScorer(Protocol):
    """A scorer that says which of the item's fields it reads."""

    @property
    def fields_needed(self) -> tuple[str, ...]:
        """Names of columns; a dotted one is a path into the column before the first dot."""
        ...


@runtime_checkable
class CriteriaScorer(Protocol):
    """A scorer that judges by criteria; fields that it reads help it to understand the output."""

    @property
    def criteria(self) -> str:
        """What a good output is."""
        ...


@runtime_checkable
class InstantScorer(Protocol):
    """A scorer that says whether it answers without waiting for anything."""

    @property
    def instant(self) -> bool:
        """True when a task of its own would cost more than the scorer."""
        ...


class MissingFieldError(Exception):
    """An item lacks a field that a scorer reads; it becomes an error score."""


def read_field(item: Item, name: str) -> Json:
    """The item's field by name, or by a dotted path into nested objects."""
    data = item.row
    if name in data:
        return data[name]
    value: Any = data
    for part in name.split("."):
        if not isinstance(value, Mapping) or part not in value:
            present = ", ".join(map(repr, item.data)) or "none"
            raise MissingFieldError(f"the item has no field {name!r}; it has {present}")
        value = value[part]
    return value  # type: ignore[no-any-return]


def read_filled(item: Item, name: str) -> Json:
    """Like `read_field`, and null counts as missing: there is nothing to compare with."""
    value = read_field(item, name)
    if value is None:
        raise MissingFieldError(f"the item's field {name!r} is null")
    return value


def error_score(name: str, error: str) -> Score:
    """No verdict could be reached."""
    return Score(0.0, error, name=name, error=error)


def is_missing(field: str, columns: Iterable[str]) -> bool:
    """Whether no row with just these columns can have the field."""
    present = set(columns)
    return field not in present and field.split(".", 1)[0] not in present


def fingerprint_of(kind: str, version: int, **settings: Any) -> str:
    """Of a built-in scorer: raise its version when equal outputs come to be judged otherwise."""
    return exact_hash({"kind": kind, "version": version, "settings": settings})


def require_text(scorer: str, setting: str, value: object) -> str:
    """The setting, or an error when it is not text or is empty."""
    if isinstance(value, str) and value:
        return value
    raise bad_setting(scorer, setting, f"{value!r} is not a text of at least one character")


def bad_setting(scorer: str, setting: str, why: str, fix: str | None = None) -> UsageError:
    """A scorer's setting has the right name and a wrong value."""
    return UsageError(
        what=f"the setting {setting!r} of the scorer {scorer!r} cannot be used",
        why=why,
        fix=fix or f"correct {setting!r}",
        code="invalid_scorer",
    )


class FieldComparison(ABC):
    """A scorer that compares the output with one field of the item."""

    instant: ClassVar[bool] = True
    accepts_null: ClassVar[bool] = False
    fingerprint: str | None

    def __init__(self, kind: str, field: str, name: str) -> None:
        self.name = require_text(kind, "name", name)
        self.field = require_text(kind, "field", field)
        self.fields_needed: tuple[str, ...] = (field,)
        self._read = read_field if self.accepts_null else read_filled
        self._right = Score(1.0, name=name)

    async def score(self, output: AgentOutput, item: Item) -> Score:
        """The verdict on one output; an item without the field is an error."""
        try:
            expected = self._read(item, self.field)
        except MissingFieldError as error:
            return error_score(self.name, str(error))
        return self._compare(output, expected)

    @abstractmethod
    def _compare(self, output: AgentOutput, expected: Json) -> Score: ...
