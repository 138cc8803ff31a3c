"""Stage context of an image run: its record, models, pictures and the bound on model calls."""

from __future__ import annotations

import asyncio
import hashlib
import heapq
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeVar

from burnish.domain import Clock, Model, SystemClock
from burnish.domain.images.protocols import ImageFiles, ImageJudge, ImageModel, ImageRepository
from burnish.domain.images.runs import ImageFile, ImageRun
from burnish.images.pictures import decode, on_pixels
from burnish.images.record import RunRecord

CALLS_A_STAGE = 4
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunModels:
    """What draws, what judges, and what plans and suggests; without the last templates do it."""

    image: ImageModel
    judge: ImageJudge
    text: Model | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLabels:
    """What people are told of who drew, judged and planned."""

    image: str
    judge: str
    text: str


class CallBound:
    """Lets at most `limit` calls go on at once. Who waits gets a free place at once, those of the
    smallest `order` first, and equal ones as they came; a waiter that is cancelled takes none."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.in_flight = 0
        self._came = count()
        self._waiting: list[tuple[tuple[str, ...], int, asyncio.Future[None]]] = []

    @asynccontextmanager
    async def slot(self, order: tuple[str, ...] = ()) -> AsyncIterator[None]:
        """Wait for a turn; the place is free again at the end of the block."""
        await self._enter(order)
        try:
            yield
        finally:
            self._leave()

    async def _enter(self, order: tuple[str, ...]) -> None:
        if self.in_flight < self.limit:
            self.in_flight += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (order, next(self._came), turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._leave()  # The place was given in the moment of the cancellation.
            raise

    def _leave(self) -> None:
        while self._waiting:
            _, _, turn = heapq.heappop(self._waiting)
            if not turn.done():
                turn.set_result(None)  # The place goes over, so nobody else can take it.
                return
        self.in_flight -= 1


@dataclass(frozen=True, slots=True, kw_only=True)
class StageContext:
    """Of one run while it is carried out; pictures that were just drawn need not be read again."""

    record: RunRecord
    repository: ImageRepository
    files: ImageFiles
    models: RunModels
    calls: CallBound
    clock: Clock = field(default_factory=SystemClock)
    pictures: dict[str, bytes] = field(default_factory=dict)

    @property
    def run(self) -> ImageRun:
        """As stored."""
        return self.record.run

    async def call(self, work: Callable[[], Awaitable[T]]) -> tuple[T, float]:
        """One model call under the bound of all runs, the oldest run first, and its milliseconds.

        What it waited for its turn is not in them.
        """
        async with self.calls.slot((self.run.created_at, self.run.run_id)):
            started = self.clock.monotonic()
            answer = await work()
            return answer, round((self.clock.monotonic() - started) * 1000, 3)

    async def keep(self, data: bytes) -> ImageFile:
        """Decode and store what a model gave; UsageError `INVALID_IMAGE` when it is no picture."""
        image = await on_pixels(decode, data)
        await self.files.put(image.digest, data)
        self.pictures[image.digest] = data
        return image

    async def picture(self, image: ImageFile) -> bytes:
        """The bytes of a stored picture; one that was just drawn is not held any longer."""
        drawn = self.pictures.pop(image.digest, None)
        return await self.files.get(image.digest) if drawn is None else drawn


def commit_id(run_id: str, what: str) -> str:
    """The same for the same variant of the same run, so that a second attempt doubles nothing."""
    return f"c{hashlib.sha256(f'{run_id}/{what}'.encode()).hexdigest()[:16]}"


async def together(works: Iterable[Coroutine[Any, Any, None]]) -> None:
    """All at once, at most four under way; the first failure stops the others and is raised."""
    places = asyncio.Semaphore(CALLS_A_STAGE)

    async def placed(work: Coroutine[Any, Any, None]) -> None:
        try:
            async with places:
                await work
        finally:
            work.close()  # One that was never begun, too.

    tasks = [asyncio.ensure_future(placed(work)) for work in works]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
