"""Result writer: saves results as they complete, in whatever batch has gathered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import Self

from burnish.domain import ItemResult, Round

# Past this many unsaved results and rounds the workers wait: memory and a crash's loss stay bounded.
_MAX_UNSAVED = 1000
# They wait too while one batch takes longer than this: the database may be away.
_STALL_SECONDS = 0.5

Save = Callable[[Sequence[ItemResult], Sequence[Round]], Awaitable[None]]


class ResultWriter:
    """Saves results, and rounds on the way to them, in the background, one batch at a time.

    A batch is everything that completed while the one before was being written: slow items are
    saved one by one at once, fast ones share a transaction. Leaving the context saves the rest. The
    first failed save is raised by `add` and on leaving.
    """

    def __init__(self, save: Save) -> None:
        self._save = save
        self._unsaved: list[ItemResult | Round] = []
        self._arrived = asyncio.Event()
        self._saved = asyncio.Event()
        self._closing = False
        self._saving = False
        self._clock = asyncio.get_running_loop().time
        self._saving_since: float | None = None
        self._failure: BaseException | None = None
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing = True
        self._arrived.set()
        assert self._task is not None
        await _finish_despite_cancellation(self._task)
        if self._failure is not None and error is None:
            raise self._failure

    async def add(self, one: ItemResult | Round) -> None:
        """Hand over one result or round; waits only when too many are unsaved."""
        if self._failure is not None:
            raise self._failure
        self._unsaved.append(one)
        self._arrived.set()
        while self._failure is None and (len(self._unsaved) >= _MAX_UNSAVED or self._stalls()):
            self._saved.clear()
            await self._saved.wait()

    def _stalls(self) -> bool:
        """Whether the database takes its time: what comes now may be paid for and lost."""
        since = self._saving_since
        return since is not None and self._clock() - since > _STALL_SECONDS

    async def flush(self) -> None:
        """Wait until everything that was handed over is saved."""
        while (self._unsaved or self._saving) and self._failure is None:
            self._saved.clear()
            await self._saved.wait()
        if self._failure is not None:
            raise self._failure

    async def _run(self) -> None:
        while True:
            await self._arrived.wait()
            self._arrived.clear()
            batch, self._unsaved = self._unsaved, []
            self._saving, self._saving_since = True, self._clock()
            try:
                if batch:
                    results = [one for one in batch if isinstance(one, ItemResult)]
                    rounds = [one for one in batch if isinstance(one, Round)]
                    await self._save(results, rounds)
            except BaseException as error:  # noqa: BLE001 - handed to the workers
                self._failure = error
                self._saved.set()
                return
            self._saving, self._saving_since = False, None
            self._saved.set()
            if self._closing and not self._unsaved:
                return


async def _finish_despite_cancellation(task: asyncio.Task[None]) -> None:
    """Wait for the task even if this one is cancelled meanwhile; then let the cancellation go on."""
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
