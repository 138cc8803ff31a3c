"""Clock, injected so that tests never sleep."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Durations come from `monotonic`, dates for people from `now`."""

    def monotonic(self) -> float: ...

    def now(self) -> datetime: ...

    async def sleep(self, seconds: float) -> None: ...


class SystemClock:
    """The machine's own clock."""

    def monotonic(self) -> float:
        """Seconds that never run backwards."""
        return time.monotonic()

    def now(self) -> datetime:
        """The current moment in UTC."""
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        """Give the loop away for a while."""
        await asyncio.sleep(seconds)
