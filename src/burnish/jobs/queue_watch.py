"""Looks at a queue again and again, as long as its task lasts."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable

from burnish.domain import BurnishError


class QueueWatch:
    """Calls `look` now, when woken, and every so often, since a ring from elsewhere can be lost.

    Whatever a look ends in, the next one comes. `name` is what the queue holds, for the log.
    """

    def __init__(
        self, look: Callable[[], Awaitable[None]], *, name: str, seconds: float, log: logging.Logger
    ) -> None:
        self._look = look
        self._name = name
        self._seconds = seconds
        self._log = log
        self._wake = asyncio.Event()

    def wake(self) -> None:
        """Look now."""
        self._wake.set()

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            self._wake.clear()
            try:
                await self._look()
            except BurnishError as error:
                self._log.warning("the queue of %s cannot be used: %s", self._name, error)
            except Exception:  # noqa: BLE001 - else nothing would be run here any more
                self._log.exception("looking at the queue of %s ended in a bug", self._name)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._seconds):
                    await self._wake.wait()
