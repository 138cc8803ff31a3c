"""The server: 500 event streams, a page of trials out of 10,000, and the graph of all of them."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.processes import ROOT, measure
from bench.results import Section

CLIENTS, RATE, SECONDS = 500, 20, 20
TRIALS, PAGE, ROUNDS = 10_000, 100, 300
GOAL_MS, GOAL_KB, GOAL_RATIO, GOAL_GRAPH = 250, 100, 3, 1.0


def run() -> Section:
    """Each server and each client in a process of its own."""
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="burnish-bench-") as folder:
        path = str(Path(folder) / "long.db")
        identity = measure("bench.long_optimization", path, TRIALS)["id"]
        Path(folder, "burnish.toml").write_text(_CONFIG)
        Path(folder, "rows.jsonl").write_text('{"id": "1", "text": "x", "label": "x"}\n')
        Path(folder, "agent.py").write_text("def answer(configuration, item):\n    return 'x'\n")
        # A server of its own for each: what one left in memory would hide what the other takes.
        with serving(folder, path) as (address, process):
            streams = measure(
                "bench.serving_streams", address, path, process, CLIENTS, RATE, SECONDS
            )
        with serving(folder, path) as (address, _):
            pages = measure("bench.serving_pages", address, path, identity, PAGE, ROUNDS)
    return Section(
        name="serving",
        title="Serving: event streams and pages",
        command="python -m bench serving",
        columns=["", "measured", "goal"],
        rows=[
            [
                f"{CLIENTS} event streams, {RATE} events/s for {SECONDS} s: clients that got every "
                "event in order",
                f"{streams['complete']} of {CLIENTS}",
                "all",
            ],
            [
                "from the write in another process to the client: 50%, 99%, worst",
                ", ".join(f"{streams[one]:.0f} ms" for one in ("p50", "p99", "worst")),
                f"99% within {GOAL_MS} ms",
            ],
            [
                "memory of the server for each client",
                f"{streams['kb_each']:.0f} kB",
                f"under {GOAL_KB} kB",
            ],
            [
                f"a page of {PAGE} trials out of {TRIALS:,} over HTTP",
                f"{pages['ours_quick']:.2f} ms (median {pages['ours']:.2f})",
                "",
            ],
            [
                "the same query and JSON encoding in a bare FastAPI route",
                _compared(pages, "bare"),
                f"at most {GOAL_RATIO} times",
            ],
            [
                "the query and JSON encoding alone, in the client's process",
                _compared(pages, "raw"),
                "",
            ],
            [
                f"the graph of {TRIALS:,} trials ({pages['graph_bytes'] / 1e6:.1f} MB)",
                f"{pages['graph']:.2f} s (worst of {pages['graph_rounds']})",
                f"under {GOAL_GRAPH:.0f} s",
            ],
        ],
        notes=[
            "SQLite. Events are written by another process than the server's, which looks for them "
            "twenty times a second; those of runs in the server itself come without that wait.",
            f"Pages: the quickest tenth of {ROUNDS} requests in alternation, on one connection each, "
            "and the median; ratios are of the former. The bare "
            "route has no key, no checks, no log and no types, and runs in a server of its own.",
            f"Client and server share {os.cpu_count()} cores. Load average: {load:.1f} to "
            f"{os.getloadavg()[0]:.1f}.",
        ],
    )


def _compared(pages: dict[str, float], name: str) -> str:
    quick = pages[f"{name}_quick"]
    ratio = pages["ours_quick"] / quick
    return f"{quick:.2f} ms (median {pages[name]:.2f}); ours takes {ratio:.2f} times that"


_CONFIG = """
[agent]
name = "router"
run = "agent:answer"
[agent.sections]
user = "{{text}}"
[suite]
dataset = "rows.jsonl"
scorers = [{ kind = "exact_match", field = "label" }]
"""


@contextlib.contextmanager
def serving(
    folder: str, database: str, *, options: tuple[str, ...] = ("--no-runs",)
) -> Iterator[tuple[str, int]]:
    """A server on a database: its address and its process."""
    command = [sys.executable, "-c", "from burnish.cli import main; main()", "serve", *options]
    with subprocess.Popen(
        [*command, "--port", "0", "--db", database, "--log-level", "warning"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip().rpartition(" ")[2], process.pid
        finally:
            process.terminate()
