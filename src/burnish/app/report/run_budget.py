"""What an optimization may spend, what it has spent, and what is left of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from burnish.app.wiring import Workspace
from burnish.domain import EventType, OptimizationRecord

AMOUNTS = ("trials", "evaluations", "calls", "tokens", "cost_usd", "seconds")
Amounts = Mapping[str, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetUse:
    """Amounts by name. A limit of None is none; a cost of None has no known price."""

    limits: Amounts
    used: Amounts

    @property
    def left(self) -> Amounts:
        """None where there is no limit; an unknown price counts nothing, as it does for the run."""
        return {
            name: None if limit is None else max(limit - (self.used[name] or 0), 0)
            for name, limit in self.limits.items()
        }


async def read_budget(
    workspace: Workspace, record: OptimizationRecord, usage: Mapping[str, Any], *, trials: int
) -> BudgetUse:
    """A run that was started from Python keeps no limits, so none are known."""
    settings = record.spec.get("settings") or {}
    budget = settings.get("budget") or {}
    return BudgetUse(
        limits={name: budget.get(f"max_{name}") for name in AMOUNTS},
        used={
            "trials": trials,
            "evaluations": await _evaluations(workspace, record),
            "calls": usage["calls"],
            "tokens": usage["input_tokens"] + usage["output_tokens"],
            "cost_usd": usage["cost_usd"],
            "seconds": (record.checkpoint or {}).get("elapsed_seconds") or 0.0,
        },
    )


async def _evaluations(workspace: Workspace, record: OptimizationRecord) -> int:
    """As the result has it; before there is one, as was told last."""
    if record.result is not None:
        return int(record.result.get("evaluations") or 0)
    told = await workspace.insights.events(
        record.id, types=[EventType.PROGRESS_CHANGED], newest=True, limit=1
    )
    return int(told[0].payload.get("evaluations") or 0) if told else 0
