"""Throughput of ``inspect_ai.eval`` with nothing to wait for, log included.

Run with a Python that has inspect_ai (``venvs.run("inspect", "inspect_eval.py", 500)``).
The solver answers at once without calling the (mock) model, so what is timed is
the framework's own work per sample, and writing every sample to an ``.eval`` log,
its default format, in a temporary folder.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
import zipfile
from importlib.metadata import version
from typing import Any

from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog
from inspect_ai.scorer import exact
from inspect_ai.solver import Generate, Solver, TaskState, solver


def settings(items: int) -> dict[str, Any]:
    """The fastest settings that still store every sample in full.

    ``log_buffer`` stays at its default: buffering the whole run was no faster
    and would lose all of it in a crash.
    """
    return {
        # Every sample at once; lower limits and the default were slower.
        "max_samples": items,
        # No live view of a running evaluation: the largest saving of these.
        "log_realtime": False,
        "ctl_server": False,
        "score_display": False,
        # Concerns only what the call returns; the log still holds the samples.
        "log_header_only": True,
    }


@solver
def echo() -> Solver:
    """Answers with the input, so every sample is an exact match."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.output.completion = state.input_text
        return state

    return solve


def check(log: EvalLog, items: int) -> None:
    """Refuse a run which failed, mis-scored or did not store every sample."""
    if log.status != "success" or log.results is None:
        raise SystemExit(f"inspect_ai ended with {log.status!r}: {log.error}")
    mean = log.results.scores[0].metrics["mean"].value
    with zipfile.ZipFile(log.location.removeprefix("file://")) as archive:
        stored = sum(name.startswith("samples/") for name in archive.namelist())
    if mean != 1.0 or stored != items:
        raise SystemExit(
            f"inspect_ai scored {mean} instead of 1.0 or stored {stored} samples "
            f"instead of {items}, so the timing would be void; if its version "
            "changed, adapt the task or this check to it."
        )


def timed_run(items: int) -> float:
    """Seconds of one evaluation, without building the dataset or checking the log."""
    texts = [f"item {i}" for i in range(items)]
    samples = [Sample(id=i, input=t, target=t) for i, t in enumerate(texts, 1)]
    task = Task(dataset=MemoryDataset(samples), solver=echo(), scorer=exact())
    with tempfile.TemporaryDirectory() as log_dir:
        start = time.perf_counter()
        (log,) = inspect_eval(
            task,
            model="mockllm/model",
            log_dir=log_dir,
            display="none",
            **settings(items),
        )
        seconds = time.perf_counter() - start
        check(log, items)
    return seconds


def measure(items: int, repeats: int) -> dict[str, object]:
    timed_run(items)
    seconds = [timed_run(items) for _ in range(repeats)]
    return {
        "peer": "inspect_ai",
        "version": version("inspect_ai"),
        "items": items,
        "seconds": seconds,
        "items_per_second_median": items / statistics.median(seconds),
        "stores": True,
        "settings": settings(items),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("items", nargs="?", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    if options.items < 1 or options.repeats < 1:
        parser.error("items and --repeats must both be at least 1")
    print(json.dumps(measure(options.items, options.repeats)))


if __name__ == "__main__":
    main()
