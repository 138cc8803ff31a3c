"""The nine jobs of a new user: the script that does each, and the seconds that it takes here."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.results import Section

ROOT = Path(__file__).parents[1]
NEW_USER = "tests/e2e/test_new_user.py"
CSV_TO_PRODUCTION = (
    f"{NEW_USER}::test_tickets_of_a_csv_file_at_an_endpoint_of_ones_own_with_its_prices"
)
# What pytest says of a test's parts, such as `1.02s setup    tests/e2e/test_notebook.py::test_x`.
_PART = re.compile(r"^([\d.]+)s (?:setup|call|teardown)\s", re.MULTILINE)


def run() -> Section:
    """Each script once; one that fails ends the measuring."""
    rows = [[job, f"`{script}`", round(seconds(script), 1)] for job, script, seconds in _JOBS]
    return Section(
        name="jobs",
        title="First contact: a new user's nine jobs",
        command="python -m bench jobs",
        columns=["job", "script", "seconds"],
        rows=rows,
        notes=[
            "Seconds are of the script with its set-up: a new environment and its packages, a "
            "server, a kernel. The demo has its model here; without it 98 MB come first.",
            "The CSV file, the endpoint with prices and the way to production are one script: it "
            "classifies the rows of a file at an endpoint, counts its cost, promotes the winner and "
            "reads it back.",
        ],
    )


def _test(node: str) -> float:
    """Of a test and what it sets up, as pytest has measured."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "0", "--durations=0", "-vv", node],
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    parts = _PART.findall(done.stdout)
    if not parts or " skipped" in done.stdout:
        raise SystemExit(f"{node} did not run:\n{done.stdout[-2000:]}")
    return sum(map(float, parts))


def _demo(command: str) -> float:
    with tempfile.TemporaryDirectory(prefix="burnish-jobs-") as folder:
        begun = time.monotonic()
        burnish = str(Path(sys.executable).with_name("burnish"))
        subprocess.run(
            [burnish, *command.split()[1:]], cwd=folder, check=True, stdout=subprocess.DEVNULL
        )
        return time.monotonic() - begun


def _pages(script: str) -> float:
    """Of a file of browser tests, as vitest has measured; a server with an empty folder begins it."""
    with tempfile.TemporaryDirectory(prefix="burnish-jobs-") as folder:
        told = Path(folder) / "told.json"
        arguments = ["run", "--config", "vitest.e2e.config.ts", "--reporter=json"]
        subprocess.run(
            ["npx", "vitest", *arguments, f"--outputFile={told}"],
            cwd=ROOT / "ui",
            env={**os.environ, "BURNISH_E2E": script.removeprefix("ui/")},
            check=True,
            stdout=subprocess.DEVNULL,
        )
        (result,) = json.loads(told.read_text(encoding="utf-8"))["testResults"]
    return float(result["endTime"] - result["startTime"]) / 1000


_JOBS: tuple[tuple[str, str, Callable[[str], Any]], ...] = (
    (
        "install the wheel, then init, validate, eval, list",
        f"{NEW_USER}::test_the_wheel_makes_checks_and_runs_an_example_in_an_empty_folder",
        _test,
    ),
    ("the demo", "burnish demo", _demo),
    ("classify the rows of a CSV file", CSV_TO_PRODUCTION, _test),
    ("an endpoint of one's own with its prices", CSV_TO_PRODUCTION, _test),
    (
        "a Python agent of two prompts",
        f"{NEW_USER}::test_an_agent_of_two_prompts_is_improved_where_the_script_is_pasted",
        _test,
    ),
    (
        "a notebook",
        "tests/e2e/test_notebook.py::test_sync_calls_work_and_show_a_table_a_chart_and_the_changes",
        _test,
    ),
    (
        "a gate in CI, by the pytest plugin",
        "tests/e2e/test_pytest_plugin.py::test_only_a_confirmed_regression_fails",
        _test,
    ),
    ("promote, and production reads it", CSV_TO_PRODUCTION, _test),
    ("everything from zero in a browser", "ui/e2e/fromZero.test.ts", _pages),
)
