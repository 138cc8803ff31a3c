"""One batch at a time: what is asked for while one is under way makes up the next."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

# Small batches let the first go on while the next are done; a long queue is worth a large one.
_BATCH = 16
_LONGEST_QUEUE = 4

A = TypeVar("A")
R = TypeVar("R")


@dataclass(slots=True)
class _Batch(Generic[A, R]):
    asked: dict[str, A] = field(default_factory=dict)
    answer: asyncio.Future[R] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )


class Gathering(Generic[A, R]):
    """Does work for many tasks at once. All of a batch are woken together by its end.

    Of one key in a batch the last value counts. Somebody who goes away takes nothing with them:
    the batch is done for the others.
    """

    def __init__(self, work: Callable[[dict[str, A]], Awaitable[R]]) -> None:
        self._work = work
        self._waiting: deque[_Batch[A, R]] = deque()
        self._task: asyncio.Task[None] | None = None

    async def ask(self, key: str, value: A) -> R:
        """What the work returns for the batch that this becomes part of; its failure is raised."""
        if not self._waiting or len(self._waiting[-1].asked) >= _BATCH:
            self._waiting.append(_Batch())
        batch = self._waiting[-1]
        batch.asked[key] = value
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        return await asyncio.shield(batch.answer)

    async def _run(self) -> None:
        while self._waiting:
            together = max(1, len(self._waiting) // _LONGEST_QUEUE)
            batches = [self._waiting.popleft() for _ in range(together)]
            asked = {key: value for batch in batches for key, value in batch.asked.items()}
            answers = [batch.answer for batch in batches]
            try:
                found = await self._work(asked)
            except asyncio.CancelledError:
                for answer in answers:
                    answer.cancel()
                raise
            except BaseException as error:  # noqa: BLE001 - it is raised where it was asked for
                for answer in answers:
                    answer.set_exception(error)
                    answer.exception()  # Read once: nobody complains when no one waits.
            else:
                for answer in answers:
                    answer.set_result(found)
