"""Retries and deadlines of model calls: when a call is tried again, and when it ends.

Written by hand, because stamina always sleeps on the real clock, and has no budget that many
calls share.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from itertools import count
from typing import TypeVar

from burnish.domain import Clock, UnavailableError
from burnish.models.failures import TransientError

T = TypeVar("T")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Exponential waits with jitter; a server's own Retry-After wins, up to its cap."""

    max_attempts: int = 5
    first_wait_seconds: float = 0.5
    longest_wait_seconds: float = 30.0
    longest_retry_after_seconds: float = 60.0
    deadline_seconds: float = 600.0

    def backoff_seconds(self, failures: int) -> float:
        """The wait after so many failures, before jitter."""
        doublings = min(failures - 1, 30)
        return min(self.longest_wait_seconds, self.first_wait_seconds * 2.0**doublings)

    def wait_seconds(self, failures: int, retry_after: float | None, draw: float) -> float:
        """The wait with jitter from a draw in 0 to 1; never less than the server asked for."""
        if retry_after is None:
            return self.backoff_seconds(failures) * (0.5 + 0.5 * draw)
        told = min(retry_after, self.longest_retry_after_seconds)
        return told + draw * 0.1 * (1.0 + told)


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
    started = clock.monotonic()
    budget.earn()
    for number in count(1):
        try:
            return await attempt(number)
        except TransientError as error:
            failure = error
        wait = policy.wait_seconds(number, failure.retry_after, draw())
        left = policy.deadline_seconds - (clock.monotonic() - started)
        ended = _why_stop(number, wait, left, policy, budget)
        if ended:
            break
        _log.debug("attempt %d failed, next one in %.2f s: %s", number, wait, failure.reason)
        await clock.sleep(wait)
    # Outside of the `except`, so that no foreign error hangs on as context.
    raise UnavailableError(
        what=what, why=f"{failure.reason}; {ended}", fix=failure.fix, code=failure.code
    )


def _why_stop(
    number: int, wait: float, left: float, policy: RetryPolicy, budget: RetryBudget
) -> str | None:
    if number >= policy.max_attempts:
        return f"gave up after {number} attempt{'s' if number > 1 else ''}"
    if wait >= left:
        return f"the deadline of {policy.deadline_seconds:g} s leaves no time for another attempt"
    if not budget.spend():
        return "not tried again, because too many other calls fail too"
    return None


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
