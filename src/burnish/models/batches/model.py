"""Batched model: answers from the call cache, and asks in batches for what is not there."""

from __future__ import annotations

import asyncio

from burnish.domain import (
    BatchRecords,
    CallCache,
    Clock,
    Model,
    ModelRequest,
    ModelResponse,
    SystemClock,
    current_payer,
)
from burnish.models.batches.endpoint import BatchEndpoint
from burnish.models.batches.queue import BatchQueue
from burnish.models.catalog import CachedModel
from burnish.support.deadlines import waiting


class BatchedModel(CachedModel):
    """A cached model whose requests go to its vendor's batch endpoint.

    Its keys in the cache are those of single calls: a run has the same result either way. No
    deadline around a call counts the time that a batch takes.
    """

    batched = True

    def __init__(
        self,
        model: Model,
        cache: CallCache,
        endpoint: BatchEndpoint,
        records: BatchRecords,
        *,
        max_attempts: int,
        clock: Clock | None = None,
    ) -> None:
        super().__init__(model, cache)
        self._endpoint = endpoint
        self._records = records
        self._max_attempts = max_attempts
        self._clock = clock or SystemClock()
        self._queue: BatchQueue | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def close(self) -> None:
        """Stop waiting; batches stay recorded, and are waited for by whoever asks again."""
        queue, self._queue = self._queue, None
        if queue is not None and self._loop is asyncio.get_running_loop():
            await queue.close()
        await self._endpoint.close()
        await super().close()

    async def _pay(self, key: str, request: ModelRequest) -> ModelResponse:
        payer = current_payer()
        with waiting():
            response = await self._open_queue().ask(
                key, request, None if payer is None else payer.name
            )
        if payer is not None and not response.cached:
            payer.claim(key)
        return response

    def _open_queue(self) -> BatchQueue:
        """The queue of the running loop: its tasks cannot move to another one."""
        loop = asyncio.get_running_loop()
        if self._queue is None or self._loop is not loop:
            self._loop = loop
            self._queue = BatchQueue(
                self.name,
                self.fingerprint,
                self._endpoint,
                records=self._records,
                cache=self._cache,
                clock=self._clock,
                max_attempts=self._max_attempts,
            )
        return self._queue
