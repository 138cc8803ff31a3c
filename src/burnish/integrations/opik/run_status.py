"""How an optimization of an Opik client stands: its best, its baseline, its counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from burnish.domain import (
    Candidate,
    Event,
    Lease,
    OptimizationRepository,
    TrialResult,
)
from burnish.optimization import events


async def save_standing(
    repository: OptimizationRepository, lease: Lease, candidates: Sequence[Candidate]
) -> None:
    """Best and baseline from the trials; mini-batches never count."""
    identity = lease.job_id
    record = await repository.get_optimization(identity)
    trials = await repository.list_trials(identity, mini_batches=True)
    numbers = {one.id: one.number for one in candidates}
    scored = [one for one in trials if one.counts and one.objective_score is not None]
    best = max(scored, key=lambda one: one.objective_score or 0.0, default=None)
    baseline = next((one for one in scored if numbers[one.candidate_id] == 0), None)
    told: list[Event] = [events.progress_changed(_counters(trials))]
    if best is not None and best.objective_score is not None:
        moved = (record.best_candidate_id, record.best_score)
        if moved != (best.candidate_id, best.objective_score):
            told.append(
                events.best_changed(
                    best.candidate_id, best.objective_score, times=max(lease.token, 2)
                )
            )
    await repository.save_checkpoint(
        lease,
        {**(record.checkpoint or {}), "progress": _progress(trials)},
        best_candidate_id=None if best is None else best.candidate_id,
        best_score=None if best is None else best.objective_score,
        baseline_score=None if baseline is None else baseline.objective_score,
        events=told,
    )


def _counters(trials: Sequence[TrialResult]) -> Mapping[str, int]:
    return {
        "proposed": len(trials),
        "running": sum(not one.status.final for one in trials),
        "completed": sum(one.objective_score is not None for one in trials),
        "failed": sum(one.status.final and one.objective_score is None for one in trials),
        "rejected": 0,
        "evaluations": sum(one.summary.total_items for one in trials),
    }


def _progress(trials: Sequence[TrialResult]) -> list[list[Any]]:
    """Evaluations so far, candidate and score, at each new best."""
    found: list[list[Any]] = []
    evaluations = 0
    for one in trials:
        evaluations += one.summary.total_items
        score = one.objective_score
        if one.counts and score is not None and (not found or score > found[-1][2]):
            found.append([evaluations, one.candidate_id, score])
    return found
