"""Optimizations as a list shows them: what each gained, cost and took, and how it came to that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from burnish.app.optimize.client_lease import is_of_client
from burnish.app.wiring import Workspace
from burnish.domain import OptimizationRecord, OptimizationStatus, Spending
from burnish.domain.optimizations.pages import RunSpan
from burnish.jobs import ownership

_SPARK_POINTS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLine:
    """One line. `change` is the improvement as the result has it, or the difference so far."""

    record: OptimizationRecord
    owned: bool
    state: str
    change: Mapping[str, Any] | None
    usage: Mapping[str, Any]
    started_at: str | None
    ended_at: str | None
    duration_seconds: float | None
    spark: Sequence[tuple[int, float]]


async def read_lines(workspace: Workspace, records: Sequence[OptimizationRecord]) -> list[RunLine]:
    """The lines of some optimizations, in their order. Records may come without documents."""
    ids = [one.id for one in records]
    spans = await workspace.insights.spans(ids)
    results = await workspace.insights.documents(ids, "result")
    unfinished = [one for one in ids if one not in results]
    checkpoints = await workspace.insights.documents(unfinished, "checkpoint") if unfinished else {}
    lines = []
    for one in records:
        whole = replace(one, result=results.get(one.id), checkpoint=checkpoints.get(one.id))
        span = spans.get(one.id, RunSpan())
        spent = await read_usage(workspace, whole) if span.first_event_at else Spending().to_json()
        lines.append(line_of(whole, span, spent))
    return lines


def line_of(record: OptimizationRecord, span: RunSpan, usage: Mapping[str, Any]) -> RunLine:
    """One line from a record with its result, or its checkpoint as long as there is none."""
    started = span.first_event_at
    ended = span.last_event_at if record.status.final else None
    return RunLine(
        record=record,
        owned=is_owned(record),
        state=state_of(record),
        change=_change(record),
        usage=usage,
        started_at=started,
        ended_at=ended,
        duration_seconds=seconds_between(started, ended),
        spark=_spark(record),
    )


async def read_usage(workspace: Workspace, record: OptimizationRecord) -> Mapping[str, Any]:
    """By purpose, the optimizer's own calls included; a finished run has it in its result."""
    if record.result is not None and record.status is not OptimizationStatus.RUNNING:
        usage: Mapping[str, Any] = record.result["usage"]
        return usage
    spent = await workspace.experiments.spending_of(record.id)
    own = Spending.of((record.checkpoint or {}).get("own_spending") or {})
    return (spent + own).to_json(answers=record.baseline_score is not None)


def is_owned(record: OptimizationRecord) -> bool:
    """Whether somebody works on it, as far as that can be known."""
    owner = record.lease_owner
    return not record.status.final and owner is not None and not ownership.is_dead(owner)


def state_of(record: OptimizationRecord) -> str:
    """The status as people read it: a run that nobody works on any more does not run."""
    left = record.status is OptimizationStatus.RUNNING and not is_owned(record)
    return "interrupted" if left else record.status.value


def seconds_between(started: str | None, ended: str | None) -> float | None:
    """How long something took, or takes until now; None for what has not begun."""
    if started is None:
        return None
    until = datetime.now(UTC) if ended is None else datetime.fromisoformat(ended)
    return max((until - datetime.fromisoformat(started)).total_seconds(), 0.0)


def _change(record: OptimizationRecord) -> Mapping[str, Any] | None:
    result = record.result or {}
    if result.get("improvement") is not None:
        test = result.get("test") or {}
        scores = {name: test.get(name) for name in ("baseline_score", "best_score")}
        return {**result["improvement"], "items": test.get("items"), **scores}
    if record.best_score is None or record.baseline_score is None:
        return None
    return {"delta": record.best_score - record.baseline_score, "held_out": False}


def _spark(record: OptimizationRecord) -> list[tuple[int, float]]:
    """Each new best after so many evaluations, and where it stands now."""
    points, last = _progress(record)
    if not points:
        score = record.best_score if record.best_score is not None else record.baseline_score
        return [] if score is None else [(0, score)]
    if last is not None and last > points[-1][0]:
        points.append((last, points[-1][1]))
    if len(points) <= _SPARK_POINTS:
        return points
    step = (len(points) - 1) / (_SPARK_POINTS - 1)
    return [points[round(index * step)] for index in range(_SPARK_POINTS)]


def _progress(record: OptimizationRecord) -> tuple[list[tuple[int, float]], int | None]:
    if record.result is not None:
        steps = record.result.get("progress") or ()
        points = [(one["evaluations"], one["best_score"]) for one in steps]
        return points, record.result.get("evaluations")
    # As the checkpoint has them: evaluations, candidate, score.
    told = (record.checkpoint or {}).get("progress") or ()
    return [(one[0], one[2]) for one in told], None


def python_call(record: OptimizationRecord) -> str | None:
    """The call that goes on with a run of Python, whose program alone has its functions."""
    if "settings" in record.spec or is_of_client(record):
        return None
    function = "compress" if record.optimizer_name == "compress" else "optimize"
    return f'burnish.{function}(…, resume="{record.id}")'
