"""What Opik clients send, kept as they sent it: our own records are made from it, again and again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

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


class OpikRecords(Protocol):
    """Keeps what was sent. Every write may be repeated, and nothing has to be there before it.

    Of two documents with one id, the one that was updated later wins, field by field; fields that
    it leaves out stay.
    """

    async def project_id(self, workspace: str, name: str) -> str:
        """The id of a project, which any name is one of."""
        ...

    async def project_name(self, project_id: str) -> str | None:
        """The name that an id was given for."""
        ...

    async def add_dataset(self, dataset: OpikDataset) -> OpikDataset:
        """The dataset of that name in its workspace, which is this one where there was none."""
        ...

    async def find_dataset(self, workspace: str, name: str) -> OpikDataset | None: ...

    async def get_dataset(self, dataset_id: str) -> OpikDataset:
        """UsageError with code `not_found` when there is none."""
        ...

    async def put_rows(self, dataset_id: str, rows: Sequence[OpikRow]) -> None:
        """Upserts by id; the snapshot is forgotten."""
        ...

    async def count_rows(self, dataset_id: str) -> int: ...

    async def rows(
        self, dataset_id: str, *, limit: int, offset: int = 0, after: str | None = None
    ) -> list[OpikRow]:
        """Rows as they came in; `after` is the id of the last one seen."""
        ...

    async def note_snapshot(self, dataset_id: str, snapshot: str, *, rows: int) -> None:
        """Remember it, unless there are more rows by now."""
        ...

    async def put_traces(self, documents: Sequence[Document]) -> None: ...

    async def put_spans(self, documents: Sequence[Document]) -> None:
        """Each names its `trace_id`."""
        ...

    async def put_scores(self, scores: Sequence[OpikScore]) -> None: ...

    async def put_items(self, items: Sequence[OpikItem]) -> None: ...

    async def experiments_of(self, trace_ids: Sequence[str]) -> dict[str, set[str]]:
        """The row ids by experiment that some traces are runs of."""
        ...

    async def runs(
        self, experiment_id: str, item_ids: Sequence[str] | None = None
    ) -> list[OpikRun]:
        """The runs of an experiment, of some rows or of all, by row and by their own id."""
        ...
