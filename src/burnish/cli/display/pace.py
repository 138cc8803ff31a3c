"""How fast a run goes and how long it will still take."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

_WINDOW_SECONDS = 15.0


class Pace:
    """Rate over the last seconds, so that a burst of cached items is soon forgotten."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: deque[tuple[float, int]] = deque([(clock(), 0)])

    def note(self, done: int) -> None:
        """Remember how much is done now."""
        now = self._clock()
        self._seen.append((now, done))
        while len(self._seen) > 2 and self._seen[1][0] < now - _WINDOW_SECONDS:
            self._seen.popleft()

    @property
    def rate(self) -> float:
        """Runs a second; 0 while it cannot be told."""
        (first, done_first), (last, done_last) = self._seen[0], self._seen[-1]
        return (done_last - done_first) / (last - first) if last > first else 0.0

    def seconds_left(self, remaining: int) -> float | None:
        """Until that many more are done; None while it cannot be told."""
        return remaining / self.rate if self.rate > 0 else None
