"""The hard end of a call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from burnish.domain import UnavailableError

T = TypeVar("T")


async def within(seconds: float | None, work: Awaitable[T], *, who: str) -> T:
    """The work's result, or UnavailableError once the time is over; the work is cancelled then."""
    try:
        async with asyncio.timeout(seconds) as deadline:
            return await work
    except TimeoutError:
        if not deadline.expired():
            raise
    raise UnavailableError(
        what=f"{who} did not answer in time",
        why=f"the deadline of {seconds:g} s passed, with all waits and retries",
        fix="allow the call more time, or send fewer at once",
        code="deadline",
    )
