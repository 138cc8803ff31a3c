"""Traces of production as dataset rows: OTLP, OpenInference, Langfuse and Opik."""

from burnish.integrations.imports.traces.datasets import added_rows, known_texts
from burnish.integrations.imports.traces.reading import TraceKind, guess_trace_kind, read_traces
from burnish.integrations.imports.traces.selecting import Selection, TraceRows, select_rows
from burnish.integrations.imports.traces.trace import Feedback, Trace

__all__ = [
    "Feedback",
    "Selection",
    "Trace",
    "TraceKind",
    "TraceRows",
    "added_rows",
    "guess_trace_kind",
    "known_texts",
    "read_traces",
    "select_rows",
]
