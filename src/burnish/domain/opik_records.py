"""What Opik clients send, kept as they sent it: our own records are made from it, again and again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpikDataset:
    """A dataset that grows. `snapshot` is our dataset of the rows as they are; None once they moved."""

    id: str
    workspace: str
    name: str
    document: Document = field(default_factory=dict)
    snapshot: str | None = None
    created_at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpikRow:
    """A row of such a dataset, as it was sent."""

    id: str
    document: Document


@dataclass(frozen=True, slots=True, kw_only=True)
class OpikItem:
    """Says that a trace is an experiment's run of a row."""

    id: str
    experiment_id: str
    item_id: str
    trace_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpikScore:
    """A score of a trace; a later one of the same name takes its place."""

    trace_id: str
    name: str
    document: Document


@dataclass(frozen=True, slots=True, kw_only=True)
class OpikRun:
    """A run of a row with all that has come in about it so far, in whatever order."""

    item: OpikItem
    trace: Document | None = None
    spans: Sequence[Document] = ()
    scores: Sequence[OpikScore] = ()
