"""What the answers of an experiment take, from their stored amounts.

An amount is stored by purpose. What a cache answered has its purposes marked: it was paid for
before, so it counts here and not in what was spent.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from typing import Any

from burnish.domain import ItemResult, Purpose, Round, Spending, Usage

Amounts = Mapping[str, Mapping[str, Any]]

REUSED = "reused "
# Judging and refining an answer is not the agent's work.
_OTHERS = (Purpose.JUDGE.value, Purpose.REFINE.value)


def stored_amounts(result: ItemResult | Round) -> dict[str, dict[str, Any]]:
    """What a result cost and what it reused, by purpose."""
    amounts = {name: usage.to_json() for name, usage in result.spending.by_purpose.items()}
    for name, usage in result.reused.by_purpose.items():
        amounts[f"{REUSED}{name}"] = usage.to_json()
    return amounts


def read_amounts(stored: Amounts) -> tuple[Spending, Spending]:
    """What was spent, and what was reused."""
    spent: dict[str, Usage] = {}
    reused: dict[str, Usage] = {}
    for name, usage in stored.items():
        if name.startswith(REUSED):
            reused[name.removeprefix(REUSED)] = Usage.of(usage)
        else:
            spent[name] = Usage.of(usage)
    return Spending(spent), Spending(reused)


class Footprints:
    """Adds footprints up as stored, without making a value of each."""

    def __init__(self) -> None:
        self._runs = 0
        self._tokens = 0
        self._costs = array("d")
        self._reported = False
        self._priced = True

    def add(self, stored: Amounts) -> None:
        """Count the answer of one run."""
        self._runs += 1
        for name, usage in stored.items():
            if name in _OTHERS:
                continue
            self._reported = True
            self._tokens += usage["input_tokens"] + usage["output_tokens"]
            if usage["cost_usd"] is None:
                self._priced = False
            else:
                self._costs.append(usage["cost_usd"])

    @property
    def mean_tokens(self) -> float | None:
        """None where no run reports any usage."""
        return self._tokens / self._runs if self._reported else None

    @property
    def mean_cost(self) -> float | None:
        """None where no run reports any usage, or some call has no known price."""
        known = self._reported and self._priced
        return math.fsum(self._costs) / self._runs if known else None
