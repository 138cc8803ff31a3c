"""Batch endpoint of a vendor: what batches need of one, for one model and key."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from burnish.domain import BatchRecord, BurnishError, ModelRequest, ModelResponse, Usage
from burnish.models.failures import TransientError

Body = Mapping[str, Any]


class UnknownBatchError(Exception):
    """The vendor knows no batch of this id, at least not for this key."""


class UndecidedError(Exception):
    """A batch may be ours, and the vendor does not tell yet."""


@dataclass(frozen=True, slots=True)
class BatchLook:
    """A batch as the vendor sees it now. `document` is its own account, to find the answers by.

    `failure` is what became of every request that it has no word of.
    """

    ended: bool
    answered: int = 0
    document: Mapping[str, Any] = field(default_factory=dict)
    failure: BurnishError | TransientError | None = None


@dataclass(frozen=True, slots=True)
class BatchAnswer:
    """What became of one request: its answer as a single call would have it, or why there is none.

    A TransientError is worth another batch; any other error is the request's own.
    """

    custom_id: str
    body: Body | None = None
    error: BurnishError | TransientError | None = None


class BatchEndpoint(Protocol):
    """Batches of one model. Reading calls have retries of their own and end in BurnishError.

    `most_requests` and `most_bytes` bound a batch, `submit_seconds` the call that sends one, and
    `window_seconds` how long the vendor works on it and keeps what came of it.
    """

    most_requests: int
    most_bytes: int
    submit_seconds: float
    window_seconds: float

    def body(self, request: ModelRequest) -> Body:
        """The request as it stands in a batch; UsageError for what no batch takes."""
        ...

    async def prepare(self, batch: BatchRecord, bodies: Mapping[str, Body]) -> Any:
        """Whatever comes before sending and costs nothing, such as the upload of a file."""
        ...

    async def submit(self, batch: BatchRecord, prepared: Any) -> str:
        """Send it, in one attempt, under our id; the vendor's id of it.

        TransientError where it is not known whether it arrived, BurnishError where it was refused.
        """
        ...

    async def find(self, batch: BatchRecord) -> str | None:
        """The vendor's id of a batch that was sent under our id; None where there is none yet.

        UndecidedError where that can only be told later.
        """
        ...

    async def look(self, vendor_id: str) -> BatchLook:
        """Where it stands; UnknownBatchError where the vendor has no such batch."""
        ...

    def answers(self, look: BatchLook) -> AsyncIterator[BatchAnswer]:
        """All that came of a batch that has ended, in any order."""
        ...

    async def cancel(self, vendor_id: str) -> None:
        """Stop a batch that nobody waits for."""
        ...

    def read(
        self, answer: BatchAnswer, request: ModelRequest, wasted: list[Usage]
    ) -> ModelResponse:
        """The answer, at the price of a batch; its error where it has one.

        TransientError too where it cannot be used; what it cost is then added to `wasted`.
        """
        ...

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        ...


def custom_id(batch_id: str, position: int) -> str:
    """The name of a request in its batch, by which its answer is told apart from all others."""
    return f"{batch_id}-{position}"


def position_of(batch_id: str, named: str) -> int | None:
    """The place of a request in its batch; None for a name that is none of the batch's."""
    start, _, end = named.rpartition("-")
    return int(end) if start == batch_id and end.isdecimal() and end.isascii() else None
