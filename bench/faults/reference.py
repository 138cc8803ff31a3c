"""Undisturbed runs to compare with, and one fault at one place of a run."""

from __future__ import annotations

import asyncio
import contextlib
import random
import shutil
import signal
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from tests.servers import misbehaving
from tests.servers.postgres import PostgresServer, running_postgres
from tests.servers.valkey import ValkeyServer, running_valkey

from bench.faults.attempts import Disturbed, judge, once
from bench.faults.hits import AT_PLACES, IN_CALLS, Place
from bench.faults.works import SHORT, WORKS, FaultWorld, Limits, Sharding, Work, outcome_of, said
from burnish.storage import Database
from burnish.storage.engine import failpoints

PROVIDER: dict[str, Callable[[], Any]] = {
    "429": lambda: misbehaving.status(429, retry_after="0"),
    "500": lambda: misbehaving.status(500),
    "503": lambda: misbehaving.status(503),
    "hang": misbehaving.hang,
    "drip": lambda: misbehaving.endless([], chunk=b" "),
    "cut": misbehaving.cut,
    "garbage": lambda: misbehaving.raw(b"<html>oops</html>", "text/html"),
}
_RESTART = "database restart"
_ANYWHERE = (*AT_PLACES, *IN_CALLS, _RESTART)
_SERVED = tuple(f"provider {name}" for name in PROVIDER)
_ON_WORKERS = ("Valkey restart", "Valkey kill -9", "worker kill -9")
# What hits each kind of work.
KINDS: dict[str, tuple[str, ...]] = {
    "optimization": (*_ANYWHERE, *_SERVED, *_ON_WORKERS),
    "evaluation": (*_ANYWHERE, *_SERVED),
    "image run": _ANYWHERE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What happens to which work, and where: 0 is the beginning of a run and 1 its end."""

    work: str
    kind: str
    place: float
    number: int
    key: str


@dataclass(frozen=True, slots=True)
class Undisturbed:
    """The facts of an undisturbed run, how many calls it takes and how many places it passes."""

    facts: dict[str, Any]
    calls: int
    places: tuple[Place, ...]


class Reference:
    """Runs that nobody disturbed, and servers to restart; `close` ends those."""

    def __init__(self, folder: Path, limits: Limits = SHORT) -> None:
        self._folder = folder
        self._limits = limits
        self._numbers = iter(range(10**9))
        self._known: dict[tuple[str, bool], Undisturbed] = {}
        self._stack = contextlib.ExitStack()
        self._empty = folder / "empty.db"

    def close(self) -> None:
        """Stop the servers."""
        self._stack.close()

    def undisturbed(self, work: Work, *, served: bool = False) -> Undisturbed:
        """A run of it here; with `served` its model is behind HTTP."""
        if (work.name, served) not in self._known:
            with self.world() as world, contextlib.ExitStack() as stack:
                if served:
                    server = stack.enter_context(_model())
                    world.base_url = server.base_url
                passed: list[Place] = []
                counts: Counter[str] = Counter()

                def reach(name: str) -> None:
                    counts[name] += 1
                    passed.append(Place(name, counts[name]))

                failpoints.on_reach = reach
                stack.callback(setattr, failpoints, "on_reach", None)
                asyncio.run(work.run(world))
                calls = server.requests if served else len(world.calls())
                facts = outcome_of(work, world).facts
                last = passed[-2] if passed[-2].number == 1 else Place("", 0)
                places = (*(one._replace(last=last.name) for one in passed[:-1]), passed[-1])
                self._known[work.name, served] = Undisturbed(facts, calls, places)
        return self._known[work.name, served]

    def prepare(self, faults: list[Fault]) -> None:
        """Run undisturbed what these will be compared with: forks need not do it again."""
        for name in {one.work for one in faults}:
            for served in (False, True)[: 1 if name == "image run" else 2]:
                self.undisturbed(WORKS[name], served=served)

    def own(self, folder: Path) -> Reference:
        """Another one that knows the same runs, with a folder and servers of its own."""
        other = Reference(folder, self._limits)
        other._known = self._known
        return other

    def places(self) -> set[str]:
        """The names of all places that the undisturbed runs passed."""
        return {place.name for one in self._known.values() for place in one.places}

    @cached_property
    def postgres(self) -> PostgresServer:
        """A server of its own: it is stopped and started."""
        return self._stack.enter_context(running_postgres())

    @cached_property
    def valkey(self) -> ValkeyServer:
        """A server of its own: it is stopped and started."""
        return self._stack.enter_context(running_valkey())

    def try_fault(self, fault: Fault) -> Disturbed:
        """Run with it, resume as often as needed, and look at what is there."""
        work = WORKS[fault.work]
        if fault.kind in AT_PLACES:
            return self._at_place(work, fault)
        if fault.kind in _SERVED:
            return self._misanswered(work, fault)
        known = self.undisturbed(work)
        if fault.kind in IN_CALLS:
            with self.world() as world:
                hit = partial(IN_CALLS[fault.kind], world, 1 + int(fault.place * known.calls))
                return judge(work, world, known.facts, hit=hit)
        at = int(fault.place * known.calls)
        if fault.kind == _RESTART:
            return self._restarted(work, known.facts, at)
        return self._on_workers(fault.kind, known.facts, at)

    @contextlib.contextmanager
    def world(self, folder: Path | None = None) -> Any:
        """A new world with an empty database, which is gone afterwards."""
        folder = (folder or self._folder) / str(next(self._numbers))
        folder.mkdir()
        world = FaultWorld(folder, limits=self._limits)
        if not self._empty.exists():
            asyncio.run(_make_empty(self._empty))
        shutil.copy(self._empty, world.db)
        try:
            yield world
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    @contextlib.contextmanager
    def postgres_world(self) -> Any:
        """A new world on PostgreSQL."""
        server = self.postgres
        with self.world() as world:
            world.db = server.url(name := server.create_database())
            try:
                yield world
            finally:
                server.drop_database(name)

    def _at_place(self, work: Work, fault: Fault) -> Disturbed:
        """Every name of a place first, and then places over the whole run; some have a model."""
        ways = [False] if work.name == "image run" else [False, True]
        places = [(way, one) for way in ways for one in self.undisturbed(work, served=way).places]
        firsts = [(way, one) for way, one in places if one.number == 1]
        if fault.number < len(firsts):
            served, place = firsts[fault.number]
        else:
            served, place = places[int(fault.place * len(places))]
        with self.world() as world, contextlib.ExitStack() as stack:
            if served:
                world.base_url = stack.enter_context(_model()).base_url
            facts = self.undisturbed(work, served=served).facts
            hit = partial(AT_PLACES[fault.kind], world, place)
            return judge(work, world, facts, hit=hit)

    def _misanswered(self, work: Work, fault: Fault) -> Disturbed:
        known = self.undisturbed(work, served=True)
        move = PROVIDER[fault.kind.removeprefix("provider ")]
        with self.world() as world, _model() as server:
            world.base_url = server.base_url
            burst = random.Random(fault.key).randint(1, 6)
            at = int(fault.place * known.calls)
            server.plan(*[server.otherwise] * at, *(move() for _ in range(burst)))
            found = judge(work, world, known.facts)
            return replace(found, where=f"request {at}" if server.requests > at else "")

    def _restarted(self, work: Work, facts: dict[str, Any], at: int) -> Disturbed:
        with self.postgres_world() as world:
            restart = once(partial(_has_come, world, at), self.postgres.restart)
            return judge(work, world, facts, beside=restart)

    def _on_workers(self, kind: str, facts: dict[str, Any], at: int) -> Disturbed:
        server = self.valkey
        with self.world() as world, contextlib.ExitStack() as stack:
            world.url = server.url
            stack.callback(world.end)
            workers = [world.start_worker(concurrency=2) for _ in range(2)]

            def kill_worker() -> None:
                world.end_worker(workers[0], signal.SIGKILL)
                world.let_leases_run_out(workers[0])

            acts: dict[str, Callable[[], object]] = {
                "Valkey restart": server.restart,
                "Valkey kill -9": lambda: (server.kill(), server.start()),
                "worker kill -9": kill_worker,
            }
            hit = once(partial(_has_come, world, at), acts[kind])
            return judge(Sharding(), world, facts, beside=hit)


def _has_come(world: FaultWorld, at: int) -> bool:
    """Whether the run is in its at-th call or behind it."""
    if come := len(world.calls()) >= at:
        world.where.write_text(f"call {at}")
    return come


def _model() -> Any:
    return misbehaving.running_server(otherwise=misbehaving.ok(said))


async def _make_empty(path: Path) -> None:
    await (await Database.open(path)).close()
