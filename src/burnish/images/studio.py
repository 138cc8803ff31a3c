"""What the stages of one run work with: its record, its models, its pictures."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from burnish.domain import Clock, SystemClock
from burnish.domain.image_parts import ImageFiles, ImageRepository
from burnish.domain.images import ImageFile, ImageRun
from burnish.images.calls import CallBound
from burnish.images.decoding import decode
from burnish.images.pixel_threads import on_pixels
from burnish.images.record import RunRecord
from burnish.images.run_models import RunModels

CALLS_A_STAGE = 4
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Studio:
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
