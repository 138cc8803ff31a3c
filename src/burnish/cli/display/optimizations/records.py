"""The trials of an optimization in a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from burnish.app.optimize.objectives import objective_of
from burnish.cli.display.objective import MEASURE_TITLES, measure_words
from burnish.cli.wording import money, one_line, rationale_words
from burnish.domain import (
    Candidate,
    ExperimentStatus,
    ExperimentType,
    OptimizationRecord,
    TrialResult,
)
from burnish.optimization.objectives.front import Measures

TRIAL_STYLES = {
    ExperimentStatus.COMPLETED: "green",
    ExperimentStatus.PRUNED: "yellow",
    ExperimentStatus.RUNNING: "cyan",
}


def trial_json(trial: TrialResult, candidate: Candidate) -> dict[str, Any]:
    """One trial or mini-batch as `show --trials --json` prints it."""
    summary = trial.summary
    return {
        "candidate_id": trial.candidate_id,
        "number": candidate.number,
        "step_index": candidate.step_index,
        "parent_candidate_ids": list(candidate.parent_candidate_ids),
        "type": trial.type.value,
        "status": trial.status.value,
        "score": trial.objective_score,
        "items": summary.total_items,
        "passed": summary.passed_items,
        "failed": summary.failed_items,
        "pass_rate": summary.pass_rate,
        "cost_usd": summary.total_cost,
        "avg_latency_ms": summary.avg_latency_ms,
        "avg_tokens": summary.avg_tokens,
        "avg_cost_usd": summary.avg_cost_usd,
        "error": trial.error,
        "rationale": candidate.rationale,
        "experiment_id": trial.experiment_id,
    }


def print_trials(
    console: Console,
    record: OptimizationRecord,
    candidates: Sequence[Candidate],
    trials: Sequence[TrialResult],
) -> None:
    """The table, the baseline first; mini-batches stand below their candidate's trial."""
    by_id = {one.id: one for one in candidates}
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("#", "step", "from"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("status", no_wrap=True)
    measures = objective_of(record).measures
    for column in ("score", "items", "cost", *(MEASURE_TITLES[name] for name in measures)):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("what was tried", overflow="fold", ratio=1)
    for trial in trials:
        candidate = by_id[trial.candidate_id]
        best = trial.candidate_id == record.best_candidate_id and trial.counts
        table.add_row(
            str(candidate.number),
            str(candidate.step_index),
            parents_words(candidate, by_id),
            Text(status_words(trial), style=TRIAL_STYLES.get(trial.status, "red")),
            Text(score_words(trial), style="bold cyan" if best else ""),
            f"{trial.summary.total_items:,}",
            "" if not trial.summary.total_cost else money(trial.summary.total_cost),
            *(measure_words(name, Measures.of(trial.summary).to_json()) for name in measures),
            Text(_about(trial, candidate, best=best), style="bold" if best else ""),
        )
    console.print(table)


def score_words(trial: TrialResult) -> str:
    """The score, or nothing where there is none."""
    return "" if trial.objective_score is None else f"{trial.objective_score:.3f}"


def status_words(trial: TrialResult) -> str:
    """The status; a mini-batch says that it is one."""
    kind = "mini-batch " if trial.type is ExperimentType.MINI_BATCH else ""
    return f"{kind}{trial.status.value}"


def parents_words(candidate: Candidate, by_id: dict[str, Candidate]) -> str:
    """The numbers of the candidates that it was made from."""
    numbers = [by_id[one].number for one in candidate.parent_candidate_ids if one in by_id]
    return ", ".join(map(str, numbers))


def _about(trial: TrialResult, candidate: Candidate, *, best: bool) -> str:
    words = rationale_words(candidate.rationale, 160)
    error = f" — {one_line(trial.error, 120)}" if trial.error else ""
    return f"{'best: ' if best else ''}{words}{error}"
