"""Faults that hit the process that runs: at a place of its writes, or in a call of its agent."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from bench.faults.works import SHORT, FaultWorld
from burnish.domain import SystemClock
from burnish.storage.engine import failpoints


class Place(NamedTuple):
    """The number-th passing of a place before or after a write; `last` is where a run ends."""

    name: str
    number: int
    last: str = ""

    def is_due(self, passed: Counter[str]) -> bool:
        """Whether it is reached, or will not be: how many results one write has differs."""
        return passed[self.name] >= self.number or passed[self.last] > 0


def at_place(
    world: FaultWorld,
    due: Callable[[Counter[str]], bool],
    act: Callable[[], None],
    *,
    between: bool = False,
) -> None:
    """Act at the first place that is due, told how often each was passed.

    `between` writes where another must be able to go on.
    """
    passed: Counter[str] = Counter()
    under_way = 0

    def reach(name: str) -> None:
        nonlocal under_way
        passed[name] += 1
        when = name.rpartition(":")[2]
        under_way -= when == "after"
        # The write that stands before its own beginning holds nothing yet.
        if due(passed) and not (between and under_way):
            failpoints.on_reach = None
            world.where.write_text(name)
            act()
        under_way += when == "before"

    failpoints.on_reach = reach


def in_call(world: FaultWorld, number: int, act: Callable[[], None]) -> None:
    """Act in the number-th call of the agent, with others under way."""
    done: list[int] = []

    async def called() -> None:
        if len(world.calls()) >= number and not done:
            done.append(1)
            world.where.write_text(f"call {number}")
            act()

    world.on_call = called


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _kill(world: FaultWorld, place: Place) -> None:
    at_place(world, place.is_due, _die)


def _kill_in_call(world: FaultWorld, number: int) -> None:
    in_call(world, number, _die)


def _freeze(world: FaultWorld, place: Place) -> None:
    at_place(world, place.is_due, lambda: os.kill(os.getpid(), signal.SIGSTOP), between=True)


def _lock(world: FaultWorld, number: int) -> None:
    """Longer than anybody waits for it."""
    patience = SHORT.patience_seconds or 0.0

    def hold() -> None:
        with contextlib.closing(sqlite3.connect(world.db, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            locked.set()
            time.sleep(2 * patience + 1)
            other.execute("ROLLBACK")

    locked = threading.Event()

    def act() -> None:
        threading.Thread(target=hold, daemon=True).start()
        locked.wait(10)

    in_call(world, number, act)


def _fill_disk(world: FaultWorld, number: int) -> None:
    """No file can grow any more, until another process goes on."""

    def act() -> None:
        log = Path(f"{world.db}-wal")
        # What the world notes of its calls still fits.
        size = max(log.stat().st_size if log.exists() else 0, 4096)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    in_call(world, number, act)


def _jump(world: FaultWorld, number: int) -> None:
    honest, hours = SystemClock.now, (1 if number % 2 else -1)

    def act() -> None:
        SystemClock.now = lambda self: honest(self) + timedelta(hours=hours)  # type: ignore[method-assign]

    in_call(world, number, act)


# Where a fault is counted in: places of writes, or calls of the agent.
AT_PLACES: dict[str, Callable[[FaultWorld, Place], None]] = {"kill -9": _kill, "SIGSTOP": _freeze}
IN_CALLS: dict[str, Callable[[FaultWorld, int], None]] = {
    "kill -9 in a call": _kill_in_call,
    "database locked": _lock,
    "disk full": _fill_disk,
    "clock jump": _jump,
}
