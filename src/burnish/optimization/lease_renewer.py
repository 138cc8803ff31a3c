"""Holds the lease of a running optimization, and listens for a request to stop."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

from burnish.domain import ConflictError, Lease, OptimizationRepository, UnavailableError

LEASE_SECONDS = 30.0
_LOOK_SECONDS = 1.0


class LeaseKeeper:
    """Renews the lease in the background; calls `on_stop` once when somebody asks to cancel,
    and `on_beat` with each renewal.

    When the lease has moved, the task that entered the context is cancelled, and leaving the
    context raises the conflict: nothing that was still under way can be written any more.
    """

    def __init__(
        self,
        repository: OptimizationRepository,
        lease: Lease,
        *,
        on_stop: Callable[[], Awaitable[None]],
        on_beat: Callable[[int], Awaitable[None]],
        seconds: float = LEASE_SECONDS,
        look_seconds: float = _LOOK_SECONDS,
    ) -> None:
        self._repository = repository
        self._lease = lease
        self._on_stop = on_stop
        self._on_beat = on_beat
        self._seconds = seconds
        self._look = look_seconds
        self._lost: ConflictError | None = None
        self._owner: asyncio.Task[object] | None = None
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._owner = asyncio.current_task()
        self._task = asyncio.create_task(self._keep())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._task is not None
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        if self._lost is not None:
            if self._owner is not None:
                self._owner.uncancel()
            raise self._lost
        with contextlib.suppress(UnavailableError):
            await self._repository.release_lease(self._lease)

    async def _keep(self) -> None:
        since_renewal = 0.0
        stopping = False
        beats = 0
        while True:
            await asyncio.sleep(self._look)
            since_renewal += self._look
            try:
                if since_renewal >= self._seconds / 3:
                    await self._repository.renew_lease(self._lease, seconds=self._seconds)
                    since_renewal = 0.0
                    beats += 1
                    await self._on_beat(beats)
                asked = await self._repository.cancel_requested(self._lease.job_id)
            except ConflictError as error:
                self._lost = error
                if self._owner is not None:
                    self._owner.cancel()
                return
            except UnavailableError:
                continue  # The database is away; the lease may outlive that, and writes will tell.
            if asked and not stopping:
                stopping = True
                await self._on_stop()
