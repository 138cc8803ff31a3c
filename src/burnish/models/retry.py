"""Retries and deadlines of model calls: when a call is tried again, and when it ends."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from burnish.domain import Clock, UnavailableError
from burnish.models.failures import TransientError
from burnish.models.traffic import current_traffic
from burnish.support.retry import RetryPolicy, retry

T = TypeVar("T")
_FLOODED = "not tried again, because too many other calls fail too"


class RetryBudget:
    """Keeps retries a small share of the calls, so that a failing endpoint is not flooded.

    Every call earns `ratio` of a retry; besides, `floor_per_second` trickle in, so that rare
    calls may retry too. What is not used is kept up to `capacity`.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        ratio: float = 0.2,
        floor_per_second: float = 1.0,
        capacity: float = 50.0,
    ) -> None:
        self._clock = clock
        self._ratio = ratio
        self._floor = floor_per_second
        self._capacity = capacity
        self._balance = capacity
        self._seen = clock.monotonic()

    def earn(self) -> None:
        """A call begins."""
        self._balance = min(self._capacity, self._balance + self._ratio)

    def spend(self) -> bool:
        """Whether one more retry is allowed; if so, it is paid for."""
        now = self._clock.monotonic()
        trickled = self._balance + (now - self._seen) * self._floor
        self._balance, self._seen = min(self._capacity, trickled), now
        if self._balance < 1.0:
            return False
        self._balance -= 1.0
        return True


async def call_with_retries(
    attempt: Callable[[int], Awaitable[T]],
    *,
    what: str,
    policy: RetryPolicy,
    budget: RetryBudget,
    clock: Clock,
    draw: Callable[[], float],
) -> T:
    """The attempt's result; it is given the attempt's number, from 1 up.

    Only TransientError is tried again. When no further attempt is allowed, UnavailableError says
    what happened last and why it ended.
    """
    budget.earn()

    traffic, failures = current_traffic(), list[str]()

    def passing(error: Exception) -> bool:
        if isinstance(error, TransientError):
            failures.append(error.words)
            return True
        return False

    def refusal() -> str | None:
        if not budget.spend():
            return _FLOODED
        traffic.retried(failures[-1])
        return None

    def give_up(error: Exception, why: str) -> UnavailableError:
        assert isinstance(error, TransientError)
        return UnavailableError(
            what=what, why=f"{error.reason}; {why}", fix=error.fix, code=error.code
        )

    return await retry(
        attempt,
        policy=policy,
        passing=passing,
        clock=clock,
        draw=draw,
        retry_after=lambda error: getattr(error, "retry_after", None),
        refusal=refusal,
        give_up=give_up,
    )


def retry_after_seconds(headers: Mapping[str, str], now: datetime) -> float | None:
    """The wait a server asks for (milliseconds, seconds or a date), or None."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    given = headers.get("retry-after")
    seconds = _number(given)
    if seconds is not None or given is None:
        return seconds
    try:
        moment = parsedate_to_datetime(given)
    except (ValueError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text is not None else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


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
