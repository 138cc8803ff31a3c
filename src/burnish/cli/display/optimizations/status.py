"""Optimization status: a row in a list, and the summary of a run without a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from burnish.app.report.runs.lines import is_owned, python_call, state_of
from burnish.app.report.runs.waiting import waiting_words
from burnish.cli.display.rows import add_columns, print_rows, print_steps
from burnish.cli.project_location import ProjectLocation
from burnish.cli.wording import age, harmless, short_id
from burnish.domain import (
    AgentVersion,
    Candidate,
    ExperimentStatus,
    OptimizationRecord,
    OptimizationStatus,
    TrialResult,
)

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
        "state": state_of(record),
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
        "owned": is_owned(record),
    }


def print_optimizations(console: Console, records: Sequence[OptimizationRecord]) -> None:
    """The table."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="optimizations", title_justify="left")
    columns = add_columns(console, table, ("baseline", "best", "trials", "age"), "best")
    for record in records:
        cells: dict[str, Text | str] = {
            "id": short_id(record.id),
            "name": Text(harmless(record.name)),
            "status": Text(state_of(record), style=STATUS_STYLES.get(record.status, "yellow")),
            "baseline": _score(record.baseline_score),
            "best": _score(record.best_score),
            "trials": f"{record.trials:,}",
            "age": age(record.created_at),
        }
        table.add_row(*(cells[column] for column in columns))
    console.print(table)


def _score(score: float | None) -> str:
    return "" if score is None else f"{score:.3f}"


def summary_json(
    record: OptimizationRecord,
    active: AgentVersion | None,
    front: Sequence[Mapping[str, Any]],
    waiting: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """The optimization as `show --json` prints it, with the front as it stands."""
    return {
        **optimization_listing_json(record),
        "objective": record.objective_name,
        "cancel_requested": record.cancel_requested,
        "framework_error": None if record.framework_error is None else dict(record.framework_error),
        "active_version": None if active is None else active.version,
        "front": [dict(one) for one in front],
        "waiting": [dict(one) for one in waiting],
        "result": None if record.result is None else dict(record.result),
    }


def print_unfinished(
    console: Console,
    record: OptimizationRecord,
    candidates: Mapping[str, Candidate],
    trials: Sequence[TrialResult],
    location: ProjectLocation,
    waiting: Sequence[Mapping[str, Any]] = (),
) -> None:
    """How far it has come, what it waits for, what went wrong, and how to go on."""
    head = Text.assemble(
        (harmless(record.name), "bold"),
        (f"  {state_of(record)}", STATUS_STYLES.get(record.status, "bold yellow")),
        (f"  {_activity(record)}", "dim"),
    )
    console.print(head)
    console.print()
    print_rows(console, [*_rows(record, candidates, trials), *waiting_rows(waiting)])
    error = record.framework_error
    if error is not None:
        console.print()
        console.print(Text.assemble(("! ", "bold red"), harmless(str(error.get("message", "")))))
        console.print(Text(f"  {harmless(str(error.get('fix', '')))}", style="green"))
    console.print()
    console.print(Text.assemble(("optimization ", "dim"), record.id))
    short = short_id(record.id)
    steps = [(location.command("show", short, "--trials"), "every trial; --graph for the lineage")]
    can_go_on = record.status is not OptimizationStatus.CANCELLED and resumable(
        str((record.framework_error or {}).get("code"))
    )
    if can_go_on and not is_owned(record):
        steps.insert(0, (_resuming(record, location), "go on with it"))
    if not record.status.final:
        steps.append((location.command("cancel", short), "stop it for good"))
    print_steps(console, steps)


def waiting_rows(waiting: Sequence[Mapping[str, Any]]) -> list[tuple[str, Text]]:
    """The batches that vendors are not through with."""
    return [("waits for", Text(harmless(waiting_words(one)), style="yellow")) for one in waiting]


def _resuming(record: OptimizationRecord, location: ProjectLocation) -> str:
    """The command or call that goes on."""
    return python_call(record) or location.command("resume", short_id(record.id))


def resumable(code: str) -> bool:
    """Whether a run that failed so has anything to go on with."""
    return code != "unmeasured_objective"


def print_version(
    console: Console,
    active: AgentVersion,
    record: OptimizationRecord,
    candidates: Mapping[str, Candidate],
) -> None:
    """Which version of the agent is in use, and which candidate of the run it is, if it is one."""
    here = active.origin.get("optimization_id") == record.id
    own = candidates.get(str(active.origin.get("candidate_id"))) if here else None
    name = "" if own is None else f"candidate {own.number}" if own.number else "the baseline"
    origin = f", {name} of this run" if name else ""
    words = f"{harmless(active.agent_name)} uses version {active.version}{origin}"
    console.print(Text(f"{words}, promoted {age(active.created_at)}", style="dim"), soft_wrap=True)


def _rows(
    record: OptimizationRecord,
    candidates: Mapping[str, Candidate],
    trials: Sequence[TrialResult],
) -> list[tuple[str, Text]]:
    tried = [one for one in trials if candidates[one.candidate_id].number]
    states = [
        (sum(1 for one in tried if one.status is status), status.value)
        for status in ExperimentStatus
    ]
    counts = " · ".join(f"{number} {name}" for number, name in states if number)
    best = Text("not known yet", style="dim")
    leader = candidates.get(record.best_candidate_id or "")
    if record.best_score is not None and leader is not None:
        number = leader.number
        who = f"candidate {number}" if number else "the baseline"
        best = Text.assemble((f"{record.best_score:.3f}", "bold cyan"), (f"  {who}", "dim"))
    baseline = "" if record.baseline_score is None else f"{record.baseline_score:.3f}"
    return [
        ("baseline", Text(baseline or "not scored yet")),
        ("best so far", best),
        ("trials", Text(f"{len(tried)}  {counts}".rstrip())),
    ]


def _activity(record: OptimizationRecord) -> str:
    if record.status.final:
        return ""
    if record.cancel_requested:
        return "asked to stop"
    return "at work" if is_owned(record) else "nobody works on it"
