"""Message fields, written by name and read by type: a wrong type makes a message undecodable."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from burnish.domain import AgentOutput, Budget, ErrorKind, Item, Spending
from burnish.runtime.mailboxes import MESSAGE_TYPES

T = TypeVar("T")


def of_type(value: Mapping[str, Any], name: str, kind: type[T]) -> T:
    """A field that must be there and of a type; true is no number."""
    found = value[name]
    if not isinstance(found, kind) or (isinstance(found, bool) and kind is not bool):
        raise TypeError(f"{name} is not of type {kind.__name__}")
    return found


def optional(value: Mapping[str, Any], name: str, read: Callable[[Any], T]) -> T | None:
    """A field that may be missing or null."""
    found = value.get(name)
    return None if found is None else read(found)


def text(value: Any) -> str:
    """Text alone: anything could be turned into it."""
    if not isinstance(value, str):
        raise TypeError("a field is not text")
    return value


def moment(value: Any) -> datetime:
    """A date with its zone: without one it would mean another moment on every machine."""
    found = datetime.fromisoformat(text(value))
    if found.tzinfo is None:
        raise ValueError("a date has no zone")
    return found


def number(value: Any) -> float:
    """A number that is no truth value."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError("a field is not a number")
    return float(value)


def budget(value: Any) -> Budget:
    """The limits by name."""
    return Budget(**value)


def item(value: Any) -> Item:
    """A row; its content is checked where it is used."""
    return Item(
        id=of_type(value, "id", str),
        data=of_type(value, "data", dict),
        split=optional(value, "split", text),
    )


def output(value: Any) -> AgentOutput:
    """What an agent said."""
    of_type(value, "text", str)
    return AgentOutput.of(value)


class JsonFields:
    """Base of message dataclasses whose fields travel by name, in a form that is read again here."""

    __slots__ = ()

    def to_json(self) -> dict[str, Any]:
        """The form that travels."""
        message: Any = self
        return {one.name: _json(getattr(message, one.name)) for one in fields(message)}


def declare(kind: type[Any], name: str) -> None:
    """Let a message type travel, in the form that its `to_json` gives and its `of` reads."""
    MESSAGE_TYPES.declare(kind, name, dump=kind.to_json, load=kind.of)


def _json(value: Any) -> Any:
    match value:
        case UUID():
            return str(value)
        case datetime():
            return value.isoformat()
        case ErrorKind():
            return value.value
        case Item():
            return {"id": value.id, "data": value.data, "split": value.split}
        case Spending():
            return {purpose: usage.to_json() for purpose, usage in value.by_purpose.items()}
        case tuple():
            return [_json(one) for one in value]
        case Mapping():
            return dict(value)
    return value.to_json() if hasattr(value, "to_json") else value
