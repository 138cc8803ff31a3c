"""Retry with backoff: one policy and one loop for whatever may fail and pass.

Written by hand, because stamina always sleeps on the real clock, and has no budget that many
calls share.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import count
from typing import TypeVar

from burnish.domain import Clock
from burnish.domain.wording import counted

T = TypeVar("T")
_log = logging.getLogger(__name__)
_MOST_DOUBLINGS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Exponential waits with jitter; a server's own Retry-After wins, up to its cap.

    Without `max_attempts` or `deadline_seconds` only the other ends it.
    """

    max_attempts: int | None = 5
    first_wait_seconds: float = 0.5
    longest_wait_seconds: float = 30.0
    longest_retry_after_seconds: float = 60.0
    deadline_seconds: float | None = 600.0

    def backoff_seconds(self, failures: int) -> float:
        """The wait after so many failures, before jitter."""
        doublings = min(failures - 1, _MOST_DOUBLINGS)
        return min(self.longest_wait_seconds, self.first_wait_seconds * 2.0**doublings)

    def wait_seconds(self, failures: int, retry_after: float | None, draw: float) -> float:
        """The wait with jitter from a draw in 0 to 1; never less than the server asked for.

        Half of it is fixed and half is drawn: those who failed together do not come back together.
        """
        if retry_after is None:
            return self.backoff_seconds(failures) * (0.5 + 0.5 * draw)
        told = min(retry_after, self.longest_retry_after_seconds)
        return told + draw * 0.1 * (1.0 + told)

    def why_ended(self, failures: int, wait: float, elapsed: float) -> str | None:
        """Why no further attempt may be made after this wait, or None if one may."""
        if self.max_attempts is not None and failures >= self.max_attempts:
            return f"gave up after {counted(failures, 'attempt')}"
        if self.deadline_seconds is not None and wait >= self.deadline_seconds - elapsed:
            limit = self.deadline_seconds
            return f"the deadline of {limit:g} s leaves no time for another attempt"
        return None


def _no_refusal() -> str | None:
    return None


def _no_wish(_: Exception) -> float | None:
    return None


async def retry(
    attempt: Callable[[int], Awaitable[T]],
    *,
    policy: RetryPolicy,
    passing: Callable[[Exception], bool],
    clock: Clock,
    draw: Callable[[], float] = random.random,
    retry_after: Callable[[Exception], float | None] = _no_wish,
    refusal: Callable[[], str | None] = _no_refusal,
    give_up: Callable[[Exception, str], Exception] | None = None,
) -> T:
    """The attempt's result; it is given the attempt's number, from 1 up.

    Only errors that are `passing` are tried again. `retry_after` reads a server's wish out of one,
    and `refusal` says why the policy's next attempt may not be made after all. When it ends, what
    `give_up` makes of the last error and the reason is raised, or that error itself.
    """
    started = clock.monotonic()
    for number in count(1):
        try:
            return await attempt(number)
        except Exception as error:
            if not passing(error):
                raise
            failure = error
        wait = policy.wait_seconds(number, retry_after(failure), draw())
        ended = policy.why_ended(number, wait, clock.monotonic() - started) or refusal()
        if ended:
            # Outside of the `except`, so that no foreign error hangs on as context.
            raise failure if give_up is None else give_up(failure, ended)
        _log.debug("attempt %d failed, next one in %.2f s: %s", number, wait, failure)
        await clock.sleep(wait)
    raise AssertionError("counting never ends")
