"""Worker loop: heartbeat, state and shutdown that every loop of a worker has."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from enum import StrEnum
from typing import Any

from burnish.domain import Clock, SystemClock
from burnish.domain.mailboxes import Mailbox


class LoopState(StrEnum):
    """Where a loop stands."""

    IDLE = "idle"
    RUNNING = "running"
    DRAINING = "draining"
    STOPPED = "stopped"


class WorkerLoop(ABC):
    """A loop that a LoopGroup runs: it shows life, says how it stands, and stops in good order.

    `requests` is the mailbox it serves; None for one that has none.
    """

    def __init__(
        self, *, name: str, requests: Mailbox[Any, Any] | None, clock: Clock | None = None
    ) -> None:
        self.name = name
        self.requests = requests
        self._clock = clock or SystemClock()
        self._state = LoopState.IDLE
        self._stopping = asyncio.Event()
        self._stopped = asyncio.Event()
        self._heartbeat = self._clock.monotonic()

    @abstractmethod
    async def run(
        self,
        *,
        max_iterations: int | None = None,
        visibility_timeout: float = 300,
        wait_time_seconds: float = 20,
    ) -> None:
        """Serve until `shutdown`."""

    @abstractmethod
    async def shutdown(self, *, timeout: float = 30.0) -> bool:
        """Take nothing more, and let what runs end for so long. False says that not all did."""

    @property
    def running(self) -> bool:
        """Whether `run` is under way."""
        return self._state in (LoopState.RUNNING, LoopState.DRAINING)

    @property
    def heartbeat(self) -> float:
        """When the loop last showed that it lives, by the monotonic clock."""
        return self._heartbeat

    @property
    def ready(self) -> bool:
        """Whether it takes requests."""
        return self._state is LoopState.RUNNING

    def status(self) -> dict[str, Any]:
        """What people and probes want to know."""
        return {
            "name": self.name,
            "mailbox": None if self.requests is None else self.requests.name,
            "state": self._state.value,
            "ready": self.ready,
            "seconds_since_heartbeat": round(self._clock.monotonic() - self._heartbeat, 3),
        }

    def _beat(self) -> None:
        self._heartbeat = self._clock.monotonic()
