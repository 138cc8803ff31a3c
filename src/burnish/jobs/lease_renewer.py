"""Lease renewal of a job that runs here, and word of a request to cancel it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Self

from burnish.domain import UnavailableError

LEASE_SECONDS = 30.0
_LOOK_SECONDS = 1.0


class LeaseRenewer:
    """Renews a lease in the background while its context lasts, and looks for a wish to cancel.

    `renew` is called with the seconds that the lease is to last and raises ConflictError once it has
    moved, `cancel_requested` says whether somebody asked for the end, and `on_cancel` is called once
    then. `on_renewed` gets the number of each renewal. `nudge` makes it look at once.

    When the lease has moved, the task that entered the context is cancelled, and leaving the
    context raises the conflict: nothing that was still under way can be written any more. The same
    happens with any other error but that of a database that is away: nothing runs unrenewed.
    """

    def __init__(
        self,
        *,
        renew: Callable[[float], Awaitable[None]],
        cancel_requested: Callable[[], Awaitable[bool]],
        on_cancel: Callable[[], Awaitable[None]],
        on_renewed: Callable[[int], Awaitable[None]] | None = None,
        seconds: float = LEASE_SECONDS,
        look_seconds: float = _LOOK_SECONDS,
    ) -> None:
        self._renew = renew
        self._cancel_requested = cancel_requested
        self._on_cancel = on_cancel
        self._on_renewed = on_renewed
        self._seconds = seconds
        self._look = min(look_seconds, seconds / 3)
        self._nudged = asyncio.Event()
        self._lost: Exception | None = None
        self._entered: asyncio.Task[object] | None = None
        self._task: asyncio.Task[None] | None = None

    def nudge(self) -> None:
        """Look now."""
        self._nudged.set()

    async def __aenter__(self) -> Self:
        self._entered = asyncio.current_task()
        self._task = asyncio.create_task(self._keep(), name="lease renewal")
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._task is not None
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        if self._lost is not None:
            if self._entered is not None:
                self._entered.uncancel()
            raise self._lost

    async def _keep(self) -> None:
        clock = asyncio.get_running_loop().time
        renewed, renewals, asked = clock(), 0, False
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._look):
                    await self._nudged.wait()
            self._nudged.clear()
            try:
                if clock() - renewed >= self._seconds / 3:
                    await self._renew(self._seconds)
                    renewed, renewals = clock(), renewals + 1
                    if self._on_renewed is not None:
                        await self._on_renewed(renewals)
                if not asked and await self._cancel_requested():
                    asked = True
                    await self._on_cancel()
            except UnavailableError:
                continue  # The database is away; the lease may outlive that, and writes will tell.
            except Exception as error:  # noqa: BLE001 - it is raised where the context is left
                self._lost = error
                if self._entered is not None:
                    self._entered.cancel()
                return
