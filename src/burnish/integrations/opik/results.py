"""An item's result from what an Opik client told about one run: trace, spans and scores."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from burnish.domain import (
    AgentOutput,
    ErrorKind,
    ItemError,
    ItemResult,
    Purpose,
    Score,
    Spending,
    Usage,
)
from burnish.domain.opik_records import Document, OpikRun, OpikScore

_MOST_SPANS = 200
_LONGEST = 20_000
_SHOWN_OF_TRACE = ("name", "input", "metadata", "tags", "start_time", "end_time", "error_info")
_SHOWN_OF_SPAN = ("name", "type", "model", "provider", "input", "output", "usage", "error_info")
_SCORER_ERROR = "the client finished the experiment and sent no score"


def result_of(
    run: OpikRun, *, repeat: int, item_hash: str, objective: str, finished: bool
) -> ItemResult | None:
    """The result, or None while it may still be scored."""
    scores = tuple(_score(one) for one in run.scores)
    usable = [one for one in scores if one.error is None]
    error = _error(run.trace)
    if not usable and error is None:
        if not finished:
            return None
        error = ItemError(kind=ErrorKind.SCORER, message=_SCORER_ERROR)
    value = _objective(usable, objective)
    return ItemResult(
        item_id=run.item.item_id,
        item_hash=item_hash,
        repeat=repeat,
        score=value,
        passed=error is None and value >= 1.0,
        output=None if run.trace is None else _output(run.trace, run.spans),
        scores=scores,
        error=error,
        spending=_spending(run.spans),
        latency_ms=_milliseconds(run.trace),
    )


def _score(score: OpikScore) -> Score:
    value, reason = score.document.get("value"), score.document.get("reason")
    known = isinstance(value, (int, float)) and math.isfinite(value)
    return Score(
        value=float(value) if known and value is not None else 0.0,
        reason=str(reason or ""),
        name=score.name,
        error=None if known else "its value is no finite number",
    )


def _objective(scores: Sequence[Score], objective: str) -> float:
    """The score that the optimization is for; the mean of all where none has its name."""
    named = [one.value for one in scores if one.name == objective]
    values = named or [one.value for one in scores]
    return sum(values) / len(values) if values else 0.0


def _error(trace: Document | None) -> ItemError | None:
    info = (trace or {}).get("error_info")
    if not isinstance(info, Mapping):
        return None
    told = [str(info[name]) for name in ("exception_type", "message") if info.get(name)]
    # Our own mirror names the kind.
    named = next((one for one in ErrorKind if one.value == info.get("exception_type")), None)
    message = str(info.get("message") or "") if named is not None else ": ".join(told)
    return ItemError(kind=named or ErrorKind.AGENT, message=message or "the trace has an error")


def _output(trace: Document, spans: Sequence[Document]) -> AgentOutput:
    answer = trace.get("output")
    return AgentOutput(text=_text(answer), data=_bounded(answer), trace=_shown_trace(trace, spans))


def _text(answer: Any) -> str:
    """An answer's only text, or all of it as JSON."""
    if isinstance(answer, Mapping) and len(answer) == 1:
        answer = next(iter(answer.values()))
    if isinstance(answer, str):
        return answer
    return "" if answer is None else json.dumps(answer, ensure_ascii=False)


def _shown_trace(trace: Document, spans: Sequence[Document]) -> dict[str, Any]:
    shown = {name: trace[name] for name in _SHOWN_OF_TRACE if trace.get(name) is not None}
    ordered = sorted(spans, key=lambda one: (str(one.get("start_time")), str(one.get("id"))))
    by_parent: dict[str | None, list[Document]] = {}
    ids = {one.get("id") for one in ordered[:_MOST_SPANS]}
    for one in ordered[:_MOST_SPANS]:
        parent = one.get("parent_span_id")
        # A span that never came, or itself, is no parent.
        own = parent in ids and parent != one.get("id")
        by_parent.setdefault(str(parent) if own else None, []).append(one)
    told = {"id": trace.get("id"), **shown, "spans": _tree(by_parent, None, set())}
    if len(ordered) > _MOST_SPANS:
        told["spans_left_out"] = len(ordered) - _MOST_SPANS
    bounded = _bounded(told)
    assert isinstance(bounded, dict)
    return bounded


def _tree(
    by_parent: Mapping[str | None, Sequence[Document]], parent: str | None, above: set[str]
) -> list[dict[str, Any]]:
    found = []
    for one in by_parent.get(parent, ()):
        span = {name: one[name] for name in _SHOWN_OF_SPAN if one.get(name) is not None}
        span["ms"] = _milliseconds(one)
        identity = str(one.get("id"))
        inner = _tree(by_parent, identity, above | {identity}) if identity not in above else []
        found.append({**span, "spans": inner} if inner else span)
    return found


def _bounded(value: Any) -> Any:
    """The same with long texts cut: a page shows it, and the whole stays where it was sent to."""
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…"
    if isinstance(value, Mapping):
        return {str(name): _bounded(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_bounded(inner) for inner in value]
    return value


def _spending(spans: Sequence[Document]) -> Spending:
    """What the calls of models in the spans took."""
    calls = [one for one in spans if one.get("type") == "llm"]
    if not calls:
        return Spending()
    return Spending.on(Purpose.AGENT, sum((_usage(one) for one in calls), Usage()))


def _usage(span: Document) -> Usage:
    told = span.get("usage")
    usage = told if isinstance(told, Mapping) else {}
    cost = span.get("total_estimated_cost", span.get("total_cost"))
    return Usage(
        calls=1,
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
        cost_usd=float(cost) if isinstance(cost, (int, float)) and math.isfinite(cost) else None,
    )


def _count(value: Any) -> int:
    return max(int(value), 0) if isinstance(value, (int, float)) and math.isfinite(value) else 0


def _milliseconds(document: Document | None) -> float:
    try:
        began, ended = (
            datetime.fromisoformat(str((document or {})[name]))
            for name in ("start_time", "end_time")
        )
        return max((ended - began).total_seconds() * 1000, 0.0)
    except (KeyError, ValueError, TypeError):
        return 0.0
