"""Following of a batch: found again where its id is not known, looked at until it ends, then read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import TypeVar

from burnish.domain import BatchRecord, BatchRecords, BurnishError, Clock, UnavailableError
from burnish.domain.wording import counted
from burnish.models.batches.endpoint import (
    BatchAnswer,
    BatchEndpoint,
    BatchLook,
    UndecidedError,
    UnknownBatchError,
    position_of,
)
from burnish.models.failures import TransientError
from burnish.models.traffic import BatchWait, Traffic
from burnish.support.retry import RetryPolicy

T = TypeVar("T")
_LOOKS = RetryPolicy(first_wait_seconds=1.0, longest_wait_seconds=60.0)
# A vendor may list a batch this much later than it took it; and whoever recorded one may need so
# long until it begins to send it.
_SETTLE_SECONDS = 30.0


# So long the vendor may be away while a batch is waited for.
_PATIENCE_SECONDS = 1800.0
_LOST = "the batch ended without an answer to it"


@dataclass(frozen=True, slots=True)
class BatchOutcome:
    """What came of each request, by its place, and of those that the vendor has no word of."""

    answers: dict[int, BatchAnswer]
    failure: BurnishError | TransientError = field(default_factory=lambda: TransientError(_LOST))


class BatchFollower:
    """Waits for batches of one model, whoever sent them."""

    def __init__(
        self, model: str, endpoint: BatchEndpoint, records: BatchRecords, clock: Clock
    ) -> None:
        self._model = model
        self._endpoint = endpoint
        self._records = records
        self._clock = clock

    async def follow(self, batch: BatchRecord, told: Collection[Traffic]) -> BatchOutcome | None:
        """What came of a batch; None where the vendor never got it.

        Of two answers to one request the first counts, and one to nothing that was asked does not.
        """
        age = (self._clock.now() - (batch.sending_at or batch.created_at)).total_seconds()
        since = self._clock.monotonic() - age
        wait = BatchWait(self._model, batch.requests, since, batch.answered)
        with ExitStack() as stack:
            for traffic in told:
                stack.enter_context(traffic.batch(wait))
            vendor_id = batch.vendor_id or await self._locate(batch)
            if vendor_id is None:
                return None
            found = BatchOutcome({})
            try:
                look = await self._wait_for_end(batch, vendor_id, wait)
                found = BatchOutcome({}, look.failure) if look.failure else found
                async for answer in self._endpoint.answers(look):
                    position = position_of(batch.id, answer.custom_id)
                    if position is not None:
                        found.answers.setdefault(position, answer)
            except UnknownBatchError:
                self._require_old(batch, vendor_id)
        await self._records.note_ended(batch.id, self._clock.now())
        return found

    async def _wait_for_end(self, batch: BatchRecord, vendor_id: str, wait: BatchWait) -> BatchLook:
        for number in count(1):
            look = await self._patiently(lambda: self._endpoint.look(vendor_id))
            wait.answered = look.answered
            if look.ended:
                break
            await self._records.note_look(batch.id, look.answered, self._clock.now())
            await self._clock.sleep(_LOOKS.backoff_seconds(number))
        return look

    async def _locate(self, batch: BatchRecord) -> str | None:
        """The vendor's id of a batch that was recorded without one; None where it never got there.

        While it may still arrive it is waited for: nothing is sent twice.
        """
        for number in count(1):
            vendor_id = None
            undecided = False
            if batch.sending_at is not None:
                try:
                    vendor_id = await self._patiently(partial(self._endpoint.find, batch))
                except UndecidedError:
                    undecided = True
            if vendor_id is not None:
                await self._records.note_sent(batch.id, vendor_id)
                return vendor_id
            if not undecided and self._is_settled(batch) and await self._records.forget(batch):
                return None
            await self._clock.sleep(_LOOKS.backoff_seconds(number))
            now = await self._records.batch(batch.id)
            if now is None or now.vendor_id is not None:  # Somebody else found out.
                return None if now is None else now.vendor_id
            batch = replace(batch, sending_at=now.sending_at)
        raise AssertionError("unreachable")

    async def _patiently(self, ask: Callable[[], Awaitable[T]]) -> T:
        """The vendor's answer. A batch takes hours: it may be away for a while meanwhile."""
        started = self._clock.monotonic()
        for number in count(1):
            try:
                return await ask()
            except UnavailableError:
                if self._clock.monotonic() - started >= _PATIENCE_SECONDS:
                    raise
            await self._clock.sleep(_LOOKS.backoff_seconds(number))
        raise AssertionError("unreachable")

    def _is_settled(self, batch: BatchRecord) -> bool:
        if batch.sending_at is None:
            since, seconds = batch.created_at, _SETTLE_SECONDS
        else:
            since, seconds = batch.sending_at, self._endpoint.submit_seconds + _SETTLE_SECONDS
        return (self._clock.now() - since).total_seconds() >= seconds

    def _require_old(self, batch: BatchRecord, vendor_id: str) -> None:
        """A vendor drops batches after a while; before that, it must be the wrong account."""
        age = (self._clock.now() - batch.created_at).total_seconds()
        if age < self._endpoint.window_seconds:
            raise UnavailableError(
                what=f"a batch of {counted(batch.requests, 'request')} to {self._model} cannot "
                f"be found",
                why=f"it was sent as {vendor_id}, and the endpoint knows none of that id with this key",
                fix="use the key and address that it was sent with; its requests are not sent twice",
                code="batch_lost",
            )
