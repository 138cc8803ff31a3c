"""What was spent: calls, tokens and dollars, by purpose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Purpose(StrEnum):
    """Whose work a model call was."""

    AGENT = "agent"
    JUDGE = "judge"
    REFINE = "refine"
    PROPOSE = "propose"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Spending of one purpose. A cost of None means that some call had no known price."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float | None = 0.0

    def __add__(self, other: Usage) -> Usage:
        unknown = self.cost_usd is None or other.cost_usd is None
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            cost_usd=None if unknown else (self.cost_usd or 0.0) + (other.cost_usd or 0.0),
        )

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Usage:
        """From its JSON form; unknown keys are ignored, so newer records stay readable."""
        return cls(**{name: value[name] for name in cls.__slots__ if name in value})

    def to_json(self) -> dict[str, Any]:
        """The numbers by name."""
        return {name: getattr(self, name) for name in Usage.__slots__}


@dataclass(frozen=True, slots=True)
class Spending:
    """Usage by purpose; adding merges the purposes."""

    by_purpose: Mapping[str, Usage] = field(default_factory=dict)

    @classmethod
    def on(cls, purpose: Purpose, usage: Usage) -> Spending:
        """Spending of a single purpose."""
        return cls({purpose.value: usage})

    @classmethod
    def sum(cls, parts: Iterable[Spending]) -> Spending:
        """All parts together."""
        total: dict[str, Usage] = {}
        for part in parts:
            for purpose, usage in part.by_purpose.items():
                total[purpose] = total[purpose] + usage if purpose in total else usage
        return cls(total)

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Spending:
        """From the `by_purpose` part of its JSON form."""
        return cls({purpose: Usage.of(usage) for purpose, usage in value.items()})

    def without(self, purpose: Purpose) -> Spending:
        """All but one purpose."""
        if purpose.value not in self.by_purpose:
            return self
        kept = {name: usage for name, usage in self.by_purpose.items() if name != purpose.value}
        return Spending(kept)

    def __add__(self, other: Spending) -> Spending:
        if not other.by_purpose:
            return self
        if not self.by_purpose:
            return other
        return Spending.sum((self, other))

    @property
    def total(self) -> Usage:
        """Over all purposes."""
        return sum(self.by_purpose.values(), Usage())

    def to_json(self) -> dict[str, Any]:
        """The total's numbers, with the purposes below `by_purpose`."""
        purposes = {purpose: usage.to_json() for purpose, usage in self.by_purpose.items()}
        return {**self.total.to_json(), "by_purpose": purposes}
