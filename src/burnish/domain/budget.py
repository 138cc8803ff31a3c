"""What a run may spend, and what is left of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from burnish.domain.errors import UsageError
from burnish.domain.usage import Usage


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


def _bad_limit(name: str, why: str) -> UsageError:
    return UsageError(
        what=f"the budget's {name} cannot be used",
        why=why,
        fix=f"give {name} a number from 0 up, or leave it out for no limit",
        code="invalid_budget",
    )
