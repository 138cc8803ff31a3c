"""Jobs of one optimizer in a process of their own: JSON in, a JSON line out for each job."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import burnish
from burnish.benchmarks.contestants import Contestant
from burnish.support.child_process import ending_with_us

Take = Callable[[dict[str, Any]], None]
# dspy and its like read options from the environment and keep caches in the home folder.
_DROPPED = ("DSPY_", "LITELLM_", "XDG_")
_DEADLINE_SECONDS = 3_600.0
_RUNNING: set[subprocess.Popen[str]] = set()


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Jobs that one process runs, one after the other."""

    contestant: Contestant
    jobs: Sequence[dict[str, Any]]


def run_batch(
    command: Sequence[str], batch: Batch, take: Take, *, seconds: float = _DEADLINE_SECONDS
) -> str | None:
    """Hand each answer over as it comes; the process's last words if it did not answer them all."""
    with tempfile.TemporaryDirectory(prefix="burnish-bench-") as home:
        jobs, errors = Path(home) / "jobs.json", Path(home) / "errors.txt"
        jobs.write_text(json.dumps(list(batch.jobs)), encoding="utf-8")
        with jobs.open(encoding="utf-8") as stdin, errors.open("w", encoding="utf-8") as stderr:
            process = subprocess.Popen(  # noqa: S603 - our own scripts
                ending_with_us(command),
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=stderr,
                cwd=home,
                env=_environment(batch.contestant, home),
                text=True,
            )
            answered = _answers(process, take, seconds)
        if answered == len(batch.jobs):
            return None
        said = errors.read_text(encoding="utf-8", errors="replace").strip()[-500:]
    return f"{len(batch.jobs) - answered} jobs were not answered; the process said: {said or '-'}"


def end_batches() -> None:
    """End all processes that run batches."""
    for process in list(_RUNNING):
        process.kill()


def _answers(process: subprocess.Popen[str], take: Take, seconds: float) -> int:
    """How many answers came before the process ended."""
    assert process.stdout is not None
    answered = 0
    watchdog = threading.Timer(seconds, process.kill)
    watchdog.daemon = True
    _RUNNING.add(process)
    with process:
        watchdog.start()
        try:
            for line in process.stdout:
                take(json.loads(line))
                answered += 1
        except BaseException:
            process.kill()
            raise
        finally:
            watchdog.cancel()
            _RUNNING.discard(process)
    return answered


def _environment(contestant: Contestant, home: str) -> dict[str, str]:
    if contestant.environment is None:
        root = str(Path(burnish.__file__).resolve().parents[1])
        others = os.environ.get("PYTHONPATH")
        path = f"{root}{os.pathsep}{others}" if others else root
        return {**os.environ, "PYTHONPATH": path, "PYTHONSAFEPATH": "1"}
    kept = {key: one for key, one in os.environ.items() if not key.startswith(_DROPPED)}
    return {**kept, "HOME": home, "USERPROFILE": home}
