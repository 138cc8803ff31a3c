"""Opik: what its clients send, kept as they sent it, and optimizations mirrored to an Opik server."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorTarget:
    """Where to. The key is named by the variable that holds it, and never kept."""

    url: str
    workspace: str = "default"
    project: str = "Burnish"
    api_key_env: str = "OPIK_API_KEY"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mirror:
    """One optimization on its way to one target; `error` says what went wrong last."""

    optimization_id: str
    target: MirrorTarget
    error: str | None = None
