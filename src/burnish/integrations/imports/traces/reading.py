"""Files of traces: which tool they are of, and the traces in them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import chain, islice
from pathlib import Path
from typing import Any

from burnish.domain import UsageError, require_json
from burnish.evaluation.datasets.rows import RawRow
from burnish.evaluation.datasets.sources import FileRows
from burnish.integrations.imports.files import CannotTakeError, broken, read_text
from burnish.integrations.imports.traces.services import langfuse_traces, opik_traces
from burnish.integrations.imports.traces.spans import otlp_spans, plain_span, traces_of
from burnish.integrations.imports.traces.trace import Trace

_LARGEST_FILE = 1024**3
_LOOKED_AT = 20
_ROWS = (".jsonl", ".ndjson", ".csv")
_READ = (*_ROWS, ".json")


class TraceKind(StrEnum):
    """The tools whose traces can be read."""

    OTLP = "otlp"
    OPENINFERENCE = "openinference"
    LANGFUSE = "langfuse"
    OPIK = "opik"


def read_traces(path: Path, kind: TraceKind) -> list[Trace]:
    """All traces of a file, or of a folder's files; UsageError where there is none."""
    records = _records(path)
    if kind is TraceKind.OTLP:
        found = traces_of(chain.from_iterable(map(otlp_spans, records)), kind)
    elif kind is TraceKind.OPENINFERENCE:
        found = traces_of(map(plain_span, records), kind)
    else:
        found = (langfuse_traces if kind is TraceKind.LANGFUSE else opik_traces)(records)
    traces = [one for one in found if one.id and (one.input is not None or one.output is not None)]
    if not traces:
        raise UsageError(
            what=f"{path} cannot be imported",
            why=f"no trace in it has an input or an output, read as {kind.value}",
            fix=f"say what it is with --from {'|'.join(TraceKind)}, or export inputs and outputs too",
            code="empty_dataset",
        )
    for one in traces:
        require_json(one.to_row(), where=f"trace {one.id}")
    return traces


def guess_trace_kind(path: Path) -> TraceKind | None:
    """The tool that a file of traces is of, by its content; None where it is no such file."""
    if not path.is_dir() and path.suffix.lower() not in _READ:
        return None
    try:
        records = list(islice(_records(path), _LOOKED_AT))
    except UsageError:
        return None
    return next((kind for kind in map(_kind_of, records) if kind is not None), None)


def _kind_of(record: Mapping[str, Any]) -> TraceKind | None:
    keys = set(record)
    if keys & {"resourceSpans", "resource_spans"}:
        return TraceKind.OTLP
    if "context.trace_id" in keys or {"context", "attributes"} <= keys:
        return TraceKind.OPENINFERENCE
    if "spans" in keys and isinstance(record.get("trace"), Mapping):
        return TraceKind.OPIK
    if keys & {"feedback_scores", "error_info", "thread_id", "span_count"} and "id" in keys:
        return TraceKind.OPIK
    inner = record.get("data")
    first = (
        inner[0] if isinstance(inner, list) and inner and isinstance(inner[0], Mapping) else record
    )
    named = set(first) & {
        "observations",
        "traceId",
        "trace_id",
        "htmlPath",
        "trace_name",
        "traceName",
    }
    return TraceKind.LANGFUSE if named or "trace" in keys else None


def _records(path: Path) -> Iterator[Mapping[str, Any]]:
    if path.is_dir():
        files = sorted(one for one in path.rglob("*") if one.suffix.lower() in _READ)
        return chain.from_iterable(map(_records, files))
    values: Iterable[Any]
    if path.suffix.lower() in _ROWS:
        values = (row.value for row in FileRows(path).read() if type(row) is RawRow)
    else:
        values = _documents(path)
    flat = chain.from_iterable(one if isinstance(one, list) else [one] for one in values)
    return (one for one in flat if isinstance(one, Mapping))


def _documents(path: Path) -> Iterator[Any]:
    """The JSON values of a file, one after the other: exporters of SDKs write many into one."""
    try:
        text = read_text(path, _LARGEST_FILE)
    except CannotTakeError as error:
        raise UsageError(
            what=f"{path} cannot be imported",
            why=str(error),
            fix="check the path, or export JSON Lines",
            code="unreadable_file",
        ) from error
    decoder, place = json.JSONDecoder(), 0
    while (place := _next(text, place)) < len(text):
        try:
            value, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError) as error:
            line = text.count("\n", 0, getattr(error, "pos", place)) + 1
            raise broken(path, line, None, "it is not JSON") from error
        yield value


def _next(text: str, place: int) -> int:
    while place < len(text) and text[place].isspace():
        place += 1
    return place
