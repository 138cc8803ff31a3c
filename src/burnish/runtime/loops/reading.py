"""Message fields, read by type: what is not of its type makes the message undecodable."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeVar

from burnish.domain import AgentOutput, Budget, Item, Score, Spending

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


def item_json(one: Item) -> dict[str, Any]:
    """The form that `item` reads."""
    return {"id": one.id, "data": one.data, "split": one.split}


def output(value: Any) -> AgentOutput:
    """What an agent said."""
    of_type(value, "text", str)
    return AgentOutput.of(value)


def score(value: Any) -> Score:
    """A verdict; Score itself refuses what is no finite number."""
    return Score.of(value)


def spending(value: Any) -> Spending:
    """Usage by purpose."""
    return Spending.of(value)


def spending_json(spent: Spending) -> dict[str, Any]:
    """The form that `spending` reads."""
    return {purpose: usage.to_json() for purpose, usage in spent.by_purpose.items()}
