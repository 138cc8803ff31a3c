"""Batch queue of a model: requests that come together become one batch, each paid for once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Iterable, Mapping
from contextvars import Context
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

from burnish.domain import (
    BatchClaim,
    BatchRecord,
    BatchRecords,
    BurnishError,
    CallCache,
    Clock,
    ModelRequest,
    ModelResponse,
    PaidAnswerError,
    UnavailableError,
    Usage,
)
from burnish.domain.wording import counted
from burnish.models.batches.endpoint import BatchAnswer, BatchEndpoint, Body, custom_id
from burnish.models.batches.following import BatchFollower, BatchOutcome
from burnish.models.failures import TransientError
from burnish.models.traffic import Traffic, counting, current_traffic
from burnish.support.retry import RetryPolicy

# A batch is sent once no request has come for so long: how long it is decides nothing but how many
# batches there are.
QUIET_SECONDS = 2.0
_NOT_TAKEN = "the endpoint did not take the batch"
# How long a request waits for its next batch.
_AGAIN = RetryPolicy(first_wait_seconds=5.0, longest_wait_seconds=600.0)


@dataclass(eq=False, slots=True)
class Asked:
    """A request that somebody waits for. `paid_by` is whose batch it is in, by its payer's name."""

    key: str
    request: ModelRequest
    body: Body
    payer: str | None
    traffic: Traffic
    since: float
    answer: asyncio.Future[ModelResponse]
    paid_by: str | None = None
    tries: int = 0
    wasted: list[Usage] = field(default_factory=list)

    @property
    def is_free(self) -> bool:
        """Whether somebody else pays for it."""
        return self.paid_by is not None and self.paid_by != self.payer

    def fail(self, error: Exception) -> None:
        """Nobody will answer it."""
        if self.wasted and isinstance(error, UnavailableError):
            error = PaidAnswerError.of(error, sum(self.wasted, Usage()))
        if not self.answer.done():
            self.answer.set_exception(error)
            self.answer.exception()  # Read once: nobody complains when no one waits.


@dataclass(eq=False, slots=True)
class _Followed:
    """A batch that is waited for here, and for whom: by their places in it."""

    batch: BatchRecord
    asked: dict[int, Asked]


class BatchQueue:
    """Gathers requests, and hands out answers once they are in the call cache.

    A batch is recorded before it is sent. What a recorded batch holds is never sent again: whoever
    asks for it waits for that batch, also after a crash and in another process.
    """

    def __init__(
        self,
        model: str,
        fingerprint: str,
        endpoint: BatchEndpoint,
        *,
        records: BatchRecords,
        cache: CallCache,
        clock: Clock,
        max_attempts: int,
    ) -> None:
        self._model = model
        self._fingerprint = fingerprint
        self._endpoint = endpoint
        self._records = records
        self._cache = cache
        self._clock = clock
        self._max_attempts = max_attempts
        self._follower = BatchFollower(model, endpoint, records, clock)
        self._pending: dict[str, Asked] = {}
        self._bytes = 0
        self._arrivals = 0
        self._gathering: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._followed: dict[str, _Followed] = {}
        # What came of requests that nobody here has asked for yet, by batch and place.
        self._unasked: dict[str, BatchOutcome] = {}

    async def ask(self, key: str, request: ModelRequest, payer: str | None) -> ModelResponse:
        """The answer, which is in the cache by then; with usage only for its own payer."""
        asked = Asked(
            key=key,
            request=request,
            body=self._endpoint.body(request),
            payer=payer,
            traffic=current_traffic(),
            since=self._clock.monotonic(),
            answer=asyncio.get_running_loop().create_future(),
        )
        self._add(asked)
        try:
            return await asked.answer
        finally:
            if self._pending.get(key) is asked:  # Whoever waited for it went away.
                del self._pending[key]

    async def close(self) -> None:
        """Stop waiting. Batches that were sent stay recorded, for whoever asks again."""
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _add(self, asked: Asked) -> None:
        size = len(json.dumps(asked.body, ensure_ascii=False).encode())
        if self._bytes + size > self._endpoint.most_bytes:
            self._flush()
        self._pending[asked.key] = asked
        self._bytes += size
        self._arrivals += 1
        if len(self._pending) >= self._endpoint.most_requests:
            self._flush()
        elif self._gathering is None or self._gathering.done():
            self._gathering = self._start(self._gather())

    async def _gather(self) -> None:
        while self._pending:
            seen = self._arrivals
            await self._clock.sleep(QUIET_SECONDS)
            if self._arrivals == seen:
                self._flush()

    def _flush(self) -> None:
        asked, self._pending, self._bytes = list(self._pending.values()), {}, 0
        if asked:
            self._start(self._place(asked))

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        # Nothing of who asked first may stick to it: neither deadlines nor who pays.
        task = asyncio.create_task(work, context=Context())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _place(self, asked: list[Asked]) -> None:
        """Into the batches that hold them already, and the rest into a new one."""
        try:
            with counting(asked[0].traffic):
                while asked:
                    claims = await self._records.claims([one.key for one in asked])
                    asked = await self._join(asked, claims)
                    batch = self._new_batch(asked)
                    if asked and await self._records.record(batch, _claims(batch, asked)):
                        await self._send(batch, asked)
                        break
        except Exception as error:  # noqa: BLE001 - it is raised where it was asked for
            _fail(asked, error)
        except asyncio.CancelledError:
            _cancel(asked)
            raise

    def _new_batch(self, asked: list[Asked]) -> BatchRecord:
        return BatchRecord(
            id=f"burnish-{uuid4().hex}",
            model=self._model,
            fingerprint=self._fingerprint,
            requests=len(asked),
            created_at=self._clock.now(),
            run_id=asked[0].traffic.run_id if asked else None,
        )

    async def _join(self, asked: list[Asked], claims: Mapping[str, BatchClaim]) -> list[Asked]:
        """Wait for what batches hold already; the others are returned."""
        free: list[Asked] = []
        held: dict[str, dict[int, Asked]] = {}
        for one in asked:
            claim = claims.get(one.key)
            if claim is None:
                free.append(one)
            else:
                one.paid_by = claim.payer
                held.setdefault(claim.batch_id, {})[claim.position] = one
        for batch_id, ones in held.items():
            batch = await self._records.batch(batch_id)
            if batch is None:  # Forgotten meanwhile: nobody holds them any more.
                self._again(ones.values())
            else:
                self._follow(batch, ones)
        return free

    async def _send(self, batch: BatchRecord, asked: list[Asked]) -> None:
        bodies = {custom_id(batch.id, number): one.body for number, one in enumerate(asked)}
        try:
            prepared = await self._endpoint.prepare(batch, bodies)
            now = self._clock.now()
            if not await self._records.note_sending(batch.id, now):
                self._again(asked)
                return
            batch = replace(batch, sending_at=now)
            vendor_id = await self._endpoint.submit(batch, prepared)
        except TransientError as error:
            # It may have arrived all the same: the vendor's list will tell.
            current_traffic().retried(error.words)
        except BurnishError:
            await self._records.forget(batch)
            raise
        else:
            if not await self._records.note_sent(batch.id, vendor_id):
                # Somebody took it for lost, and sends its requests in another.
                await self._endpoint.cancel(vendor_id)
                self._again(asked)
                return
            batch = replace(batch, vendor_id=vendor_id)
        for one in asked:
            one.paid_by = one.payer
        self._follow(batch, dict(enumerate(asked)))

    def _follow(self, batch: BatchRecord, asked: dict[int, Asked]) -> None:
        followed = self._followed.get(batch.id)
        if followed is not None:
            followed.asked |= asked
            return
        self._followed[batch.id] = followed = _Followed(batch, asked)
        self._start(self._finish(followed))

    async def _finish(self, followed: _Followed) -> None:
        """Wait for the end of a batch, and hand out what came of it."""
        batch = followed.batch
        told = {one.traffic for one in followed.asked.values()}
        try:
            with counting(next(iter(told))):
                outcome = self._unasked.pop(batch.id, None)
                if outcome is None:
                    outcome = await self._follower.follow(batch, told)
                if outcome is None:
                    for one in followed.asked.values():
                        self._try_again(one, TransientError(_NOT_TAKEN))
                    return
                while followed.asked:
                    await self._hand_out(followed, outcome)
                if outcome.answers:
                    self._unasked[batch.id] = outcome
        except Exception as error:  # noqa: BLE001 - it is raised where it was asked for
            _fail(followed.asked.values(), error)
        except asyncio.CancelledError:
            _cancel(followed.asked.values())
            raise
        finally:
            del self._followed[batch.id]

    async def _hand_out(self, followed: _Followed, outcome: BatchOutcome) -> None:
        """Keep answers first, then let go of their requests, then tell: so a crash loses nothing."""
        asked = dict(followed.asked)
        answered: list[tuple[Asked, ModelResponse]] = []
        failed: list[tuple[Asked, Exception]] = []
        for position, one in asked.items():
            try:
                answer = outcome.answers.pop(position, None)
                if answer is None:
                    raise outcome.failure
                answered.append((one, self._read(one, answer)))
            except (TransientError, BurnishError) as error:
                failed.append((one, error))
        await asyncio.gather(*(self._keep(one, response) for one, response in answered))
        await self._records.release(followed.batch.id, [one.key for one in asked.values()])
        for one, response in answered:
            if not one.answer.done():
                one.answer.set_result(_as_free(response) if one.is_free else response)
        for one, failure in failed:
            self._try_again(one, failure)
        for position, one in asked.items():
            if followed.asked.get(position) is one:
                del followed.asked[position]

    def _read(self, asked: Asked, answer: BatchAnswer) -> ModelResponse:
        response = self._endpoint.read(answer, asked.request, asked.wasted)
        return replace(response, usage=sum(asked.wasted, response.usage))

    async def _keep(self, asked: Asked, response: ModelResponse) -> None:
        waited = (self._clock.monotonic() - asked.since) * 1000
        entry = {**response.to_json(), "latency_ms": waited}
        await self._cache.put(
            asked.key, entry | ({"payer": asked.paid_by} if asked.paid_by else {})
        )

    def _try_again(self, asked: Asked, error: Exception) -> None:
        asked.tries += 1
        if not isinstance(error, TransientError):
            asked.fail(error)
        elif asked.tries >= self._max_attempts:
            why = f"{error.reason}; gave up after {counted(asked.tries, 'batch', 'batches')}"
            asked.fail(
                UnavailableError(
                    what=f"{self._model} did not answer in a batch",
                    why=why,
                    fix=error.fix,
                    code=error.code,
                )
            )
        else:
            asked.traffic.retried(error.words)
            self._start(self._add_later(asked))

    async def _add_later(self, asked: Asked) -> None:
        await self._clock.sleep(_AGAIN.backoff_seconds(asked.tries))
        self._again([asked])

    def _again(self, asked: Iterable[Asked]) -> None:
        """Into a next batch, where somebody still waits."""
        for one in asked:
            if not one.answer.done():
                one.body = self._endpoint.body(one.request)
                self._add(one)


def _claims(batch: BatchRecord, asked: list[Asked]) -> list[BatchClaim]:
    return [
        BatchClaim(one.key, batch.id, position, one.payer) for position, one in enumerate(asked)
    ]


def _as_free(response: ModelResponse) -> ModelResponse:
    return replace(response, usage=Usage(), reused=response.usage, cached=True)


def _fail(asked: Iterable[Asked], error: Exception) -> None:
    for one in asked:
        one.fail(error)


def _cancel(asked: Iterable[Asked]) -> None:
    for one in asked:
        one.answer.cancel()
