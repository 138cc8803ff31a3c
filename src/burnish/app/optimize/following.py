"""Following of an optimization's events while it runs: for displays and for callbacks of Python."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from burnish.domain import BurnishError, Event, OptimizationRepository

OnEvent = Callable[[Event], Any]
_log = logging.getLogger(__name__)
_PAGE = 1000
_LOOK_SECONDS = 0.5


@contextlib.asynccontextmanager
async def following(
    optimizations: OptimizationRepository,
    optimization_id: str,
    note: Callable[[Event], Awaitable[None]],
) -> AsyncIterator[None]:
    """Within, `note` gets every event once and in order, those from before first.

    A watcher's trouble with the database is never the search's.
    """
    follower = _Follower(optimizations, optimization_id, note)
    await follower.look()
    ended = asyncio.Event()
    task = asyncio.create_task(follower.go_on(ended))
    try:
        yield
    finally:
        ended.set()
        await task
        with contextlib.suppress(BurnishError):
            await follower.look()


class _Follower:
    def __init__(
        self,
        optimizations: OptimizationRepository,
        optimization_id: str,
        note: Callable[[Event], Awaitable[None]],
    ) -> None:
        self._optimizations = optimizations
        self._id = optimization_id
        self._note = note
        self._seen = 0

    async def go_on(self, ended: asyncio.Event) -> None:
        while not ended.is_set():
            with contextlib.suppress(BurnishError):
                await self.look()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), _LOOK_SECONDS)

    async def look(self) -> None:
        while True:
            events = await self._optimizations.list_events(self._id, after=self._seen, limit=_PAGE)
            for event in events:
                await self._note(event)
                self._seen = event.sequence
            if len(events) < _PAGE:
                return


async def tell(on_event: OnEvent, event: Event) -> None:
    """Call a callback, plain ones off the event loop. What it raises is logged: the run goes on."""
    try:
        if inspect.iscoroutinefunction(on_event):
            await on_event(event)
        else:
            await asyncio.to_thread(on_event, event)
    except Exception:  # noqa: BLE001 - the callback is the caller's
        _log.warning("on_event failed at %s; the run goes on", event.type.value, exc_info=True)


@contextlib.asynccontextmanager
async def telling(
    optimizations: OptimizationRepository, optimization_id: str, on_event: OnEvent | None
) -> AsyncIterator[None]:
    """Within, the callback gets what happens from now on, up to the end of the run."""
    if on_event is None:
        yield
        return
    began = False

    async def note(event: Event) -> None:
        if began:
            await tell(on_event, event)

    async with following(optimizations, optimization_id, note):
        began = True
        yield
