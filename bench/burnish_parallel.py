"""Steps of candidates whose items only wait: how close to the ideal time. Prints JSON."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from typing import Any

import burnish
from bench.counting_optimizer import BASELINE, Counting
from burnish.optimization.step_runner import StepRunner
from burnish.storage import SqlOptimizationRepository

WAIT = 0.05


async def wait(configuration: dict, item: dict) -> str:
    await asyncio.sleep(WAIT)
    return item["label"]


class Timed(Counting):
    """Notes when its proposals were handed over and when their results came back."""

    def __init__(self) -> None:
        self.proposed: list[float] = []
        self.observed: list[float] = []

    def propose(
        self, state: burnish.OptimizerState, history: Any, max_candidates: int
    ) -> list[burnish.CandidateProposal]:
        """As it does, and the time after it."""
        proposals = super().propose(state, history, max_candidates)
        self.proposed.append(time.perf_counter())
        return proposals

    def observe(
        self, state: burnish.OptimizerState, trial_results: Sequence[burnish.TrialResult]
    ) -> burnish.OptimizerState:
        """The time before it."""
        self.observed.append(time.perf_counter())
        return super().observe(state, trial_results)


def time_the_steps() -> list[float]:
    """Seconds from the trigger of each step until its last trial is recorded."""
    seconds: list[float] = []
    recorded: list[float] = []
    run, save_trial = StepRunner.run, SqlOptimizationRepository.save_trial

    async def timed_run(*arguments: Any, **options: Any) -> Any:
        started = time.perf_counter()
        finished = await run(*arguments, **options)
        seconds.append(recorded[-1] - started)
        return finished

    async def timed_save(*arguments: Any, **options: Any) -> None:
        await save_trial(*arguments, **options)
        recorded.append(time.perf_counter())

    StepRunner.run = timed_run  # type: ignore[method-assign]
    SqlOptimizationRepository.save_trial = timed_save  # type: ignore[method-assign]
    return seconds


def main() -> None:
    candidates, items, pool, steps = (int(argument) for argument in sys.argv[1:])
    spans, optimizer = time_the_steps(), Timed()
    result = burnish.optimize(
        burnish.Agent(
            name="waiting",
            configuration={"sections": {"system": BASELINE}},
            run=wait,
            concurrency=pool,
        ),
        burnish.Suite(
            dataset=[{"question": f"item {n}", "label": str(n)} for n in range(items)],
            scorers=[{"kind": "exact_match", "field": "label"}],
        ),
        optimizer,
        burnish.Budget(max_trials=candidates * steps),
        candidates_per_step=candidates,
        seed=0,
        db="run.db",
    )
    assert len(result.trials) == 1 + candidates * steps, len(result.trials)
    assert all(trial.summary.passed_items == items for trial in result.trials)
    assert len(spans) == 1 + steps, spans  # The first is the baseline's.
    handed_over = zip(optimizer.proposed, optimizer.observed, strict=True)
    print(
        json.dumps(
            {
                "recorded_seconds": spans[1:],
                "observed_seconds": [end - start for start, end in handed_over],
            }
        )
    )


main()
