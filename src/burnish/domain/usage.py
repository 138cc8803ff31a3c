"""Usage and budget of a run: calls, tokens and dollars by purpose, and the limits on them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any

from burnish.domain.errors import BurnishError, UsageError


class Purpose(StrEnum):
    """Whose work a model call was; `user` is a simulated one that talks with the agent."""

    AGENT = "agent"
    USER = "user"
    JUDGE = "judge"
    REFINE = "refine"
    PROPOSE = "propose"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Spending of one purpose. A cost of None means that some call had no known price.

    `cached_tokens` are those of the input that the provider had from an earlier prompt of the same
    beginning, which most sell for less.
    """

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

    @property
    def cached_share(self) -> float | None:
        """Of the tokens read, those that the provider had; None where none were read."""
        read = self.input_tokens
        return min(self.cached_tokens, read) / read if read else None

    @property
    def token_words(self) -> str:
        """The tokens as people read them."""
        cached = f" ({self.cached_share:.0%} cached)" if self.cached_tokens else ""
        return f"{self.input_tokens:,} tokens in{cached} · {self.output_tokens:,} out"

    def to_json(self) -> dict[str, Any]:
        """The numbers by name."""
        return {name: getattr(self, name) for name in Usage.__slots__}

    def shown(self) -> dict[str, Any]:
        """The numbers as results show them, with what follows from them."""
        return {**self.to_json(), "cached_share": self.cached_share}


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

    def to_json(self, *, answers: bool = False) -> dict[str, Any]:
        """The total's numbers, with the purposes below `by_purpose`.

        Where there are `answers` of an agent that reports no usage, nobody knows what they cost.
        """
        purposes = {purpose: usage.shown() for purpose, usage in self.by_purpose.items()}
        told = {**self.total.shown(), "by_purpose": purposes}
        unknown = answers and Purpose.AGENT.value not in self.by_purpose
        return {**told, "cost_usd": None} if unknown else told


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Upper limits of one run; None means no limit."""

    max_trials: int | None = None
    max_evaluations: int | None = None
    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost_usd: float | None = None
    max_seconds: float | None = None

    def __post_init__(self) -> None:
        for limit in fields(self):
            value = getattr(self, limit.name)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise _bad_limit(limit.name, f"{value!r} is not a number")
            if not math.isfinite(value) or value < 0:
                raise _bad_limit(limit.name, f"{value} is not a finite number from 0 up")

    @classmethod
    def of(cls, limits: Budget | Mapping[str, Any] | None) -> Budget:
        """The limits by name; none where nothing is given."""
        if isinstance(limits, cls):
            return limits
        known = [one.name for one in fields(cls)]
        if limits is not None and not isinstance(limits, Mapping):
            raise _bad_limit("limits", f"{limits!r:.80} holds none by name")
        if unknown := [name for name in limits or {} if name not in known]:
            raise _bad_limit(
                str(unknown[0]), f"there is no such limit; there are {', '.join(known)}"
            )
        return cls(**(limits or {}))

    def exhausted(
        self,
        usage: Usage,
        *,
        trials: int = 0,
        evaluations: int = 0,
        seconds: float = 0.0,
        besides: Mapping[str, float] | None = None,
    ) -> str | None:
        """The name of the first limit that is reached, or None.

        `besides` are amounts by limit that count as spent too.
        """
        more = besides or {}
        spent = {
            "max_trials": trials,
            "max_evaluations": evaluations,
            **self.amounts(usage),
            "max_seconds": seconds,
        }
        for name, amount in spent.items():
            limit = getattr(self, name)
            if limit is not None and amount + more.get(name, 0.0) >= limit:
                return name
        return None

    @staticmethod
    def amounts(usage: Usage) -> dict[str, float]:
        """What a usage counts against each limit; an unknown price counts nothing."""
        return {
            "max_calls": usage.calls,
            "max_tokens": usage.input_tokens + usage.output_tokens,
            "max_cost_usd": usage.cost_usd or 0.0,
        }

    def to_json(self) -> dict[str, Any]:
        """The limits that are set."""
        return {f.name: v for f in fields(self) if (v := getattr(self, f.name)) is not None}


class BudgetReached(BurnishError):  # noqa: N818 - an outcome, not a failure
    """A limit of the budget was reached; what is in flight still ends."""

    exit_code = 0
    default_code = "budget"

    def __init__(self, limit: str) -> None:
        super().__init__(
            what="it stopped early",
            why=f"the budget's {limit} is reached",
            fix=f"raise {limit} to go on",
        )
        self.limit = limit

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.limit,)


def _bad_limit(name: str, why: str) -> UsageError:
    return UsageError(
        what=f"the budget's {name} cannot be used",
        why=why,
        fix=f"give {name} a number from 0 up, or leave it out for no limit",
        code="invalid_budget",
    )
