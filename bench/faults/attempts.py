"""Attempts at a disturbed work, each in a process of its own, and what came of them."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from optimization_world import in_child

from bench.faults.works import FaultWorld, Outcome, Work, outcome_of

OUTCOMES = ("lost", "doubled", "blamed", "hung")
# Longer than any limit of a run with short ones; whoever takes so long hangs.
LONGEST_SECONDS = 120.0
_MOST_ATTEMPTS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Disturbed:
    """What came of a work that was disturbed; `lost`, `doubled`, `blamed`, `hung` should be nothing.

    `again` are calls that were paid twice: those under way, and those whose answers were not written.
    """

    attempts: int
    again: int = 0
    lost: int = 0
    doubled: int = 0
    blamed: int = 0
    hung: int = 0
    where: str = ""
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """As it is kept."""
        return asdict(self)


def begin(work: Work, world: FaultWorld, prepare: Callable[[], None] | None = None) -> int:
    """An attempt in a forked process; its id."""

    def attempt() -> None:
        try:
            world.enter_fork()
            if prepare is not None:
                prepare()
            asyncio.run(work.run(world))
        except BaseException as error:
            with world.errors.open("a") as errors:
                errors.write(f"{type(error).__name__}: {error}\n")
            raise

    return in_child(attempt)


def judge(
    work: Work,
    world: FaultWorld,
    expected: dict[str, Any],
    *,
    hit: Callable[[], None] | None = None,
    beside: Callable[[], None] | None = None,
) -> Disturbed:
    """The disturbed attempt, those after it, and what is there at the end.

    `hit` prepares the first attempt's process; `beside` is called over and over while it runs.
    """
    frozen: list[int] = []
    for attempt in range(1, _MOST_ATTEMPTS + 1):
        child = begin(work, world, hit if attempt == 1 else None)
        ended = wait(child, beside=beside)
        if ended == "stopped":
            frozen.append(child)
            time.sleep(1.2 * world.limits.lease_seconds)
            continue
        if ended is None:
            _end(child)
            return _told(world, Disturbed(attempts=attempt, hung=1, note="no end"))
        if ended == 0:
            break
    for one in frozen:
        os.kill(one, signal.SIGCONT)
        if wait(one) is None:
            _end(one)
            note = "the frozen owner never ended"
            return _told(world, Disturbed(attempts=attempt, hung=1, note=note))
    if ended != 0:
        note = f"ended with {ended}"
        return _told(world, Disturbed(attempts=attempt, lost=1, note=note))
    return compare(work, world, expected, attempt)


def compare(work: Work, world: FaultWorld, expected: dict[str, Any], attempts: int) -> Disturbed:
    """What is stored, beside what an undisturbed one stored."""
    outcome: Outcome = outcome_of(work, world)
    differing = [name for name, value in expected.items() if outcome.facts[name] != value]
    again = sum(number - 1 for number in Counter(world.calls()).values())
    found = Disturbed(
        attempts=attempts,
        lost=int(bool(differing)),
        doubled=int(bool(outcome.doubled)),
        blamed=outcome.blamed,
        again=again,
        note=f"differs in {', '.join(differing)}" if differing else outcome.doubled,
    )
    return _told(world, found)


def wait(
    child: int,
    *,
    seconds: float = LONGEST_SECONDS,
    beside: Callable[[], None] | None = None,
) -> int | str | None:
    """The exit code, `stopped`, or None when it takes longer than anything may."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pid, status = os.waitpid(child, os.WNOHANG | os.WUNTRACED)
        if pid:
            stopped = os.WIFSTOPPED(status)
            return "stopped" if stopped else os.waitstatus_to_exitcode(status)
        if beside is not None:
            beside()
        time.sleep(0.005)
    return None


def once(condition: Callable[[], bool], act: Callable[[], Any]) -> Callable[[], None]:
    """Acts the first time that it is called while the condition holds."""
    done: list[int] = []

    def check() -> None:
        if not done and condition():
            done.append(1)
            act()

    return check


def _end(child: int) -> None:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def _told(world: FaultWorld, found: Disturbed) -> Disturbed:
    """With the place that was hit, and the errors where something is not as it should be."""
    where = world.where.read_text() if world.where.exists() else ""
    bad = any(getattr(found, name) for name in OUTCOMES)
    errors = world.errors.read_text().strip() if bad and world.errors.exists() else ""
    note = "; ".join(filter(None, (found.note, errors.replace("\n", " | ")[:600])))
    return replace(found, where=where, note=note)
