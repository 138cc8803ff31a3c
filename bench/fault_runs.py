"""One fault at one place of a small optimization: the run, its resumption, and what came of it."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import resource
import shutil
import signal
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from optimization_world import (
    WORTH,
    Climber,
    World,
    agent_of,
    fingerprint,
    in_child,
    result_of,
    suite,
)
from tests.servers import misbehaving
from tests.servers.postgres import running_postgres

import burnish
from burnish.app.optimize.optimizations import Optimization
from burnish.app.wiring import Workspace
from burnish.config.search import SearchSpec
from burnish.domain import SystemClock
from burnish.storage import Database
from burnish.storage.engine import failpoints

# Longer than any limit of a run here; whoever takes so long hangs.
_LONGEST_SECONDS = 120.0
_MOST_ATTEMPTS = 6
_LEASE_SECONDS = 1.0
_PATIENCE_SECONDS = 1.0
_TRIALS = 4

PROVIDER: dict[str, Callable[[], Any]] = {
    "429": lambda: misbehaving.status(429, retry_after="0"),
    "500": lambda: misbehaving.status(500),
    "503": lambda: misbehaving.status(503),
    "hang": misbehaving.hang,
    "drip": lambda: misbehaving.endless([], chunk=b" "),
    "cut": misbehaving.cut,
    "garbage": lambda: misbehaving.raw(b"<html>oops</html>", "text/html"),
}
KINDS = (
    "kill -9",
    "kill -9 in a call",
    "SIGSTOP",
    "database locked",
    "disk full",
    "clock jump",
    "database restart",
    *(f"provider {name}" for name in PROVIDER),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What happens, and where: 0 is the beginning of a run and 1 its end."""

    kind: str
    place: float
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Disturbed:
    """What came of a run that was disturbed; all but the first two should be nothing.

    `again` are calls that were paid twice: those under way, and those whose answers were not written.
    """

    attempts: int
    again: int = 0
    lost: int = 0
    doubled: int = 0
    blamed: int = 0
    hung: int = 0
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """As it is kept."""
        return asdict(self)


class Reference:
    """Undisturbed runs to compare with, one for each kind of world."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = iter(range(10**9))
        self._stack = contextlib.ExitStack()

    @cached_property
    def plain(self) -> tuple[dict[str, Any], int, int]:
        """The result, how many calls it takes and how many places it passes."""
        world, passed = self._world(), []
        failpoints.on_reach = passed.append
        try:
            found = asyncio.run(_run(world))
        finally:
            failpoints.on_reach = None
        return fingerprint(found), len(world.calls()), len(passed)

    @cached_property
    def served(self) -> tuple[dict[str, Any], int]:
        """The result with a model behind HTTP, and how many requests it takes."""
        with misbehaving.running_server(otherwise=misbehaving.ok(_said)) as server:
            found = asyncio.run(_run(self._world(), base_url=server.base_url))
            return fingerprint(found), server.requests

    @cached_property
    def postgres(self) -> Any:
        """A server of its own: it is stopped and started."""
        return self._stack.enter_context(running_postgres())

    def try_fault(self, fault: Fault) -> Disturbed:
        """Run with it, resume as often as needed, and look at what is there."""
        world = self._world()
        try:
            if fault.kind.startswith("provider "):
                expected, requests = self.served
                move = PROVIDER[fault.kind.removeprefix("provider ")]
                with misbehaving.running_server(otherwise=misbehaving.ok(_said)) as server:
                    burst = 1 + int(fault.place * 997) % 6
                    at = int(fault.place * requests)
                    server.plan(*[misbehaving.ok(_said)] * at, *(move() for _ in range(burst)))
                    return _judge(world, expected, partial(_run, world, base_url=server.base_url))
            expected, calls, places = self.plain
            if fault.kind == "database restart":
                return self._restarted(world, expected, int(fault.place * calls))
            at = max(1, int(fault.place * (calls if fault.kind in _IN_CALLS else places)))
            return _judge(world, expected, partial(_run, world), _FAULTS[fault.kind], at)
        finally:
            shutil.rmtree(world.folder, ignore_errors=True)

    def _restarted(self, world: World, expected: dict[str, Any], at: int) -> Disturbed:
        server = self.postgres
        world.db = server.url(name := server.create_database())
        with _when(lambda: len(world.calls()) >= at, lambda: (server.stop(), server.start())):
            found = _judge(world, expected, partial(_run, world))
        server.drop_database(name)
        return found

    def _world(self) -> World:
        folder = self._folder / str(next(self._numbers))
        folder.mkdir()
        return World(folder, item_seconds=0.001, outage_seconds=2.0)


# --- faults in the process that runs -----------------------------------------------------------


def _at_place(number: int, act: Callable[[], None], *, between: bool = False) -> None:
    """Act at the number-th place; `between` writes where another must be able to go on."""
    passed: Counter[str] = Counter()

    def reach(name: str) -> None:
        passed[name.rpartition(":")[2]] += 1
        due = passed.total() >= number
        if due and not (between and passed["before"] != passed["after"]):
            failpoints.on_reach = None
            act()

    failpoints.on_reach = reach


def _kill(world: World, number: int) -> None:
    _at_place(number, lambda: os.kill(os.getpid(), signal.SIGKILL))


def _kill_in_call(world: World, number: int) -> None:
    _in_call(world, number, lambda: os.kill(os.getpid(), signal.SIGKILL))


def _freeze(world: World, number: int) -> None:
    _at_place(number, lambda: os.kill(os.getpid(), signal.SIGSTOP), between=True)


def _lock(world: World, number: int) -> None:
    """Longer than anybody waits for it."""

    def hold() -> None:
        with contextlib.closing(sqlite3.connect(world.db, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            locked.set()
            time.sleep(2 * _PATIENCE_SECONDS + 1)
            other.execute("ROLLBACK")

    locked = threading.Event()

    def act() -> None:
        threading.Thread(target=hold, daemon=True).start()
        locked.wait(10)

    _in_call(world, number, act)


def _fill_disk(world: World, number: int) -> None:
    """No file can grow any more, until another process goes on."""

    def act() -> None:
        largest = max(path.stat().st_size for path in world.folder.glob("world.db*"))
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, resource.RLIM_INFINITY))

    _in_call(world, number, act)


def _jump(world: World, number: int) -> None:
    honest, hours = SystemClock.now, (1 if number % 2 else -1)

    def act() -> None:
        SystemClock.now = lambda self: honest(self) + timedelta(hours=hours)  # type: ignore[method-assign]

    _in_call(world, number, act)


def _in_call(world: World, number: int, act: Callable[[], None]) -> None:
    done: list[int] = []

    async def called() -> None:
        if len(world.calls()) >= number and not done:
            done.append(1)
            act()

    world.on_call = called


_FAULTS: dict[str, Callable[[World, int], None]] = {
    "kill -9": _kill,
    "kill -9 in a call": _kill_in_call,
    "SIGSTOP": _freeze,
    "database locked": _lock,
    "disk full": _fill_disk,
    "clock jump": _jump,
}
_IN_CALLS = {"kill -9 in a call", "database locked", "disk full", "clock jump"}


# --- runs --------------------------------------------------------------------------------------


async def _run(world: World, base_url: str | None = None) -> burnish.OptimizationResult:
    """Start or go on with the world's run, with limits that are over soon."""
    Database.open = partial(_open, patience_seconds=_PATIENCE_SECONDS)  # type: ignore[method-assign]
    models: dict[str, Any] = {}
    agent = agent_of(world)
    if base_url is not None:
        os.environ["OPENAI_API_KEY"] = "k"
        models = {"openai": {"base_url": base_url, "timeout_seconds": 1.0}}
        agent = replace(agent, run=None, model="openai/test-model")
    async with Workspace.open(world.db, models=models) as workspace:
        optimization = Optimization(
            workspace,
            agent,
            suite(),
            SearchSpec(optimizer=Climber(), seed=5),
            burnish.Budget(max_trials=_TRIALS),
            lease_seconds=_LEASE_SECONDS,
        )
        try:
            if world.optimization_id is None:
                world.remember((await optimization.create()).id)
            return await optimization.run(world.optimization_id)
        finally:
            await optimization.close()


_open = Database.open


def _said(request: misbehaving.SeenRequest) -> str:
    """The answer of the world's agent, from the prompt alone."""
    text = " ".join(str(one["content"]) for one in request.body["messages"])
    chance = 0.3 + sum(worth for word, worth in WORTH.items() if word in text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return "yes" if int(digest[:8], 16) / 16**8 < chance else "no"


def _judge(
    world: World,
    expected: dict[str, Any],
    work: Callable[[], Any],
    fault: Callable[[World, int], None] | None = None,
    at: int = 0,
) -> Disturbed:
    """The disturbed attempt, those after it, and what is there at the end."""

    def first() -> None:
        if fault is not None:
            fault(world, at)
        asyncio.run(work())

    frozen: list[int] = []
    ended: int | None = None
    for attempt in range(1, _MOST_ATTEMPTS + 1):
        started = in_child(first if attempt == 1 else lambda: asyncio.run(work()))
        ended = _wait(started)
        if ended is None and _is_stopped(started):
            frozen.append(started)
            time.sleep(1.2 * _LEASE_SECONDS)
            continue
        if ended is None:
            os.kill(started, signal.SIGKILL)
            os.waitpid(started, 0)
            return Disturbed(attempts=attempt, hung=1, note="no end")
        if ended == 0:
            break
    for one in frozen:
        os.kill(one, signal.SIGCONT)
        if _wait(one) is None:
            os.kill(one, signal.SIGKILL)
            os.waitpid(one, 0)
            return Disturbed(attempts=attempt, hung=1, note="the frozen owner never ended")
    if ended != 0:
        return Disturbed(attempts=attempt, lost=1, note=f"ended with {ended}")
    return _looked_at(world, expected, attempt)


def _looked_at(world: World, expected: dict[str, Any], attempts: int) -> Disturbed:
    result = asyncio.run(result_of(world))
    experiments, events, evaluations = asyncio.run(_stored(world))
    found = fingerprint(result)
    differing = [name for name, value in expected.items() if found[name] != value]
    blamed = sum(trial.status.value not in ("completed", "pruned") for trial in result.trials)
    again = sum(number - 1 for number in Counter(world.calls()).values())
    doubled = (
        experiments != len(result.candidates) + 2
        or events != list(range(1, len(events) + 1))
        or evaluations != found["evaluations"]
    )
    note = f"differs in {', '.join(differing)}" if differing else ""
    return Disturbed(
        attempts=attempts,
        lost=int(bool(differing)),
        doubled=int(doubled),
        blamed=blamed,
        again=again,
        note=note or (f"{experiments} experiments, {evaluations} results" if doubled else ""),
    )


async def _stored(world: World) -> tuple[int, list[int], int]:
    async with Workspace.open(world.db) as workspace:
        experiments = await workspace.experiments.list_experiments(
            limit=1000, optimization_id=world.optimization_id
        )
        events = await workspace.optimizations.list_events(world.optimization_id, limit=10_000)
        evaluated = await workspace.experiments.evaluated(world.optimization_id)
    return len(experiments), [event.sequence for event in events], len(evaluated)


_stopped: set[int] = set()


def _wait(child: int) -> int | None:
    """The exit code; None when it was stopped, or takes longer than anything may."""
    end = time.monotonic() + _LONGEST_SECONDS
    while time.monotonic() < end:
        pid, status = os.waitpid(child, os.WNOHANG | os.WUNTRACED)
        if pid and os.WIFSTOPPED(status):
            _stopped.add(child)
            return None
        if pid:
            _stopped.discard(child)
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    return None


def _is_stopped(child: int) -> bool:
    return child in _stopped


@contextlib.contextmanager
def _when(condition: Callable[[], bool], act: Callable[[], Any]) -> Iterator[None]:
    """Act once, beside what is within, when a condition holds; an end comes first."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.005):
            if condition():
                act()
                return

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
