"""Stopping an optimization from outside, also one that nobody works on any more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from burnish.app.wiring import Workspace
from burnish.domain import (
    Clock,
    ConflictError,
    ExperimentStatus,
    ExperimentType,
    Lease,
    OptimizationRecord,
    OptimizationStatus,
    StopReason,
    SystemClock,
    TrialResult,
)
from burnish.jobs import ownership
from burnish.optimization import events
from burnish.optimization.experiments.masks import NAMESPACE

_LEASE_SECONDS = 10.0
_LOOK_SECONDS = 0.2


async def cancel_optimization(
    workspace: Workspace,
    optimization_id: str,
    *,
    patience_seconds: float = 8.0,
    clock: Clock | None = None,
) -> OptimizationRecord:
    """Ask for the end and wait for it a while. The record says how far it came.

    Asking twice is the same as once, and what has ended stays as it is. Where nobody works on the
    optimization, it is ended here. An owner that does not answer in time still finds the request.
    """
    clock = clock or SystemClock()
    repository = workspace.optimizations
    record = await repository.get_optimization(optimization_id)
    if record.status.final:
        return record
    await repository.request_cancel(optimization_id)
    deadline = clock.monotonic() + patience_seconds
    while not record.status.final and clock.monotonic() < deadline:
        lease = await _lease_if_free(workspace, record)
        if lease is not None:
            await _end(workspace, lease, record)
        else:
            await clock.sleep(_LOOK_SECONDS)
        record = await repository.get_optimization(optimization_id)
    if record.status.final:
        await workspace.run_jobs.remove(optimization_id)
    return record


async def _lease_if_free(workspace: Workspace, record: OptimizationRecord) -> Lease | None:
    dead = record.lease_owner
    if dead is not None and not ownership.is_dead(dead):
        dead = None
    try:
        return await workspace.optimizations.acquire_lease(
            record.id, owner=ownership.new_owner(), seconds=_LEASE_SECONDS, replacing=dead
        )
    except ConflictError:
        return None


async def _end(workspace: Workspace, lease: Lease, record: OptimizationRecord) -> None:
    repository = workspace.optimizations
    try:
        # It may have ended while the lease changed hands.
        now = await repository.get_optimization(record.id)
        if now.status.final:
            return
        await _end_trials(workspace, lease)
        for tag in await workspace.overlays.list_tags(
            NAMESPACE, record.agent_name, prefix=f"opt-{record.id}-"
        ):
            await workspace.overlays.delete(NAMESPACE, record.agent_name, tag, lease=lease)
        status, reason = OptimizationStatus.CANCELLED, StopReason.CANCELLED.value
        await repository.save_status(
            lease,
            status,
            stop_reason=reason,
            events=[
                events.status_changed(status, attempt=lease.token),
                events.run_finished(status, reason, attempt=lease.token),
            ],
        )
    finally:
        await repository.release_lease(lease)


async def _end_trials(workspace: Workspace, lease: Lease) -> None:
    """Nothing of a cancelled run goes on looking as if it ran."""
    repository = workspace.optimizations
    numbers = {one.id: one.number for one in await repository.list_candidates(lease.job_id)}
    trials: Sequence[TrialResult] = await repository.list_trials(lease.job_id, mini_batches=True)
    statuses = {
        one.experiment_id: one.status
        for one in trials
        if one.type is ExperimentType.TRIAL and numbers[one.candidate_id]
    }
    checkpoint = (await repository.get_optimization(lease.job_id)).checkpoint or {}
    counters = {name: checkpoint.get(name, 0) for name in ("proposed", "rejected")}
    for trial in trials:
        if trial.status.final:
            continue
        ended = replace(trial, status=ExperimentStatus.CANCELLED, error="cancelled")
        event = events.trial_changed(ended, numbers[trial.candidate_id])
        if trial.experiment_id in statuses:
            statuses[trial.experiment_id] = ended.status
        counted = {**counters, **events.tally(statuses.values())}
        told = [event, events.progress_changed(counted)]
        await repository.save_trial(lease, ended, events=told)
        await workspace.experiments.update_experiment(
            trial.experiment_id, status=ExperimentStatus.CANCELLED, lease=lease
        )
