"""Writes an optimization of many trials straight through the repositories. Prints JSON."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path

from burnish.app.wiring import Workspace
from burnish.domain import (
    Candidate,
    Configuration,
    Event,
    Experiment,
    ExperimentStatus,
    ExperimentType,
    Lease,
    OptimizationRecord,
    OptimizationStatus,
    Rejection,
    StepCandidate,
    TrialResult,
    TrialSummary,
)
from burnish.optimization import events

IDENTITY = "01990000-0000-7000-8000-000000000001"
PROMPT = "You are a careful router of support tickets. Read the ticket to its end. " * 10
ITEMS, STEP = 50, 20
CHECKPOINT = {"version": 1, "state": {"algorithm_data": {"weights": [0.1] * 200}}, "pending": []}
RECORD = OptimizationRecord(
    id=IDENTITY,
    name="edits of router",
    status=OptimizationStatus.INITIALIZED,
    objective_name="exact_match",
    agent_name="router",
    suite_name="tickets",
    optimizer_name="edits",
    dataset_id=None,
    seed=7,
)


def candidate_of(number: int) -> Candidate:
    """A binary tree of them under the baseline."""
    parent = f"{IDENTITY}-{(number - 1) // 2}"
    return Candidate(
        id=f"{IDENTITY}-{number}",
        optimization_id=IDENTITY,
        number=number,
        step_index=(number + 1).bit_length() - 1,
        configuration=Configuration.of(
            {
                "sections": {"system": f"{PROMPT}Variant {number}.", "user": "{{ticket}}"},
                "parameters": {"temperature": 0.0},
            }
        ),
        parent_candidate_ids=(parent,) if number else (),
        rationale="reworded the third line of the system section",
        mask_id=f"opt-{IDENTITY}-{number}",
    )


def trial_of(number: int, experiment_id: str, *, done: bool) -> TrialResult:
    passed = number % (ITEMS + 1) if done else 0
    return TrialResult(
        optimization_id=IDENTITY,
        candidate_id=f"{IDENTITY}-{number}",
        mask_id=f"opt-{IDENTITY}-{number}",
        experiment_id=experiment_id,
        status=ExperimentStatus.COMPLETED if done else ExperimentStatus.RUNNING,
        objective_score=passed / ITEMS if done else None,
        summary=TrialSummary(
            total_items=ITEMS if done else 0,
            passed_items=passed,
            failed_items=ITEMS - passed if done else 0,
            pass_rate=passed / ITEMS,
            total_cost=0.0123,
            avg_latency_ms=12.3,
            avg_ttft_ms=None,
        ),
    )


async def write_step(workspace: Workspace, lease: Lease, numbers: range) -> None:
    ids = {number: f"01990000-0000-7000-8001-{number:012d}" for number in numbers}
    planned = [StepCandidate(candidate=candidate_of(n), experiment_id=ids[n]) for n in numbers]
    rejection = Rejection(
        step_index=numbers.start,
        proposed_index=STEP,
        reason_code="duplicate",
        message="the same configuration was already run on the same items",
        configuration_hash="0" * 64,
    )
    optimizations = workspace.optimizations
    await optimizations.save_step(
        lease, candidates=planned, rejections=[rejection], checkpoint=CHECKPOINT
    )
    for number, one in zip(numbers, planned, strict=True):
        await workspace.experiments.create_experiment(experiment_of(one))
        running = trial_of(number, ids[number], done=False)
        ended = trial_of(number, ids[number], done=True)
        told = [events.trial_changed(trial, number) for trial in (running, ended)]
        await optimizations.save_trial(lease, ended, events=told)
    best = f"{IDENTITY}-{numbers.start}"
    await optimizations.save_checkpoint(
        lease, CHECKPOINT, best_candidate_id=best, best_score=1.0, events=[progress(numbers.stop)]
    )


def experiment_of(one: StepCandidate) -> Experiment:
    return Experiment(
        id=one.experiment_id,
        name=f"router {one.candidate.id}",
        type=ExperimentType.TRIAL,
        status=ExperimentStatus.COMPLETED,
        agent_name="router",
        configuration=one.candidate.configuration,
        suite_name="tickets",
        dataset_id=None,
        planned_items=ITEMS,
        optimization_id=IDENTITY,
    )


def progress(number: int) -> Event:
    done = {"proposed": number, "completed": number, "evaluations": number * ITEMS}
    return events.progress_changed({**done, "running": 0, "failed": 0, "rejected": number // STEP})


async def write(path: str, trials: int) -> None:
    async with Workspace.open(path) as workspace:
        await workspace.optimizations.create_optimization(RECORD)
        lease = await workspace.optimizations.acquire_lease(IDENTITY, owner="bench", seconds=600)
        for start in range(0, trials + 1, STEP):
            await write_step(workspace, lease, range(start, min(start + STEP, trials + 1)))
        await workspace.optimizations.release_lease(lease)


def main() -> None:
    path, started = sys.argv[1], time.perf_counter()
    asyncio.run(write(path, int(sys.argv[2])))
    seconds = time.perf_counter() - started
    print(json.dumps({"id": IDENTITY, "seconds": seconds, "bytes": Path(path).stat().st_size}))


main()
