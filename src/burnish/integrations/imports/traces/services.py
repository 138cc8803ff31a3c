"""Exports of Langfuse and Opik as traces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from burnish.domain import Json
from burnish.integrations.imports.traces.trace import Feedback, Trace, parsed


def langfuse_traces(records: Iterable[Mapping[str, Any]]) -> Iterator[Trace]:
    """Traces with their observations and scores, or rows of observations and of scores."""
    traces: dict[str, dict[str, Any]] = {}
    observations: dict[str, list[Mapping[str, Any]]] = {}
    scores: dict[str, list[Mapping[str, Any]]] = {}
    for record in (inner for one in records for inner in _unpacked(one)):
        trace_id = _get(record, "traceId")
        if _is_score(record):
            scores.setdefault(str(_scored_trace(record)), []).append(record)
        elif trace_id is not None:
            observations.setdefault(str(trace_id), []).append(record)
        elif record.get("id"):
            identity = str(record["id"])
            traces[identity] = dict(record)
            observations.setdefault(identity, []).extend(_objects(record.get("observations")))
            scores.setdefault(identity, []).extend(_objects(record.get("scores")))
    for identity in dict.fromkeys((*traces, *observations)):
        yield _of_langfuse(
            identity,
            traces.get(identity, {}),
            observations.get(identity, []),
            scores.get(identity, []),
        )


def opik_traces(records: Iterable[Mapping[str, Any]]) -> Iterator[Trace]:
    """Files of `opik export`, with a trace and its spans, or traces as the SDK's search gives them."""
    for record in records:
        inner = record.get("trace")
        trace = inner if isinstance(inner, Mapping) else record
        spans = sorted(_objects(record.get("spans")), key=lambda one: str(_get(one, "start_time")))
        error = _get(trace, "error_info")
        metadata = trace.get("metadata")
        yield Trace(
            id=str(trace.get("id") or ""),
            tool="opik",
            input=parsed(trace.get("input")),
            output=parsed(trace.get("output")),
            name=str(trace.get("name") or ""),
            time=_text(_get(trace, "start_time")),
            error=_error(error),
            feedback=tuple(
                Feedback(
                    str(one["name"]),
                    _first(one, "value", "category_name"),
                    str(one.get("reason") or ""),
                )
                for one in _objects(_get(trace, "feedback_scores"))
                if one.get("name")
            )
            + tuple(
                Feedback("comment", None, str(one["text"]))
                for one in _objects(trace.get("comments"))
                if one.get("text")
            ),
            tags=_tags(trace),
            session=_text(_get(trace, "thread_id")),
            metadata=dict(metadata) if isinstance(metadata, Mapping) else {},
            steps=tuple(_step(one, "type", _error(_get(one, "error_info"))) for one in spans),
        )


def _of_langfuse(
    identity: str,
    trace: Mapping[str, Any],
    observations: list[Mapping[str, Any]],
    scores: list[Mapping[str, Any]],
) -> Trace:
    ordered = sorted(observations, key=lambda one: str(_get(one, "startTime")))
    ids = {one.get("id") for one in ordered}
    root = next((one for one in ordered if _get(one, "parentObservationId") not in ids), {})
    metadata = parsed(_first(trace, "metadata") or root.get("metadata"))
    failed = next((one for one in ordered if one.get("level") == "ERROR"), None)
    return Trace(
        id=identity,
        tool="langfuse",
        input=parsed(_first(trace, "input") or root.get("input")),
        output=parsed(_first(trace, "output") or root.get("output")),
        name=str(trace.get("name") or _get(root, "traceName") or root.get("name") or ""),
        time=_text(trace.get("timestamp") or _get(root, "startTime")),
        error=None if failed is None else str(_get(failed, "statusMessage") or "error"),
        feedback=tuple(
            Feedback(str(one["name"]), _score_value(one), str(one.get("comment") or ""))
            for one in scores
            if one.get("name")
        ),
        tags=_tags(trace) or _tags(root),
        session=_text(_get(trace, "sessionId") or _get(root, "sessionId")),
        user=_text(_get(trace, "userId") or _get(root, "userId")),
        metadata=dict(metadata) if isinstance(metadata, Mapping) else {},
        steps=tuple(
            _step(
                one,
                "type",
                _text(_get(one, "statusMessage")) if one.get("level") == "ERROR" else None,
            )
            for one in ordered
        ),
    )


def _unpacked(record: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A page of the API is its rows; the file of one trace is the trace, with what belongs to it."""
    if isinstance(record.get("data"), list) and "id" not in record:
        yield from _objects(record["data"])
    elif isinstance(record.get("trace"), Mapping):
        yield {**record["trace"], **{key: one for key, one in record.items() if key != "trace"}}
    else:
        yield record


def _is_score(record: Mapping[str, Any]) -> bool:
    """Scores have a source or a kind of data, which observations have not."""
    return (
        "name" in record
        and any(_get(record, key) for key in ("dataType", "source"))
        and ("value" in record or "stringValue" in record or "string_value" in record)
    )


def _scored_trace(record: Mapping[str, Any]) -> Any:
    subject = record.get("subject")
    inner = _first(subject, "traceId", "trace_id", "id") if isinstance(subject, Mapping) else None
    return _get(record, "traceId") or inner


def _score_value(score: Mapping[str, Any]) -> Json:
    if str(_get(score, "dataType") or "").upper() == "BOOLEAN" and score.get("value") in (0, 1):
        return bool(score["value"])
    text = _get(score, "stringValue")
    number = score.get("value")
    return text if text is not None and (number is None or _is_category(score)) else number


def _is_category(score: Mapping[str, Any]) -> bool:
    return str(_get(score, "dataType") or "").upper() in ("CATEGORICAL", "TEXT", "CORRECTION")


def _step(span: Mapping[str, Any], kind: str, error: str | None) -> dict[str, Json]:
    told = {
        "kind": span.get(kind),
        "model": span.get("model"),
        "parameters": parsed(_get(span, "modelParameters")),
        "usage": parsed(_first(span, "usage", "usageDetails", "usage_details")),
        "metadata": parsed(span.get("metadata")),
        "input": parsed(span.get("input")),
        "output": parsed(span.get("output")),
        "error": error,
    }
    named: dict[str, Json] = {"name": str(span.get("name") or "")}
    return named | {name: value for name, value in told.items() if value is not None}


def _get(record: Mapping[str, Any], name: str) -> Any:
    """A field by its name in camel case or with underscores: APIs and files write either."""
    other = "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in name)
    words = name.split("_")
    camel = words[0] + "".join(word.title() for word in words[1:])
    return _first(record, name, other, camel)


def _first(record: Mapping[str, Any], *names: str) -> Any:
    return next((record[name] for name in names if record.get(name) is not None), None)


def _objects(value: Any) -> list[Mapping[str, Any]]:
    value = parsed(value)
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _tags(record: Mapping[str, Any]) -> tuple[str, ...]:
    tags = parsed(record.get("tags"))
    return tuple(str(tag) for tag in tags) if isinstance(tags, list) else ()


def _text(value: Any) -> str | None:
    return None if value is None or value == "" else str(value)


def _error(info: Any) -> str | None:
    if not isinstance(info, Mapping):
        return _text(info)
    parts = [str(one) for one in (_get(info, "exception_type"), info.get("message")) if one]
    return ": ".join(parts) or "error"
