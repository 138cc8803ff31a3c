"""Follows one optimization with many clients while events are written. Prints JSON."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import sys
import time
from dataclasses import replace
from pathlib import Path
from statistics import quantiles
from urllib.parse import urlsplit

from burnish.app.wiring import Workspace
from burnish.domain import Event, EventType, OptimizationRecord, OptimizationStatus

RECORD = OptimizationRecord(
    id="01990000-0000-7000-8000-00000000beef",
    name="watched",
    status=OptimizationStatus.INITIALIZED,
    objective_name="exact_match",
    agent_name="router",
    suite_name="tickets",
    optimizer_name="edits",
    dataset_id=None,
    seed=7,
)


class Client:
    """One stream, read as raw bytes: the client must not be what is slow."""

    def __init__(self) -> None:
        self.seen: list[int] = []
        self.lags: list[float] = []

    async def follow(self, host: str, port: int, last: int, connected: asyncio.Event) -> None:
        """Until the last event has come."""
        reader, writer = await asyncio.open_connection(host, port)
        path = f"/v1/private/optimizations/{RECORD.id}/events"
        writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        await reader.readuntil(b"retry: 2000\n\n")
        connected.set()
        while not self.seen or self.seen[-1] < last:
            line = await reader.readline()
            if line.startswith(b"data: "):
                now = time.time()
                data = json.loads(line[6:])
                self.seen.append(data["sequence"])
                self.lags.append(now - data["payload"]["at"])
        writer.close()


async def write(path: str, rate: int, seconds: int) -> None:
    async with Workspace.open(path) as workspace:
        optimizations = workspace.optimizations
        lease = await optimizations.acquire_lease(RECORD.id, owner="bench", seconds=600)
        started = time.perf_counter()
        for number in range(rate * seconds):
            await asyncio.sleep(max(started + number / rate - time.perf_counter(), 0))
            event = Event(
                type=EventType.PROGRESS_CHANGED, key=str(number), payload={"at": time.time()}
            )
            await optimizations.append_events(lease, [event])


def write_in_a_process(path: str, rate: int, seconds: int) -> None:
    asyncio.run(write(path, rate, seconds))


def resident_kb(process: int) -> int:
    """The memory that is the process's own."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    raise SystemExit("no VmRSS")


async def measure(
    address: str, path: str, process: int, clients: int, rate: int, seconds: int
) -> dict[str, float]:
    place = urlsplit(address)
    assert place.hostname is not None
    assert place.port is not None
    async with Workspace.open(path) as workspace:
        await workspace.optimizations.create_optimization(replace(RECORD))
    before = resident_kb(process)
    following = [Client() for _ in range(clients)]
    ready = [asyncio.Event() for _ in following]
    tasks = []
    for client, event in zip(following, ready, strict=True):
        follow = client.follow(place.hostname, place.port, rate * seconds, event)
        tasks.append(asyncio.create_task(follow))
        await event.wait()
    writer = multiprocessing.get_context("spawn").Process(
        target=write_in_a_process, args=(path, rate, seconds)
    )
    writer.start()
    peak = 0
    while not all(task.done() for task in tasks):
        await asyncio.sleep(0.5)
        peak = max(peak, resident_kb(process))
    await asyncio.gather(*tasks)
    writer.join()
    lags = sorted(lag * 1000 for client in following for lag in client.lags)
    cuts = quantiles(lags, n=100)
    expected = list(range(1, rate * seconds + 1))
    return {
        "complete": sum(client.seen == expected for client in following),
        "p50": cuts[49],
        "p99": cuts[98],
        "worst": lags[-1],
        "kb_each": (peak - before) / clients,
    }


def main() -> None:
    address, path, *numbers = sys.argv[1:]
    print(json.dumps(asyncio.run(measure(address, path, *map(int, numbers)))))


if __name__ == "__main__":
    main()
