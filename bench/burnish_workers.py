"""One evaluation on real `burnish worker` processes: wall time with each number of workers."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.servers.valkey import running_valkey

import burnish
from burnish.app.optimize.optimizations import Optimization
from burnish.app.optimize.run_spec import spec_of
from burnish.app.optimize.runners import MailboxRunner
from burnish.app.wiring import Workspace
from burnish.config.search import SearchSpec
from burnish.config.settings import load_settings

AGENT = """
import asyncio

async def answer(configuration, item):
    await asyncio.sleep({wait})
    return "yes"
"""
CONFIG = """
[agent]
name = "waiter"
run = "waiter:answer"
[agent.sections]
system = "Wait."
[suite]
dataset = "rows-64.jsonl"
scorers = [{ kind = "exact_match", field = "label" }]
"""


class Nothing:
    """Proposes nothing: the run is the baseline."""

    name = "nothing"

    def initialize(self, context: burnish.RunContext) -> burnish.OptimizerState:
        """No state."""
        return burnish.OptimizerState()

    def propose(self, state: Any, history: Any, max_candidates: int) -> list[Any]:
        """No candidates."""
        return []

    def observe(self, state: Any, trial_results: Any) -> Any:
        """Nothing to learn."""
        return state

    def should_stop(self, state: Any, history: Any) -> burnish.StopDecision:
        """At once."""
        return burnish.StopDecision(should_stop=True)


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("items", type=int)
    arguments.add_argument("--wait", type=float, required=True)
    arguments.add_argument("--concurrency", type=int, required=True)
    arguments.add_argument("--workers", type=int, nargs="+", required=True)
    given = arguments.parse_args()
    write_project(given.items, given.wait)
    seconds: dict[int, float] = {}
    with running_valkey() as server:
        for workers in given.workers:
            with working(server.url, workers, given.concurrency):
                asyncio.run(evaluate(server.url, f"warm up {workers} {time.time()}", limit=64))
                seconds[workers] = asyncio.run(
                    evaluate(server.url, f"measure {workers} {time.time()}", limit=given.items)
                )
    print(json.dumps({"seconds": seconds}))


def write_project(items: int, wait: float) -> None:
    Path("waiter.py").write_text(AGENT.format(wait=wait))
    Path("burnish.toml").write_text(CONFIG)
    write_rows(64)
    write_rows(items)


def write_rows(count: int) -> str:
    path = Path(f"rows-{count}.jsonl")
    rows = (json.dumps({"n": n, "label": "yes"}) for n in range(count))
    path.write_text("\n".join(rows) + "\n")
    return path.name


@contextlib.contextmanager
def working(url: str, count: int, concurrency: int) -> Iterator[None]:
    """So many workers, all of them listening."""
    command = [sys.executable, "-m", "burnish", "worker", "--loops", "eval", "--mailbox", url]
    workers = [
        subprocess.Popen(
            [*command, "--concurrency", str(concurrency), "--health-port", "0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for _ in range(count)
    ]
    try:
        for worker in workers:
            assert worker.stdout is not None
            said = worker.stdout.readline()
            if "listening" not in said:
                raise SystemExit(said + worker.stdout.read())
        yield
    finally:
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.wait(30)


async def evaluate(url: str, text: str, *, limit: int) -> float:
    """Seconds for a run of the baseline alone; each text is another configuration."""
    settings = load_settings(Path("burnish.toml"), {"agent.sections.system": text})
    settings.suite.dataset = write_rows(limit)
    async with Workspace.open(".burnish/burnish.db") as workspace:
        optimization = Optimization(
            workspace,
            settings.agent_spec(),
            settings.suite_spec(),
            SearchSpec(optimizer=Nothing(), seed=0),
            burnish.Budget(max_trials=1),
            make_adapter=MailboxRunner(url),
        )
        created = await optimization.create(spec=spec_of(settings, optimization))
        started = time.perf_counter()
        result = await optimization.run(created)
        seconds = time.perf_counter() - started
        await optimization.close()
    assert result.to_json()["evaluations"] == limit, result.to_json()
    return seconds


main()
