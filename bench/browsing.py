"""How long it takes to open, list and show an optimization of 5,000 trials."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from bench.processes import measure
from bench.results import Section

TRIALS, ROUNDS, GOAL_MS = 5000, 15, 150
COMMANDS = (
    ("--help",),
    ("list", "--json"),
    ("show", "ID", "--json"),
    ("show", "ID", "--trials", "--graph", "--rejections", "--events", "--json"),
)


def run() -> Section:
    """Each round in a process of its own, and the same through the command line."""
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="burnish-bench-") as folder:
        path = str(Path(folder) / "long.db")
        made = measure("bench.long_optimization", path, TRIALS)
        answers = [
            measure("bench.burnish_browsing", path, made["id"], TRIALS) for _ in range(ROUNDS)
        ]
        commands = [_command_row(command, made["id"], path, folder) for command in COMMANDS]
    what = {
        "open": "open the database and get the optimization",
        "list": "list optimizations",
        "show": "show: it, its candidates, trials, rejections and first 1,000 events",
    }
    return Section(
        name="browsing",
        title="Browsing: an optimization of 5,000 trials",
        command="python -m bench browsing",
        columns=[
            "",
            f"ms, first in a process (median of {ROUNDS})",
            "worst",
            "of it CPU",
            "ms, again (median)",
        ],
        rows=[_row(what[key], key, answers) for key in what] + commands,
        notes=[
            f"The goal is under {GOAL_MS} ms for each of the first three rows. Python's own start "
            "and imports are not in them; they are in the commands (median of 5), as is printing.",
            f"The file has {made['bytes'] / 1e6:.0f} MB: {TRIALS:,} trials with their experiments, "
            f"{2 * TRIALS:,} events of trials; written in {made['seconds']:.0f} s.",
            f"Load average: {load:.1f} to {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.",
        ],
    )


def _row(what: str, key: str, answers: list[dict[str, Any]]) -> list[str]:
    first = [answer["first"][key] for answer in answers]
    cpu = median(answer["first"][f"{key}_cpu"] for answer in answers)
    again = median(answer["again"][key] for answer in answers)
    return [what, f"{median(first):.0f}", f"{max(first):.0f}", f"{cpu:.0f}", f"{again:.0f}"]


def _command_row(command: tuple[str, ...], identity: str, path: str, folder: str) -> list[str]:
    given = [identity if part == "ID" else part for part in command]
    milliseconds = []
    for _ in range(5):
        started = time.perf_counter()
        finished = subprocess.run(
            [sys.executable, "-c", "from burnish.cli import main; main()", *given],
            cwd=folder,
            env={**os.environ, "BURNISH_DB": path},
            capture_output=True,
            check=False,
        )
        milliseconds.append((time.perf_counter() - started) * 1000)
        if finished.returncode != 0:
            raise SystemExit(f"burnish {' '.join(given)} failed:\n{finished.stderr.decode()}")
    name = f"`burnish {' '.join(command)}`"
    return [name, f"{median(milliseconds):.0f}", f"{max(milliseconds):.0f}", "", ""]
