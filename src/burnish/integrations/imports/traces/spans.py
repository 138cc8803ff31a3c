"""Spans of OpenTelemetry as traces: OTLP JSON, and spans as Phoenix and SDKs write them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from burnish.domain import Json
from burnish.integrations.imports.traces.trace import Feedback, Trace, parsed

_NANOSECONDS = 1_000_000_000
_FAILED = ("ERROR", "STATUS_CODE_ERROR", "2")
# Attributes that say what went in and came out, the most telling first.
_INPUTS = ("input.value", "llm.input_messages", "gen_ai.input.messages", "gen_ai.prompt")
_OUTPUTS = ("output.value", "llm.output_messages", "gen_ai.output.messages", "gen_ai.completion")
_KINDS = ("openinference.span.kind", "gen_ai.operation.name")
# Attributes that the trace tells as a whole.
_TOLD = ("input.", "output.", "tag.tags", "session.id", "user.id", "metadata", "enduser.id")
# Objects of the user's own: names in them may have dots, which part nothing.
_WHOLE = ("attributes.metadata", "attributes.input.value", "attributes.output.value")
_EVALUATION = "gen_ai.evaluation."


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One span in the form that all of them are read into; attributes are flat, by dotted name."""

    trace: str
    id: str
    parent: str
    name: str
    began: str
    attributes: Mapping[str, Any]
    error: str | None
    feedback: tuple[Feedback, ...]

    def first(self, names: Iterable[str]) -> Json:
        """The first of these attributes that there is, put together where it is written in parts."""
        for name in names:
            value = self.attributes.get(name)
            value = _nested(self.attributes, name) if value is None else parsed(value)
            if value is not None:
                return value
        return None

    def to_json(self) -> dict[str, Json]:
        """The step of a trace: what it was, and what went in and came out."""
        step: dict[str, Json] = {"name": self.name}
        told = {
            "kind": self.first(_KINDS),
            "input": self.first(_INPUTS),
            "output": self.first(_OUTPUTS),
            "error": self.error,
        }
        kept = {
            name: value
            for name, value in self.attributes.items()
            if not name.startswith((*_KINDS, *_INPUTS, *_OUTPUTS, *_TOLD))
        }
        step |= {name: value for name, value in told.items() if value is not None}
        return step | ({"attributes": kept} if kept else {})


def otlp_spans(document: Mapping[str, Any]) -> Iterator[Span]:
    """The spans of one OTLP document, `{"resourceSpans": […]}`."""
    for resource in _list(document, "resourceSpans", "resource_spans"):
        for scope in _list(resource, "scopeSpans", "scope_spans"):
            for span in _list(scope, "spans"):
                yield _of_otlp(span)


def plain_span(value: Mapping[str, Any]) -> Span:
    """A span with its context and attributes, nested or in columns such as `attributes.input.value`."""
    flat = dict(_flat(value))
    attributes = {
        name.removeprefix("attributes."): one
        for name, one in flat.items()
        if name.startswith("attributes.")
    }
    status = str(flat.get("status.status_code", flat.get("status_code", flat.get("status", ""))))
    message = flat.get("status.description", flat.get("status_message"))
    return Span(
        trace=_id(flat.get("context.trace_id", flat.get("trace_id"))),
        id=_id(flat.get("context.span_id", flat.get("span_id"))),
        parent=_id(flat.get("parent_id")),
        name=str(flat.get("name") or ""),
        began=str(flat.get("start_time") or ""),
        attributes=attributes,
        error=str(message or "error") if status.upper() in _FAILED else None,
        feedback=(*_annotations(flat.get("annotations")), *_evaluations(flat.get("events"))),
    )


def traces_of(spans: Iterable[Span], tool: str) -> Iterator[Trace]:
    """Spans of one trace together; the one without a parent here says what went in and came out."""
    by_trace: dict[str, list[Span]] = {}
    for span in spans:
        by_trace.setdefault(span.trace, []).append(span)
    for identity, members in by_trace.items():
        members.sort(key=lambda one: one.began)
        ids = {one.id for one in members}
        root = next((one for one in members if one.parent not in ids), members[0])
        speaking = [one for one in (root, *members) if one.first(_INPUTS) is not None]
        answering = [one for one in (root, *members[::-1]) if one.first(_OUTPUTS) is not None]
        yield Trace(
            id=identity or root.id,
            tool=tool,
            input=speaking[0].first(_INPUTS) if speaking else None,
            output=answering[0].first(_OUTPUTS) if answering else None,
            name=root.name,
            time=root.began or None,
            error=next((one.error for one in (root, *members) if one.error), None),
            feedback=tuple(mark for one in members for mark in one.feedback),
            tags=_tags(members),
            session=_text(members, "session.id", "gen_ai.conversation.id"),
            user=_text(members, "user.id", "enduser.id"),
            metadata=_metadata(members),
            steps=tuple(one.to_json() for one in members),
        )


def _of_otlp(span: Mapping[str, Any]) -> Span:
    status = span.get("status")
    status = status if isinstance(status, Mapping) else {}
    failed = str(status.get("code", "")).upper() in _FAILED
    events = [
        {"name": one.get("name"), "attributes": _attributes(one.get("attributes"))}
        for one in _list(span, "events")
    ]
    return Span(
        trace=_id(span.get("traceId", span.get("trace_id"))),
        id=_id(span.get("spanId", span.get("span_id"))),
        parent=_id(span.get("parentSpanId", span.get("parent_span_id"))),
        name=str(span.get("name") or ""),
        began=_moment(span.get("startTimeUnixNano", span.get("start_time_unix_nano"))),
        attributes=_attributes(span.get("attributes")),
        error=str(status.get("message") or "error") if failed else None,
        feedback=tuple(_evaluations(events)),
    )


def _attributes(pairs: Any) -> dict[str, Any]:
    listed = pairs if isinstance(pairs, list) else []
    return {
        str(pair["key"]): _value(pair.get("value"))
        for pair in listed
        if isinstance(pair, Mapping) and "key" in pair
    }


def _value(value: Any) -> Any:
    """A value that OTLP wraps in its type."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return None
    ((kind, inner),) = value.items()
    if kind == "intValue":  # A text in JSON, since it may have 64 bits.
        return int(inner) if str(inner).removeprefix("-").isdecimal() else inner
    if kind == "arrayValue":
        return [_value(one) for one in _list(inner, "values")]
    if kind == "kvlistValue":
        return _attributes(inner.get("values") if isinstance(inner, Mapping) else None)
    return inner


def _nested(attributes: Mapping[str, Any], name: str) -> Json:
    """What is written in parts, such as `llm.input_messages.0.message.role`, as lists and objects."""
    prefix = f"{name}."
    parts = {
        key.removeprefix(prefix): one for key, one in attributes.items() if key.startswith(prefix)
    }
    if not parts:
        return None
    tree: dict[str, Any] = {}
    for key, value in parts.items():
        place, steps = tree, key.split(".")
        for step in steps[:-1]:
            deeper = place.setdefault(step, {})
            if not isinstance(deeper, dict):
                break
            place = deeper
        else:
            place[steps[-1]] = value
    found: Json = _listed(tree)
    return found


def _listed(tree: Any) -> Any:
    if not isinstance(tree, dict):
        return tree
    inner = {key: _listed(value) for key, value in tree.items()}
    if inner and all(key.isdigit() for key in inner):
        ordered = [inner[key] for key in sorted(inner, key=int)]
        return [
            one["message"] if isinstance(one, dict) and set(one) == {"message"} else one
            for one in ordered
        ]
    return inner


def _flat(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, inner in value.items():
        name = f"{prefix}{key}"
        if isinstance(inner, Mapping) and inner and name not in _WHOLE:
            yield from _flat(inner, f"{name}.")
        else:
            yield name, inner


def _annotations(value: Any) -> Iterator[Feedback]:
    """Phoenix's annotations of a span."""
    for one in value if isinstance(value, list) else []:
        result = one.get("result") if isinstance(one, Mapping) else None
        told = result if isinstance(result, Mapping) else one
        if isinstance(told, Mapping) and one.get("name"):
            score = told.get("score")
            chosen = told.get("label") if score is None else score
            yield Feedback(str(one["name"]), chosen, str(told.get("explanation") or ""))


def _evaluations(events: Any) -> Iterator[Feedback]:
    """OpenTelemetry's events of an evaluation."""
    for event in events if isinstance(events, list) else []:
        given = event.get("attributes") if isinstance(event, Mapping) else None
        if isinstance(given, Mapping) and given.get(f"{_EVALUATION}name"):
            score = given.get(f"{_EVALUATION}score.value")
            chosen = given.get(f"{_EVALUATION}score.label") if score is None else score
            comment = given.get(f"{_EVALUATION}explanation") or ""
            yield Feedback(str(given[f"{_EVALUATION}name"]), chosen, str(comment))


def _tags(members: list[Span]) -> tuple[str, ...]:
    found = [one.attributes.get("tag.tags") for one in members]
    return tuple(
        dict.fromkeys(str(tag) for tags in found if isinstance(tags, list) for tag in tags)
    )


def _text(members: list[Span], *names: str) -> str | None:
    found = (one.attributes.get(name) for one in members for name in names)
    return next((str(value) for value in found if value), None)


def _metadata(members: list[Span]) -> dict[str, Json]:
    merged: dict[str, Json] = {}
    for one in members:
        told = one.first(["metadata"])
        merged |= dict(told) if isinstance(told, Mapping) else {}
    return merged


def _list(value: Any, *names: str) -> list[Mapping[str, Any]]:
    given = value if isinstance(value, Mapping) else {}
    found: Any = next((given[name] for name in names if name in given), None)
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []


def _id(value: Any) -> str:
    return str(value or "").removeprefix("0x")


def _moment(nanoseconds: Any) -> str:
    try:
        moment = dt.datetime.fromtimestamp(int(nanoseconds) / _NANOSECONDS, dt.UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return ""
    return moment.isoformat()
