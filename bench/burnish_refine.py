"""Items that are refined in rounds whose calls only wait. Prints JSON."""

from __future__ import annotations

import json
import re
import resource
import sys
import time
from typing import Any

import burnish
from burnish.domain import ModelRequest
from burnish.evaluation.runner import ExperimentRunner
from burnish.models.scripted import ScriptedModel

_DRAFT = re.compile(r"draft (\d+) v(\d+)")


def _draft(request: ModelRequest) -> tuple[int, int]:
    found = _DRAFT.search(request.messages[-1].content)
    assert found is not None
    return int(found[1]), int(found[2])


def write(request: ModelRequest) -> str:
    """The model under test."""
    return f"draft {request.messages[-1].content.split()[-1]} v0"


def refine(request: ModelRequest) -> str:
    """The optimizer."""
    number, version = _draft(request)
    return f"draft {number} v{version + 1} " + "of some length " * 60


def judge(request: ModelRequest) -> str:
    """Never content, so that every output takes all of its rounds."""
    _, version = _draft(request)
    return json.dumps({"score": 0.1, "reason": f"version {version} lacks a date", "pass": False})


def time_the_items() -> list[float]:
    """Seconds until the last result is saved, without reading rows and computing statistics."""
    seconds: list[float] = []
    evaluate = ExperimentRunner.evaluate

    async def timed(*arguments: Any, **options: Any) -> None:
        started = time.perf_counter()
        await evaluate(*arguments, **options)
        seconds.append(time.perf_counter() - started)

    ExperimentRunner.evaluate = timed  # type: ignore[method-assign]
    return seconds


def main() -> None:
    items, rounds, pool = (int(argument) for argument in sys.argv[1:4])
    wait = float(sys.argv[4])
    evaluate(10, 1, pool, 0.0)  # What is loaded and made once.
    spans, cpu = time_the_items(), time.process_time()
    started = time.perf_counter()
    result = evaluate(items, rounds, pool, wait)
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    found = result.refinement
    assert found is not None
    assert found.rounds == items * rounds, found
    print(
        json.dumps(
            {
                "items_seconds": spans[0],
                "call_seconds": seconds,
                "cpu_seconds": cpu,
                "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            }
        )
    )


def evaluate(items: int, rounds: int, pool: int, wait: float) -> burnish.EvaluationResult:
    """One evaluation; with another wait nothing of an earlier one is used again."""

    def model(answer: Any, name: str) -> ScriptedModel:
        return ScriptedModel(answer, name=f"scripted/{name}-{wait}", latency_seconds=wait)

    return burnish.evaluate(
        burnish.Agent(
            name="writer",
            configuration={"sections": {"system": "Write.", "user": "number {{number}}"}},
            model=model(write, "under-test"),
            concurrency=pool,
        ),
        burnish.Suite(
            dataset=[{"number": str(n)} for n in range(items)],
            scorers=[
                {"kind": "judge", "model": model(judge, "judge"), "criteria": "Names a date."}
            ],
            refine={"model": model(refine, "optimizer"), "limit": rounds},
        ),
        db="run.db",
    )


main()
