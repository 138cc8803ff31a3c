"""Optimization records: trials, lineage of candidates, rejections, events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from burnish.app.optimize.run_spec import objective_of
from burnish.cli.display.optimizations.results import MEASURE_TITLES, measure_words
from burnish.cli.wording import harmless, money, one_line, rationale_words
from burnish.domain import (
    Candidate,
    Event,
    EventType,
    ExperimentStatus,
    ExperimentType,
    OptimizationRecord,
    Rejection,
    TrialResult,
)
from burnish.domain.wording import counted
from burnish.optimization.objective import Measures

TRIAL_STYLES = {
    ExperimentStatus.COMPLETED: "green",
    ExperimentStatus.PRUNED: "yellow",
    ExperimentStatus.RUNNING: "cyan",
}
_STYLES = {
    EventType.BEST_CANDIDATE_CHANGED: "bold green",
    EventType.RUN_STATUS_CHANGED: "bold",
    EventType.RUN_FINISHED: "bold",
    EventType.TRIAL_ADDED_OR_UPDATED: "cyan",
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
        "errors": summary.error_items,
        "missing": summary.missing_items,
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
    errors = trial.summary.error_items
    error = f" — {one_line(trial.error, 120)}" if trial.error else ""
    if errors and not error:
        error = f" — {errors:,} of {counted(trial.summary.total_items, 'run')} ended in an error"
    return f"{'best: ' if best else ''}{words}{error}"


def tree_json(
    record: OptimizationRecord, candidates: Sequence[Candidate], trials: Sequence[TrialResult]
) -> dict[str, Any]:
    """Nodes are candidates; an edge goes from each parent to its child."""
    by_candidate = _trials_of(trials)
    return {
        "nodes": [_node(record, one, by_candidate.get(one.id)) for one in candidates],
        "edges": [
            {"source": parent, "target": one.id}
            for one in candidates
            for parent in one.parent_candidate_ids
        ],
    }


def print_tree(
    console: Console,
    record: OptimizationRecord,
    candidates: Sequence[Candidate],
    trials: Sequence[TrialResult],
) -> None:
    """Each candidate below its first parent; further parents are named beside it."""
    by_candidate = _trials_of(trials)
    by_id = {one.id: one for one in candidates}
    root = Tree("", hide_root=True, guide_style="dim")
    branches: dict[str, Tree] = {}
    # In order of number: a parent is always there before its children.
    for one in candidates:
        known = [parent for parent in one.parent_candidate_ids if parent in branches]
        place = branches[known[0]] if known else root
        others = [by_id[parent].number for parent in known[1:]]
        label = _label(record, one, by_candidate.get(one.id), others)
        branches[one.id] = place.add(label)
    console.print(root, soft_wrap=not console.is_terminal)


def _node(
    record: OptimizationRecord, candidate: Candidate, trial: TrialResult | None
) -> dict[str, Any]:
    return {
        "id": candidate.id,
        "number": candidate.number,
        "step_index": candidate.step_index,
        "parent_candidate_ids": list(candidate.parent_candidate_ids),
        "status": None if trial is None else trial.status.value,
        "score": None if trial is None else trial.objective_score,
        "baseline": candidate.number == 0,
        "best": candidate.id == record.best_candidate_id,
        "rationale": candidate.rationale,
        "experiment_id": None if trial is None else trial.experiment_id,
    }


def _label(
    record: OptimizationRecord,
    candidate: Candidate,
    trial: TrialResult | None,
    others: Sequence[int],
) -> Text:
    best = candidate.id == record.best_candidate_id
    text = Text(f"{candidate.number}", style="bold")
    if trial is not None:
        text.append(f"  {score_words(trial) or '–'}", style="bold cyan" if best else "")
        style = TRIAL_STYLES.get(trial.status, "red")
        text.append(f"  {trial.status.value}", style=style)
    if best:
        text.append("  best", style="bold green")
    if others:
        text.append(f"  also from {', '.join(map(str, others))}", style="dim")
    text.append(f"  {rationale_words(candidate.rationale, 90)}", style="dim")
    return text


def _trials_of(trials: Sequence[TrialResult]) -> dict[str, TrialResult]:
    return {one.candidate_id: one for one in trials if one.type is ExperimentType.TRIAL}


def rejection_json(rejection: Rejection) -> dict[str, Any]:
    """One rejection as `show --rejections --json` prints it."""
    return {
        "step_index": rejection.step_index,
        "proposal": rejection.proposal,
        "proposed_index": rejection.proposed_index,
        "reason_code": rejection.reason_code,
        "message": rejection.message,
        "configuration_hash": rejection.configuration_hash,
        "created_at": rejection.created_at,
    }


def print_rejections(console: Console, rejections: Sequence[Rejection]) -> None:
    """How many for each reason, then each of them."""
    if not rejections:
        console.print("no proposal was refused")
        return
    reasons = Counter(one.reason_code for one in rejections)
    words = ", ".join(f"{number} {reason}" for reason, number in reasons.most_common())
    console.print(
        Text.assemble((counted(len(rejections), "proposal"), "bold"), f" refused: {words}")
    )
    for one in rejections:
        line = Text.assemble(
            (f"  step {one.step_index:>3}  ", "dim"),
            (f"{one.reason_code:<22} ", "yellow"),
            one_line(one.message, 160),
            (_proposed(one), "dim"),
        )
        console.print(line, soft_wrap=not console.is_terminal)


def _proposed(rejection: Rejection) -> str:
    """What it was, in a few words."""
    proposal = rejection.proposal or {}
    same, why = proposal.get("duplicate_of"), proposal.get("rationale")
    words = f"  = candidate {str(same).rpartition('-')[2]}" if same else ""
    return f"{words}  ({one_line(why, 80)})" if isinstance(why, str) and why else words


def event_json(event: Event) -> dict[str, Any]:
    """One event as `show --events --json` prints it."""
    return {
        "sequence": event.sequence,
        "type": event.type.value,
        "key": event.key,
        "created_at": event.created_at,
        "payload": dict(event.payload),
    }


def print_events(console: Console, events: Sequence[Event]) -> None:
    """A line each, in order."""
    for one in events:
        facts = ", ".join(
            f"{name} {_value(value)}" for name, value in one.payload.items() if value is not None
        )
        line = Text.assemble(
            (f"{one.sequence:>5}  {_time(one.created_at)}  ", "dim"),
            (f"{one.type.value:<22}", _STYLES.get(one.type, "dim")),
            f"  {one_line(facts, 160)}",
        )
        console.print(line, soft_wrap=True)


def _value(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else harmless(str(value))


def _time(moment: str) -> str:
    """The time of day, in UTC."""
    return moment[11:19]
