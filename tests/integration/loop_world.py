"""Loops on a real Valkey: an agent that logs its calls, and ways to run and to watch loops."""

import asyncio
import contextlib
import json
import time
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path

from redis.asyncio import Redis

from burnish.domain import AgentOutput, Configuration, ExperimentContext, Item
from burnish.runtime import EvalLoop, EvalRequest, MainLoop, RedisMailbox
from burnish.runtime.loops import RetryRules

# Nothing takes this long unless it never happens, on any machine.
DEADLINE = 600.0
QUICK = RetryRules(step_seconds=0.01, longest_seconds=0.05, settle_seconds=DEADLINE)


class LoggedAgent:
    """Says yes after an item's `seconds`, or at once if it is quick; each call leaves two lines.

    An item with `until` is answered once that file is there.
    """

    name = "logged"
    fingerprint = "1"

    def __init__(self, log, *, quick=False):
        self.log = Path(log)
        self._quick = quick
        self.configuration = Configuration.of({"sections": {"user": "{{label}}"}})

    async def run(self, configuration, item, *, repeat):
        with self.log.open("a") as log:
            log.write(f"begin {item.id}\n")
        await asyncio.sleep(0 if self._quick else item.data.get("seconds", 0))
        while "until" in item.data and not Path(item.data["until"]).exists():
            await asyncio.sleep(0.01)
        with self.log.open("a") as log:
            log.write(f"end {item.id}\n")
        return AgentOutput(text="yes")

    async def close(self):
        pass

    def calls(self, kind="begin"):
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return Counter(line.split()[1] for line in lines if line.startswith(kind))


class PoisonedStore:
    """Cannot bear the tag `poison`, in a way that nobody foresaw; has no other tags."""

    async def resolve(self, descriptor, *, tag):
        if tag == "poison":
            raise RuntimeError("poison")


def request(name, *, tag=None, **data):
    experiment = None if tag is None else ExperimentContext(id="e", overrides_tag=tag)
    return EvalRequest(sample=Item(id=name, data={"label": "yes", **data}), experiment=experiment)


def eval_loop(client, agent, *, box="eval-requests", **settings):
    """An eval loop on the server behind a client."""
    patience = settings.pop("patience", 15.0)
    return EvalLoop(
        loop=MainLoop(agent=agent, overrides_store=PoisonedStore(), timeout_seconds=600),
        requests=RedisMailbox(box, client, patience=patience),
        scorers=[{"kind": "exact_match", "field": "label"}],
        **{"rules": QUICK, **settings},
    )


@contextlib.asynccontextmanager
async def running(*loops, visibility_timeout=30, wait_time_seconds=1):
    """The loops run within the block and are shut down at its end."""
    times = {"visibility_timeout": visibility_timeout, "wait_time_seconds": wait_time_seconds}
    tasks = [asyncio.create_task(loop.run(**times)) for loop in loops]
    try:
        yield
    finally:
        await asyncio.gather(*(loop.shutdown(timeout=5) for loop in loops))
        await asyncio.gather(*tasks)


@contextlib.asynccontextmanager
async def client_of(server):
    async with Redis.from_url(server.url) as client:
        yield client


async def until(holds, what="it"):
    """Wait until something holds."""
    deadline = time.monotonic() + DEADLINE
    while not holds():
        assert time.monotonic() < deadline, f"{what} did not happen"
        await asyncio.sleep(0.01)


def until_sync(holds, what="it"):
    """Wait until something holds, without an event loop."""
    deadline = time.monotonic() + DEADLINE
    while not holds():
        assert time.monotonic() < deadline, f"{what} did not happen"
        time.sleep(0.01)


def fetch(url):
    """The status and the JSON body of a page."""
    try:
        with urllib.request.urlopen(url, timeout=DEADLINE) as page:
            return page.status, json.load(page)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)
