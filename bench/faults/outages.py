"""`python -m bench outages`: what a run needs is away for a while, and a table of what came of it.

The limits are those of the product. Away is a model whose server is closed or answers 503, a PostgreSQL
server that is stopped or frozen, a SQLite file that another process has locked, and a file system
in memory on which no byte is left; that one needs root.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tests.servers import misbehaving

from bench.faults.attempts import OUTCOMES, Disturbed, begin, compare, wait
from bench.faults.hits import at_place
from bench.faults.kept import table, try_all
from bench.faults.reference import Reference, Undisturbed
from bench.faults.works import FaultWorld, Limits, Optimizing, said
from bench.processes import ROOT
from bench.results import Section, save
from burnish.app.report.runs.lines import state_of
from burnish.app.wiring import Workspace
from burnish.domain import OptimizationStatus

SECONDS = (10, 30, 60, 120)
PLACES = 10
# Each in two ways, in turn, where there are two.
WAYS = {
    "model": ("closed", "503"),
    "PostgreSQL": ("stopped", "frozen"),
    "SQLite lock": ("locked",),
    "full disk": ("full",),
}
_RETRYABLE = 4
_DISK_BYTES = 24 << 20
_NEW_NAMESPACE = 0x00020000
_LOCK = """
import sqlite3, sys
other = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)
other.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
sys.stdin.read()
other.execute("ROLLBACK")
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outage:
    """What is away for how long, from which tenth of a run on."""

    kind: str
    way: str
    seconds: int
    place: int

    @property
    def key(self) -> str:
        """What it is called in the file."""
        return f"{self.kind} {self.way} {self.seconds} s at {self.place} of {PLACES}"


def main(arguments: Sequence[str]) -> None:
    """Try what is not yet in the file, and print the table; exit 1 unless nothing was changed."""
    options = _parse(arguments)
    kinds = options.kinds.split(",") if options.kinds else list(WAYS)
    seconds = [int(one) for one in options.seconds.split(",")]
    planned = list(plan(kinds, seconds))
    work = Optimizing()
    with tempfile.TemporaryDirectory() as folder:
        reference = Reference(Path(folder), Limits())
        reference.undisturbed(work)
        reference.undisturbed(work, served=True)
        done = try_all(
            {one.key: one for one in planned},
            try_outage,
            reference=reference,
            path=ROOT / "build" / "bench" / "outages.jsonl",
            jobs=options.jobs,
            fresh=options.fresh,
        )
    section = report(planned, list(done.values()))
    print(table(section.columns, section.rows))
    print("\n".join(section.notes))
    if planned == list(plan(list(WAYS), SECONDS)):
        save(section)
    if any(one[name] for one in done.values() for name in (*OUTCOMES, "not_retryable")):
        raise SystemExit(1)


def plan(kinds: Sequence[str], seconds: Sequence[int]) -> Iterator[Outage]:
    """Every kind for every time at every place, the longest first: they are tried side by side."""
    for length in sorted(seconds, reverse=True):
        for place in range(PLACES):
            for kind in kinds:
                way = WAYS[kind][place % len(WAYS[kind])]
                yield Outage(kind=kind, way=way, seconds=length, place=place)


# --- what is away ------------------------------------------------------------------------------


@contextlib.contextmanager
def _closed(server: misbehaving.MisbehavingServer, way: str) -> Iterator[None]:
    if way == "closed":
        with server.closed():
            yield
        return
    honest, server.otherwise = server.otherwise, misbehaving.status(503)
    try:
        yield
    finally:
        server.otherwise = honest


@contextlib.contextmanager
def _stopped(server: Any, way: str) -> Iterator[None]:
    if way == "frozen":
        with server.frozen():
            yield
        return
    server.stop()
    try:
        yield
    finally:
        server.start()


@contextlib.contextmanager
def _locked(path: str) -> Iterator[None]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-ISc", _LOCK, path], text=True, **pipes) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "locked\n"
        yield
        other.communicate(timeout=60)


@contextlib.contextmanager
def _filled(folder: Path) -> Iterator[None]:
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (65536, 1):
            with contextlib.suppress(OSError):
                while file.write(b"x" * size) == size:
                    pass
    yield
    filler.unlink()


@contextlib.contextmanager
def _small_disk(folder: Path) -> Iterator[None]:
    """A file system in memory that only this process and its forks see."""
    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_NAMESPACE):
        raise SystemExit("a full disk needs root: it is a small file system that is mounted")
    for words in (
        ["--make-rprivate", "/"],
        ["-t", "tmpfs", "-o", f"size={_DISK_BYTES}", "tmpfs", str(folder)],
    ):
        subprocess.run(["mount", *words], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextlib.contextmanager
def _prepared(
    reference: Reference, outage: Outage
) -> Iterator[tuple[FaultWorld, Callable[[], contextlib.AbstractContextManager[None]]]]:
    """A world, and what takes away what it needs."""
    with contextlib.ExitStack() as stack:
        if outage.kind == "PostgreSQL":
            world = stack.enter_context(reference.postgres_world())
            yield world, partial(_stopped, reference.postgres, outage.way)
            return
        world = stack.enter_context(reference.world())
        if outage.kind == "SQLite lock":
            yield world, partial(_locked, world.db)
        elif outage.kind == "model":
            answer = misbehaving.ok(said)
            server = stack.enter_context(misbehaving.running_server(otherwise=answer))
            world.base_url, world.on_fork = server.base_url, server.leave_to_parent
            yield world, partial(_closed, server, outage.way)
        else:
            disk = world.folder / "disk"
            disk.mkdir()
            stack.enter_context(_small_disk(disk))
            # What the world notes of its calls is elsewhere.
            world.db = shutil.move(world.db, disk)
            yield world, partial(_filled, disk)


# --- one outage --------------------------------------------------------------------------------


def try_outage(reference: Reference, outage: Outage) -> dict[str, Any]:
    """Run with it, resume once if it stopped, and look at what is there."""
    work = Optimizing()
    known = reference.undisturbed(work, served=outage.kind == "model")
    told_read, told_write = os.pipe()
    begun_read, begun_write = os.pipe()

    def act() -> None:
        os.write(told_write, b".")
        os.read(begun_read, 1)

    with _prepared(reference, outage) as (world, away):
        due = _due(outage, known, world)
        child = begin(work, world, partial(at_place, world, due, act, between=True))
        os.close(told_write)
        hit = os.read(told_read, 1)
        ended: int | str | None = None
        late = 0.0
        if hit:
            with away():
                os.write(begun_write, b".")
                start = time.monotonic()
                ended = wait(child, seconds=outage.seconds)
                time.sleep(max(start + outage.seconds - time.monotonic(), 0))
        for end in (told_read, begun_read, begun_write):
            os.close(end)
        stopped_early = ended is not None
        start = time.monotonic()
        ended = ended if stopped_early else wait(child)
        late = time.monotonic() - start
        return {
            **_judged(work, world, known.facts, ended),
            "hit": int(bool(hit)),
            "late_seconds": round(late, 1),
        }


def _due(outage: Outage, known: Undisturbed, world: FaultWorld) -> Callable[[Counter[str]], bool]:
    """Whether so many places, or so many calls where they are counted here, are behind it."""
    share = (outage.place + 0.5) / PLACES
    if outage.kind == "model":
        return lambda passed: passed.total() >= share * len(known.places)
    return lambda _: len(world.calls()) >= share * known.calls


def _judged(
    work: Optimizing, world: FaultWorld, facts: dict[str, Any], ended: int | str | None
) -> dict[str, Any]:
    """What is there, after a resumption if it stopped."""
    state = {"exit": ended, "status": "completed", "not_retryable": 0}
    attempts = 1
    if ended not in (0, None):
        status = asyncio.run(_status(world))
        good = ended == _RETRYABLE and status in ("failed", "interrupted")
        state |= {"status": status, "not_retryable": int(not good)}
        attempts = 2
        ended = wait(begin(work, world))
    if ended is None:
        return {**asdict(Disturbed(attempts=attempts, hung=1, note="no end")), **state}
    if ended != 0:
        errors = world.errors.read_text().strip()
        note = f"resumption ended with {ended}: {errors}"
        return {**asdict(Disturbed(attempts=attempts, lost=1, note=note)), **state}
    errors = world.errors.read_text() if world.errors.exists() else ""
    found = asdict(compare(work, world, facts, attempts))
    return {**found, **state, "errors": errors}


async def _status(world: FaultWorld) -> str:
    """What every surface calls the stopped run; `interrupted` is one whose end could not be written."""
    if world.optimization_id is None:
        return "not begun"
    async with Workspace.open(world.db) as workspace:
        record = await workspace.optimizations.get_optimization(world.optimization_id)
    if record.status is OptimizationStatus.FAILED:
        retryable = (record.framework_error or {}).get("retryable")
        return "failed" if retryable else "failed for good"
    return state_of(record)


# --- what came of it ---------------------------------------------------------------------------


def report(planned: Sequence[Outage], found: Sequence[dict[str, Any]]) -> Section:
    """A row for each kind and time."""
    pairs = list(zip(planned, found, strict=True))
    rows = []
    for kind in dict.fromkeys(one.kind for one in planned):
        for seconds in sorted({one.seconds for one in planned}):
            some = [row for one, row in pairs if (one.kind, one.seconds) == (kind, seconds)]
            rows.append(_row(f"{kind}, {seconds} s", some))
    notes = [
        f"{one.key}: exit {row['exit']}, {row['status']}: {row['note']}"
        for one, row in pairs
        if any(row[name] for name in (*OUTCOMES, "not_retryable")) or not row["hit"]
    ]
    return Section(
        name="outages",
        title=f"Outages: {len(planned)} of them, with the limits of the product",
        command="python -m bench outages",
        columns=[
            *("away", "tried", "went on", "stopped, resumed", "of these failed", "interrupted"),
            *("not retryable", *OUTCOMES, "slowest end after it"),
        ],
        rows=[*rows, _row("all", list(found))],
        notes=[
            "At ten places of a small search. Whatever went on has the result of a run that nobody "
            "disturbed; whatever stopped did so with exit 4, and has it after one resumption. Where "
            "the database is away for longer than a run waits for it, its end cannot be written "
            "either: every surface shows it as interrupted, and it can be resumed at once.",
            "The model is closed, or answers 503; PostgreSQL is stopped, or frozen (SIGSTOP); SQLite "
            "is locked by another process; the disk is a file system of 24 MB with no byte left.",
            *notes,
        ],
    )


def _row(name: str, found: Sequence[dict[str, Any]]) -> list[Any]:
    stopped = [one for one in found if one["attempts"] > 1]
    return [
        name,
        len(found),
        len(found) - len(stopped),
        len(stopped),
        sum(one["status"] == "failed" for one in stopped),
        sum(one["status"] == "interrupted" for one in stopped),
        sum(one["not_retryable"] for one in found),
        *(sum(bool(one[key]) for one in found) for key in OUTCOMES),
        f"{max(one['late_seconds'] for one in found):.1f} s",
    ]


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench outages", description=__doc__)
    parser.add_argument("--kinds", help=f"some of {','.join(WAYS)}")
    parser.add_argument("--seconds", default=",".join(map(str, SECONDS)), help="how long each is")
    parser.add_argument("--jobs", type=int, default=10, help="how many side by side; they wait")
    parser.add_argument("--fresh", action="store_true", help="forget what was tried before")
    return parser.parse_args(arguments)
