"""Watches heartbeats from a thread of its own, which a blocked event loop cannot stop."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from typing import Self

from burnish.domain import Clock, SystemClock

_log = logging.getLogger(__name__)
STALL_SECONDS = 60.0
_EXIT_CODE = 70


class Watchdog:
    """Tells whether something has stopped beating, and if asked ends the process over it.

    `stalled` gives the names of what is silent for too long. `on_stall` hears of each once; by
    default the process ends at once, with code 70, when `exit_on_stall` is set: what blocks an event
    loop cannot be stopped from outside, and a supervisor starts a new worker. The messages it held
    come back by themselves.
    """

    def __init__(
        self,
        heartbeats: Callable[[], dict[str, float]],
        *,
        stall_seconds: float = STALL_SECONDS,
        exit_on_stall: bool = False,
        on_stall: Callable[[str, float], None] | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._heartbeats = heartbeats
        self._limit = stall_seconds
        self._exits = exit_on_stall
        self._on_stall = on_stall
        self._clock = clock or SystemClock()
        self._known: set[str] = set()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def stalled(self) -> dict[str, float]:
        """Seconds of silence, of those that are silent for too long."""
        now = self._clock.monotonic()
        silences = {name: now - beat for name, beat in self._heartbeats().items()}
        return {name: silence for name, silence in silences.items() if silence > self._limit}

    def look(self) -> None:
        """Tell of what has stalled since the last look, and of what goes on again."""
        stalled = self.stalled()
        for name in self._known - set(stalled):
            _log.warning("%s goes on", name)
        for name, silence in stalled.items():
            if name not in self._known:
                self._report(name, silence)
        self._known = set(stalled)
        if stalled and self._exits:
            logging.shutdown()
            os._exit(_EXIT_CODE)

    def __enter__(self) -> Self:
        self._ended.clear()
        self._thread = threading.Thread(target=self._watch, name="burnish-watchdog", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join(timeout=self._limit)

    def _watch(self) -> None:
        pause = self._limit / 4
        last = self._clock.monotonic()
        while not self._ended.wait(pause):
            now = self._clock.monotonic()
            # A process that was stopped as a whole, and goes on, gets the time to show life first.
            if now - last < 2 * pause:
                self.look()
            last = now

    def _report(self, name: str, silence: float) -> None:
        _log.error("%s shows no life for %.1f s: something blocks its event loop", name, silence)
        if self._on_stall is not None:
            self._on_stall(name, silence)
