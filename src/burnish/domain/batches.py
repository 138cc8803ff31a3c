"""Batches of model requests: what is recorded of one before and after it is sent, and where."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRecord:
    """A batch as it is recorded. `id` is ours, and the vendor is given it with the batch.

    `fingerprint` is that of the model. `sending_at` is when it was about to be sent: before that
    nothing can have been paid. `vendor_id` is the vendor's own name of it, once that is known, and
    `ended_at` when the vendor was through with it. `answered` is how many of its requests were, as
    the vendor said at `looked_at`.
    """

    id: str
    model: str
    fingerprint: str
    requests: int
    created_at: datetime
    run_id: str | None = None
    sending_at: datetime | None = None
    vendor_id: str | None = None
    ended_at: datetime | None = None
    answered: int = 0
    looked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class BatchClaim:
    """A request that a batch holds: by the key of its call, its place in the batch, and its payer."""

    key: str
    batch_id: str
    position: int
    payer: str | None = None


class BatchRecords(Protocol):
    """Keeps batches and which requests are in one. Each request is in one batch at most, whoever
    asks: so two processes never pay for the same, and one that comes after a killed one goes on.
    """

    async def record(self, batch: BatchRecord, claims: Sequence[BatchClaim]) -> bool:
        """Keep a new batch; False, and nothing is kept, where another holds one of the requests."""
        ...

    async def claims(self, keys: Collection[str]) -> Mapping[str, BatchClaim]:
        """Those of the requests that a batch holds."""
        ...

    async def batch(self, batch_id: str) -> BatchRecord | None:
        """A batch; None once it is forgotten."""
        ...

    async def note_sending(self, batch_id: str, now: datetime) -> bool:
        """It is about to be sent; False where somebody forgot it meanwhile, so it must not be."""
        ...

    async def note_sent(self, batch_id: str, vendor_id: str) -> bool:
        """The vendor has it under this id; False where somebody forgot it meanwhile."""
        ...

    async def note_look(self, batch_id: str, answered: int, now: datetime) -> None:
        """So many of its requests are answered by now, as the vendor says."""
        ...

    async def forget(self, batch: BatchRecord) -> bool:
        """Drop a batch that the vendor never got, with its claims; False if it is no longer so."""
        ...

    async def note_ended(self, batch_id: str, now: datetime) -> None:
        """The vendor is through with it."""
        ...

    async def release(self, batch_id: str, keys: Collection[str]) -> None:
        """These requests are answered and kept, or free to go in another batch."""
        ...

    async def open_batches(self, run_id: str) -> list[BatchRecord]:
        """Those of a run that the vendor is not through with, oldest first."""
        ...
