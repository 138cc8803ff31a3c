"""Calls made at the same time travel together."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

CallT = TypeVar("CallT")
AnswerT = TypeVar("AnswerT")


class Coalescer(Generic[CallT, AnswerT]):
    """Sends what was submitted meanwhile as one batch, one batch at a time, in order.

    A call whose caller gave up before its batch left is not made.
    """

    def __init__(
        self,
        flush: Callable[[list[CallT]], Awaitable[Sequence[AnswerT]]],
        *,
        most: int = 256,
        heaviest: int = 4 * 1024 * 1024,
        weigh: Callable[[CallT], int] = lambda call: 0,
    ) -> None:
        self._flush = flush
        self._most = most
        self._heaviest = heaviest
        self._weigh = weigh
        self._waiting: deque[tuple[CallT, asyncio.Future[AnswerT]]] = deque()
        self._sender: asyncio.Task[None] | None = None

    async def submit(self, call: CallT) -> AnswerT:
        """The answer to this call."""
        future: asyncio.Future[AnswerT] = asyncio.get_running_loop().create_future()
        self._waiting.append((call, future))
        if self._sender is None:
            self._sender = asyncio.create_task(self._send())
        return await future

    async def _send(self) -> None:
        try:
            while self._waiting:
                await self._send_batch(self._next_batch())
        finally:
            self._sender = None

    async def _send_batch(self, batch: list[tuple[CallT, asyncio.Future[AnswerT]]]) -> None:
        if not batch:
            return
        try:
            answers = await self._flush([call for call, _ in batch])
        except BaseException as error:
            for _, future in batch:
                if not future.done():
                    if isinstance(error, Exception):
                        future.set_exception(error)
                    else:
                        future.cancel()
            if not isinstance(error, Exception):
                raise
        else:
            for (_, future), answer in zip(batch, answers, strict=True):
                if not future.done():
                    future.set_result(answer)

    def _next_batch(self) -> list[tuple[CallT, asyncio.Future[AnswerT]]]:
        batch: list[tuple[CallT, asyncio.Future[AnswerT]]] = []
        weight = 0
        while self._waiting and len(batch) < self._most:
            call, future = self._waiting[0]
            weight += self._weigh(call)
            if batch and weight > self._heaviest:
                break
            self._waiting.popleft()
            if not future.done():
                batch.append((call, future))
        return batch
