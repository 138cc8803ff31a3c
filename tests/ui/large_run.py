"""A run of thousands of trials, written with the storage's own means as a run would write it."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncConnection
from tests.ui.project_files import first_prompt

from burnish.app.wiring import Workspace
from burnish.domain import (
    Candidate,
    Configuration,
    Event,
    EventType,
    Experiment,
    ExperimentStatus,
    ExperimentType,
    OptimizationRecord,
    OptimizationStatus,
    Rejection,
    Spending,
    StepCandidate,
    TrialResult,
    TrialSummary,
)
from burnish.optimization.search_plan import candidate_id
from burnish.storage import Database
from burnish.storage.experiments.repository import experiment_row
from burnish.storage.experiments.tables import experiments
from burnish.storage.optimizations.rows import trial_values
from burnish.storage.optimizations.tables import trials
from burnish.support.ids import new_id

_ITEMS = 60
_EDITS = (
    "named the labels",
    "moved the rule up",
    "dropped a line",
    "asked for one step",
    "shorter",
)
_STATUSES = (
    *[ExperimentStatus.COMPLETED] * 16,
    *[ExperimentStatus.PRUNED] * 3,
    ExperimentStatus.FAILED,
)


def add_large_run(database: Path, count: int) -> str:
    """The id of a finished run with so many trials."""
    return asyncio.run(_add(database, count))


async def _add(database: Path, count: int) -> str:
    identity = new_id()
    draw = random.Random(count)
    async with Workspace.open(str(database)) as workspace:
        await workspace.optimizations.create_optimization(_record(identity))
        lease = await workspace.optimizations.acquire_lease(identity, owner="world", seconds=600)
        family = _family(identity, count, draw)
        results = [_trial(one, draw) for one in family]
        await workspace.optimizations.save_step(
            lease,
            candidates=[
                StepCandidate(candidate=one, experiment_id=made.experiment_id)
                for one, made in zip(family, results, strict=True)
            ],
            rejections=[_rejection(number, draw) for number in range(count // 20)],
            checkpoint={},
            events=[
                Event(type=EventType.RUN_STATUS_CHANGED, key="s", payload={"status": "running"})
            ],
        )
        await _save(database, identity, family, results)
        best = max((one for one in results if one.counts), key=lambda one: one.objective_score or 0)
        await workspace.optimizations.save_checkpoint(
            lease,
            {},
            best_candidate_id=best.candidate_id,
            best_score=best.objective_score,
            baseline_score=results[0].objective_score,
        )
        await workspace.optimizations.save_status(
            lease,
            OptimizationStatus.COMPLETED,
            stop_reason="budget",
            result=_result(identity, family, results, best),
            events=[
                Event(
                    type=EventType.RUN_FINISHED,
                    key="f",
                    payload={"status": "completed", "stop_reason": "budget"},
                )
            ],
        )
        await workspace.optimizations.release_lease(lease)
    return identity


async def _save(
    path: Path, identity: str, family: list[Candidate], results: list[TrialResult]
) -> None:
    """What the repositories would write one by one, in one transaction, which takes a tenth."""
    async with await Database.open(path) as database:
        rows = [
            experiment_row(_experiment(one, made), database.stamp())
            for one, made in zip(family, results, strict=True)
        ]

        ran = [
            {**trial_values(identity, made), "number": one.number}
            for one, made in zip(family, results, strict=True)
        ]

        async def work(connection: AsyncConnection) -> None:
            await connection.execute(insert(experiments), rows)
            await connection.execute(insert(trials), ran)

        await database.write(work)


def _record(identity: str) -> OptimizationRecord:
    return OptimizationRecord(
        id=identity,
        name="Ten thousand trials",
        status=OptimizationStatus.INITIALIZED,
        objective_name="score",
        agent_name="support",
        suite_name="tickets",
        optimizer_name="random",
        dataset_id=None,
        seed=1,
    )


def _family(identity: str, count: int, draw: random.Random) -> list[Candidate]:
    """Each comes from one that stands a little before it, so that there are long lines."""
    family: list[Candidate] = []
    for number in range(count + 1):
        parents = () if not number else (family[max(0, number - 1 - int(draw.expovariate(0.02)))],)
        edit = draw.choice(_EDITS)
        text = first_prompt() if not number else f"{first_prompt()}\n- {edit}, variant {number}"
        family.append(
            Candidate(
                id=candidate_id(identity, number),
                optimization_id=identity,
                number=number,
                step_index=max((one.step_index for one in parents), default=-1) + 1,
                configuration=Configuration.of(
                    {"sections": {"system": text, "user": "{{message}}"}}
                ),
                parent_candidate_ids=tuple(one.id for one in parents),
                rationale=edit if number else "the configuration as it was given",
                mask_id=f"opt-{number}",
            )
        )
    return family


def _trial(candidate: Candidate, draw: random.Random) -> TrialResult:
    status = ExperimentStatus.COMPLETED if not candidate.number else draw.choice(_STATUSES)
    rate = min(max(0.35 + 0.05 * candidate.number**0.25 + draw.gauss(0, 0.06), 0.0), 1.0)
    passed = round(rate * _ITEMS)
    failed = status is ExperimentStatus.FAILED
    tokens = 120 + draw.random() * 80
    return TrialResult(
        optimization_id=candidate.optimization_id,
        candidate_id=candidate.id,
        mask_id=candidate.mask_id,
        experiment_id=f"{candidate.id}-experiment",
        status=status,
        objective_score=None if failed else passed / _ITEMS,
        summary=TrialSummary(
            total_items=_ITEMS,
            passed_items=0 if failed else passed,
            failed_items=_ITEMS if failed else _ITEMS - passed,
            pass_rate=0.0 if failed else passed / _ITEMS,
            total_cost=tokens * _ITEMS * 2e-7,
            avg_latency_ms=200 + draw.random() * 300,
            avg_ttft_ms=None,
            avg_tokens=tokens,
            avg_cost_usd=tokens * 2e-7,
        ),
        error="the model did not answer in time" if failed else None,
    )


def _experiment(candidate: Candidate, trial: TrialResult) -> Experiment:
    return Experiment(
        id=trial.experiment_id,
        name=f"trial {candidate.number}",
        type=ExperimentType.TRIAL,
        status=trial.status,
        agent_name="support",
        configuration=candidate.configuration,
        suite_name="tickets",
        dataset_id=None,
        planned_items=_ITEMS,
        optimization_id=candidate.optimization_id,
    )


def _rejection(number: int, draw: random.Random) -> Rejection:
    code = draw.choice(("duplicate", "placeholder_dropped", "section_too_long"))
    return Rejection(
        step_index=1 + number,
        proposed_index=0,
        reason_code=code,
        message=f"{code.replace('_', ' ')} in the section system",
        configuration_hash=f"{number:064x}",
    )


def _result(
    identity: str, family: list[Candidate], results: list[TrialResult], best: TrialResult
) -> dict[str, Any]:
    winner = next(one for one in family if one.id == best.candidate_id)
    progress, leading = [], -1.0
    for number, one in enumerate(results):
        if one.counts and (one.objective_score or 0) > leading:
            leading = one.objective_score or 0
            progress.append(
                {
                    "evaluations": (number + 1) * _ITEMS,
                    "best_candidate_id": one.candidate_id,
                    "best_score": leading,
                }
            )
    return {
        "optimization_id": identity,
        "status": "completed",
        "stop_reason": "budget",
        "stop_message": "the budget's max_trials is reached",
        "baseline": {"candidate_id": family[0].id, "score": results[0].objective_score},
        "best": {
            "candidate_id": winner.id,
            "score": best.objective_score,
            "configuration": winner.configuration.to_json(),
        },
        "improved": True,
        "why_not_improved": None,
        "test": None,
        "improvement": None,
        "confirmation": "not confirmed: it is made up",
        "objective": None,
        "trials": len(family) - 1,
        "evaluations": len(family) * _ITEMS,
        "rejections": (len(family) - 1) // 20,
        "progress": progress,
        "usage": Spending().to_json(),
    }
