"""Stored traces: what Opik clients sent to the server here, without an export in between."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Protocol

from burnish.domain import UsageError
from burnish.integrations.imports.traces.services import opik_traces
from burnish.integrations.imports.traces.trace import Trace


class TraceRecords(Protocol):
    """Where they are kept."""

    def traces(self) -> AsyncIterator[dict[str, Any]]:
        """Each with its spans and scores, but for runs of experiments."""
        ...


async def stored_traces(records: TraceRecords) -> list[Trace]:
    """All traces with an input or an output; feedback scores are labels, their reasons comments.

    Runs of a dataset's rows are none of them: those rows are in the dataset, and some in a test split.
    """
    found = opik_traces([one async for one in records.traces()])
    traces = [one for one in found if one.input is not None or one.output is not None]
    if not traces:
        raise UsageError(
            what="there are no traces to import",
            why="no Opik client has sent any to the server of this database, but for runs of "
            "experiments",
            fix="point Opik's SDK at `burnish serve`, as docs/opik.md says, or name another with --db",
            code="empty_dataset",
        )
    return traces
