"""Plain optimizations, candidates, trials, rejections and events for tests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from burnish.domain import (
    Candidate,
    Configuration,
    Event,
    EventType,
    ExperimentStatus,
    ExperimentType,
    Lease,
    OptimizationRecord,
    OptimizationRepository,
    OptimizationStatus,
    Rejection,
    StepCandidate,
    TrialResult,
    TrialSummary,
)


def make_record(identity: str = "o1", **changes: Any) -> OptimizationRecord:
    """A plain optimization that has not begun."""
    plain = OptimizationRecord(
        id=identity,
        name="an optimization",
        status=OptimizationStatus.INITIALIZED,
        objective_name="accuracy",
        agent_name="router",
        suite_name="suite",
        optimizer_name="edits",
        dataset_id=None,
        seed=7,
    )
    return replace(plain, **changes)


def make_candidate(number: int = 0, optimization_id: str = "o1", **changes: Any) -> Candidate:
    """A plain candidate, child of the baseline unless it is the baseline."""
    plain = Candidate(
        id=f"{optimization_id}-{number}",
        optimization_id=optimization_id,
        number=number,
        step_index=min(number, 1),
        configuration=Configuration.of({"sections": {"system": f"Route, version {number}."}}),
        parent_candidate_ids=(f"{optimization_id}-0",) if number else (),
        mask_id=f"opt-{optimization_id}-{number}",
    )
    return replace(plain, **changes)


def make_trial(number: int = 0, optimization_id: str = "o1", **changes: Any) -> TrialResult:
    """The completed trial of `make_candidate(number)`."""
    plain = TrialResult(
        optimization_id=optimization_id,
        candidate_id=f"{optimization_id}-{number}",
        mask_id=f"opt-{optimization_id}-{number}",
        experiment_id=f"experiment {number}",
        status=ExperimentStatus.COMPLETED,
        objective_score=number / 10,
        summary=TrialSummary(
            total_items=4,
            passed_items=3,
            failed_items=1,
            pass_rate=0.75,
            total_cost=0.1,
            avg_latency_ms=1.5,
            avg_ttft_ms=None,
        ),
    )
    return replace(plain, **changes)


def make_mini_batch(number: int, experiment_id: str, **changes: Any) -> TrialResult:
    """A mini-batch of `make_candidate(number)`."""
    kind = ExperimentType.MINI_BATCH
    return make_trial(number, experiment_id=experiment_id, type=kind, **changes)


def make_rejection(index: int = 0, **changes: Any) -> Rejection:
    """A plain rejection."""
    plain = Rejection(
        step_index=1,
        proposed_index=index,
        reason_code="duplicate",
        message="it was tried before",
        configuration_hash="hash",
    )
    return replace(plain, **changes)


def make_event(key: str, **payload: Any) -> Event:
    """An event about progress."""
    return Event(type=EventType.PROGRESS_CHANGED, key=key, payload=payload)


def planned(*candidates: Candidate) -> list[StepCandidate]:
    """Candidates with an experiment each."""
    return [StepCandidate(candidate=one, experiment_id=f"e {one.id}") for one in candidates]


async def begin(
    optimizations: OptimizationRepository, candidates: int = 0, identity: str = "o1"
) -> Lease:
    """A new optimization with so many candidates, and its lease."""
    await optimizations.create_optimization(make_record(identity))
    lease = await optimizations.acquire_lease(identity, owner="owner a", seconds=60)
    if candidates:
        made = planned(*(make_candidate(number, identity) for number in range(candidates)))
        await optimizations.save_step(lease, candidates=made, rejections=[], checkpoint={})
    return lease
