"""Loop group: all loops of a worker run together, with signals, watchdog and health."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from burnish.domain import Clock, SystemClock, UsageError
from burnish.evaluation.item_runner import describe
from burnish.runtime.loops.health import STALL_SECONDS, HealthServer, Watchdog
from burnish.runtime.loops.worker_loop import WorkerLoop
from burnish.support.sync_calls import run_sync

_log = logging.getLogger(__name__)
Probe = Callable[[], Awaitable[object]]
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
# Within what a probe that asks over HTTP still waits for us.
_PROBE_SECONDS = 2.0


@contextlib.contextmanager
def draining_signals(on_first: Callable[[str], None]) -> Iterator[None]:
    """Within, the first signal is handed over by its name. Threads other than the main one may not
    listen to signals: there nothing happens."""
    loop = asyncio.get_running_loop()
    heard = False

    def hear(number: signal.Signals) -> None:
        nonlocal heard
        if heard:
            # What is under way is dropped; its messages come back once their time is over.
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        heard = True
        on_first(number.name)

    listening = []
    for number in _SIGNALS:
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, hear, number)
            listening.append(number)
    try:
        yield
    finally:
        for number in listening:
            loop.remove_signal_handler(number)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSettings:
    """How a worker runs. `health_port` None is no port, 0 any that is free.

    A worker that shows no life for `stall_seconds` is reported as not live, and with
    `exit_on_stall` it ends with code 70, for a supervisor to start it again.
    """

    grace_seconds: float = 30.0
    visibility_timeout: float = 300.0
    wait_time_seconds: float = 20.0
    health_host: str = "127.0.0.1"
    health_port: int | None = None
    stall_seconds: float = STALL_SECONDS
    exit_on_stall: bool = False


@dataclass(slots=True)
class _Running:
    """What a group has while it runs."""

    event_loop: asyncio.AbstractEventLoop
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    why: str = ""


class LoopGroup:
    """Runs loops as tasks of one event loop until it is told to stop.

    SIGTERM or SIGINT drains: no loop takes anything more, what runs may end within the grace period,
    and the rest is given back at once for others. A second signal ends the process at once. When one
    loop fails, the others are drained and the failure is raised.

    `probes` are asked for `/health/ready` besides the loops: each must return within two seconds.
    `on_start` is called once it serves and listens to signals, with the health server's address.
    """

    def __init__(
        self,
        loops: Sequence[WorkerLoop],
        *,
        settings: GroupSettings | None = None,
        probes: Mapping[str, Probe] | None = None,
        on_start: Callable[[str | None], None] | None = None,
        clock: Clock | None = None,
    ) -> None:
        names = [loop.name for loop in loops]
        if not loops or len(set(names)) < len(names):
            raise UsageError(
                what="the loops cannot be run together",
                why="there are none" if not loops else "two of them have the same name",
                fix="give at least one loop, and each a name= of its own",
                code="invalid_loops",
            )
        self.loops = tuple(loops)
        self._settings = settings or GroupSettings()
        self._probes = dict(probes or {})
        self._on_start = on_start
        self._clock = clock or SystemClock()
        self._running: _Running | None = None
        self._watchdog = Watchdog(
            self._heartbeats,
            stall_seconds=self._settings.stall_seconds,
            exit_on_stall=self._settings.exit_on_stall,
            clock=self._clock,
        )

    def run(self) -> None:
        """`serve` for plain programs and notebooks."""
        run_sync(self.serve())

    async def serve(self) -> None:
        """Run all loops until they end, one fails, or somebody asks to stop."""
        running = self._running = _Running(asyncio.get_running_loop())
        try:
            with draining_signals(self.stop), self._watched() as health:
                await self._serve(running, health)
        finally:
            self._running = None

    def stop(self, why: str = "asked to stop") -> None:
        """Begin to drain; `serve` returns when that is done."""
        if self._running is not None and not self._running.stopping.is_set():
            _log.info("%s: draining, for %g s at most", why, self._settings.grace_seconds)
            self._running.why = why
            self._running.stopping.set()

    def live(self) -> tuple[bool, dict[str, Any]]:
        """Whether every loop shows life; may be asked from any thread."""
        stalled = self._watchdog.stalled()
        body = {"status": "stalled" if stalled else "live", **self._body()}
        if stalled:
            body["stalled"] = {name: round(silence, 1) for name, silence in stalled.items()}
        return not stalled, body

    def ready(self) -> tuple[bool, dict[str, Any]]:
        """Whether requests would be served now; asked from other threads than the event loop's."""
        running = self._running
        checks: dict[str, str] = {}
        if running is None:
            state = "stopped"
        elif running.stopping.is_set():
            state = "draining"
        else:
            asking = asyncio.run_coroutine_threadsafe(self._ask_probes(), running.event_loop)
            try:
                checks = asking.result(timeout=2 * _PROBE_SECONDS)
            except TimeoutError:
                asking.cancel()
                checks = {"event loop": "it does not answer"}
            good = all(loop.ready for loop in self.loops) and set(checks.values()) <= {"ok"}
            state = "ready" if good else "not ready"
        return state == "ready", {"status": state, "checks": checks, **self._body()}

    async def _serve(self, running: _Running, health: str | None) -> None:
        settings = self._settings
        tasks = {
            asyncio.create_task(
                loop.run(
                    visibility_timeout=settings.visibility_timeout,
                    wait_time_seconds=settings.wait_time_seconds,
                ),
                name=loop.name,
            )
            for loop in self.loops
        }
        stopping = asyncio.create_task(running.stopping.wait())
        try:
            if self._on_start is not None:
                self._on_start(health)
            await self._until_the_end(tasks, stopping)
            await self._drain()
        finally:
            stopping.cancel()
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
        for task in tasks:
            if not task.cancelled() and (error := task.exception()) is not None:
                raise error

    async def _until_the_end(
        self, tasks: set[asyncio.Task[None]], stopping: asyncio.Task[Any]
    ) -> None:
        pending: set[asyncio.Task[Any]] = set(tasks)
        while pending and not stopping.done():
            done, waiting = await asyncio.wait(
                {*pending, stopping}, return_when=asyncio.FIRST_COMPLETED
            )
            pending = waiting - {stopping}
            for task in done - {stopping}:
                if (error := task.exception()) is not None:
                    self.stop(f"the loop {task.get_name()} failed ({describe(error)})")

    async def _drain(self) -> None:
        grace = self._settings.grace_seconds
        await asyncio.gather(*(loop.shutdown(timeout=grace) for loop in self.loops))

    @contextlib.contextmanager
    def _watched(self) -> Iterator[str | None]:
        """Watchdog and health; the address of the latter, if it has one."""
        settings = self._settings
        with contextlib.ExitStack() as stack:
            stack.enter_context(self._watchdog)
            address = None
            if settings.health_port is not None:
                server = HealthServer(
                    host=settings.health_host,
                    port=settings.health_port,
                    live=self.live,
                    ready=self.ready,
                )
                address = stack.enter_context(server).url
            yield address

    async def _ask_probes(self) -> dict[str, str]:
        probes: dict[str, Probe] = dict(self._probes)
        for loop in self.loops:
            if loop.requests is not None:
                probes[f"mailbox {loop.requests.name}"] = loop.requests.approximate_count
        asked = {name: asyncio.ensure_future(_answer(probe)) for name, probe in probes.items()}
        if asked:
            await asyncio.wait(asked.values(), timeout=_PROBE_SECONDS)
        for probe in asked.values():
            probe.cancel()  # Those that are done do not mind; the others are not waited for.
        return {
            name: probe.result() if probe.done() and not probe.cancelled() else "no answer"
            for name, probe in asked.items()
        }

    def _heartbeats(self) -> dict[str, float]:
        return {loop.name: loop.heartbeat for loop in self.loops if loop.running}

    def _body(self) -> dict[str, Any]:
        return {"process": os.getpid(), "loops": [loop.status() for loop in self.loops]}


async def _answer(probe: Probe) -> str:
    try:
        await probe()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is not ready
        return f"not ok ({type(error).__name__})"
    return "ok"
