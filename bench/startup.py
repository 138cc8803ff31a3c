"""How long `burnish --help` takes, and what it loads."""

from __future__ import annotations

import subprocess
import sys
import time
from statistics import median

from bench.results import Section

HEAVY = ("sqlalchemy", "fastapi", "openai", "numpy", "pydantic")


def run() -> Section:
    """Wall time over several starts, against an empty Python program in the same run."""
    program = "import sys; sys.argv = ['burnish', '--help']; from burnish.cli import main; main()"
    ours = [_seconds(program) for _ in range(7)]
    empty = [_seconds("pass") for _ in range(7)]
    loaded = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", program],
        capture_output=True,
        text=True,
        check=False,
    ).stderr
    names = {line.rsplit("|", 1)[-1].strip() for line in loaded.splitlines() if "|" in line}
    return Section(
        name="startup",
        title="Start: `burnish --help`",
        command="python -m bench startup",
        columns=["", "seconds (median of 7)"],
        rows=[
            ["python with nothing", f"{median(empty):.3f}"],
            ["burnish --help", f"{median(ours):.3f}"],
        ],
        notes=[f"Loaded of {', '.join(HEAVY)}: {', '.join(sorted(names & set(HEAVY))) or 'none'}."],
    )


def _seconds(program: str) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    return time.perf_counter() - started
