"""Optimizations in a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from burnish.cli.wording import age, harmless, short_id
from burnish.domain import OptimizationRecord, OptimizationStatus

STATUS_STYLES = {
    OptimizationStatus.COMPLETED: "green",
    OptimizationStatus.FAILED: "red",
    OptimizationStatus.RUNNING: "cyan",
}


def optimization_listing_json(record: OptimizationRecord) -> dict[str, Any]:
    """One optimization as `list --json` prints it."""
    return {
        "optimization_id": record.id,
        "name": record.name,
        "status": record.status.value,
        "stop_reason": record.stop_reason,
        "agent": record.agent_name,
        "suite": record.suite_name,
        "optimizer": record.optimizer_name,
        "seed": record.seed,
        "baseline_score": record.baseline_score,
        "best_score": record.best_score,
        "best_candidate_id": record.best_candidate_id,
        "trials": record.trials,
        "created_at": record.created_at,
        "updated_at": record.updated_at,
    }


def print_optimizations(console: Console, records: Sequence[OptimizationRecord]) -> None:
    """The table."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="optimizations", title_justify="left")
    for column in ("id", "name", "status"):
        table.add_column(column, no_wrap=column == "id", overflow="fold")
    for column in ("baseline", "best", "trials", "age"):
        table.add_column(column, justify="right", no_wrap=True)
    for record in records:
        table.add_row(
            short_id(record.id),
            Text(harmless(record.name)),
            Text(record.status.value, style=STATUS_STYLES.get(record.status, "yellow")),
            _score(record.baseline_score),
            _score(record.best_score),
            f"{record.trials:,}",
            age(record.created_at),
        )
    console.print(table)


def _score(score: float | None) -> str:
    return "" if score is None else f"{score:.3f}"
