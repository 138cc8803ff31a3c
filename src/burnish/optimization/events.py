"""Events of an optimization, each with the key that makes it one event however often it is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from burnish.domain import Event, EventType, ExperimentStatus, OptimizationStatus, TrialResult


def status_changed(status: OptimizationStatus, *, attempt: int) -> Event:
    """The run's status moved; `attempt` is the lease's token, one for each start and resume."""
    return Event(
        type=EventType.RUN_STATUS_CHANGED,
        key=f"status:{attempt}:{status.value}",
        payload={"status": status.value},
    )


def tally(statuses: Iterable[ExperimentStatus]) -> dict[str, int]:
    """Trials by how they stand, as events and snapshots count them: without the baseline."""
    number = Counter(statuses)
    return {
        "running": number[ExperimentStatus.PENDING] + number[ExperimentStatus.RUNNING],
        "completed": number[ExperimentStatus.COMPLETED],
        "pruned": number[ExperimentStatus.PRUNED],
        "failed": number[ExperimentStatus.FAILED] + number[ExperimentStatus.TIMEOUT],
        "cancelled": number[ExperimentStatus.CANCELLED],
    }


def progress_changed(counters: Mapping[str, int]) -> Event:
    """Counters moved."""
    key = ":".join(str(counters[name]) for name in sorted(counters))
    return Event(type=EventType.PROGRESS_CHANGED, key=f"progress:{key}", payload=dict(counters))


def heartbeat(counters: Mapping[str, Any], *, attempt: int, number: int) -> Event:
    """Nothing moved for a while, but the run is alive."""
    return Event(
        type=EventType.PROGRESS_CHANGED,
        key=f"heartbeat:{attempt}:{number}",
        payload={**counters, "heartbeat": number},
    )


def trial_changed(trial: TrialResult, number: int, *, again: int | None = None) -> Event:
    """A trial was made or ended; `again` is the attempt that runs it once more."""
    attempt = "" if again is None else f":{again}"
    return Event(
        type=EventType.TRIAL_ADDED_OR_UPDATED,
        key=f"trial:{trial.experiment_id}:{trial.status.value}{attempt}",
        payload={
            "candidate_id": trial.candidate_id,
            "experiment_id": trial.experiment_id,
            "number": number,
            "type": trial.type.value,
            "status": trial.status.value,
            "score": trial.objective_score,
        },
    )


def best_changed(candidate_id: str, score: float, *, times: int = 1) -> Event:
    """There is a new best; by some objectives one can be it again, so it counts how often."""
    again = f":{times}" if times > 1 else ""
    return Event(
        type=EventType.BEST_CANDIDATE_CHANGED,
        key=f"best:{candidate_id}{again}",
        payload={"candidate_id": candidate_id, "score": score},
    )


def run_finished(status: OptimizationStatus, stop_reason: str | None, *, attempt: int) -> Event:
    """The run will not go on by itself."""
    return Event(
        type=EventType.RUN_FINISHED,
        key=f"finished:{attempt}",
        payload={"status": status.value, "stop_reason": stop_reason},
    )
