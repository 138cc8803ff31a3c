"""What is tried side by side, each result kept in a file at once: a command that was killed goes on."""

from __future__ import annotations

import json
import multiprocessing
import multiprocessing.util
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from bench.faults.reference import Reference

Tried = dict[str, Any]
_here: list[Reference] = []


def try_all(
    tasks: Mapping[str, Any],
    attempt: Callable[[Reference, Any], Tried],
    *,
    reference: Reference,
    path: Path,
    jobs: int,
    fresh: bool,
) -> dict[str, Tried]:
    """Each task's result by its key; tried are those that the file has not."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if fresh:
        path.unlink(missing_ok=True)
    done = _read(path)
    missing = [key for key in tasks if key not in done]
    started = time.monotonic()
    # Forks of this process have everything loaded, and the undisturbed runs.
    with (
        path.open("a", encoding="utf-8") as kept,
        ProcessPoolExecutor(
            jobs, multiprocessing.get_context("fork"), initializer=_begin, initargs=(reference,)
        ) as pool,
    ):
        running = {pool.submit(_attempt, attempt, tasks[key]): key for key in missing}
        for number, future in enumerate(as_completed(running), 1):
            key = running[future]
            done[key] = future.result()
            kept.write(json.dumps({"key": key, **done[key]}) + "\n")
            kept.flush()
            if number % 50 == 0 or number == len(missing):
                spent = time.monotonic() - started
                print(f"{number:,} of {len(missing):,} in {spent:,.0f} s", file=sys.stderr)
    return {key: done[key] for key in tasks}


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Columns of text, the first one to the left."""
    cells = [list(columns), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[place]) for row in cells) for place in range(len(columns))]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in cells
    )


def _begin(reference: Reference) -> None:
    """Be one of the processes: a folder and servers of its own, gone at the end."""
    folder = tempfile.TemporaryDirectory(prefix="burnish-faults-")
    _here[:] = [reference.own(Path(folder.name))]
    owner = os.getpid()

    def end() -> None:
        if os.getpid() == owner:
            _here[0].close()
            folder.cleanup()

    multiprocessing.util.Finalize(None, end, exitpriority=10)


def _attempt(attempt: Callable[[Reference, Any], Tried], task: Any) -> Tried:
    return attempt(_here[0], task)


def _read(path: Path) -> dict[str, Tried]:
    if not path.exists():
        return {}
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {row.pop("key"): row for row in rows}
