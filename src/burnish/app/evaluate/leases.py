"""Leases of evaluations: one owner at a time, and an end that others may ask for."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, Literal

from burnish.app.wiring import Workspace
from burnish.domain import (
    BurnishError,
    Clock,
    ConflictError,
    Experiment,
    ExperimentStatus,
    Lease,
    SystemClock,
)
from burnish.jobs import ownership
from burnish.jobs.lease_renewer import LEASE_SECONDS, LeaseRenewer

_LOOK_SECONDS = 0.2
_DONE = {"cancel": "cancelled", "resume": "resumed"}


@contextlib.asynccontextmanager
async def leased_evaluation(
    workspace: Workspace, experiment_id: str
) -> AsyncIterator[tuple[Lease, asyncio.Event]]:
    """The lease while the context lasts, and an event that is set when somebody asks for the end."""
    jobs = workspace.evaluation_jobs
    dead = await _dead_owner(workspace, experiment_id)
    await jobs.register(experiment_id, dead_owner=dead)
    job = await jobs.acquire(
        experiment_id, owner=ownership.new_owner(), seconds=LEASE_SECONDS, replacing=dead
    )
    cancelled = asyncio.Event()

    async def cancel() -> None:
        cancelled.set()

    try:
        async with LeaseRenewer(
            renew=lambda seconds: jobs.renew(job.lease, seconds=seconds),
            cancel_requested=lambda: jobs.cancel_requested(experiment_id),
            on_cancel=cancel,
        ):
            yield job.lease, cancelled
    finally:
        with contextlib.suppress(BurnishError):
            await asyncio.shield(jobs.finish(job.lease))


async def until_cancelled(run: Coroutine[Any, Any, object], cancelled: asyncio.Event) -> None:
    """Run it to its end, or break it off when `cancelled` is set: then it leaves itself cancelled."""
    work = asyncio.ensure_future(run)
    asked = asyncio.ensure_future(cancelled.wait())
    try:
        await asyncio.wait({work, asked}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
        if not work.cancelled():
            work.result()
    finally:
        work.cancel()
        asked.cancel()
        await asyncio.gather(work, asked, return_exceptions=True)


async def cancel_evaluation(
    workspace: Workspace,
    experiment_id: str,
    *,
    patience_seconds: float = 8.0,
    clock: Clock | None = None,
    nudge: Callable[[str], None] | None = None,
) -> Experiment:
    """Ask for the end and wait for it a while; the experiment says how far it came.

    Asking twice is the same as once, and what has ended stays as it is. One that nobody runs ends here.
    `nudge` tells an executor of this process, which need not look for the wish then.
    """
    clock = clock or SystemClock()
    experiment = await workspace.experiments.get_experiment(experiment_id)
    require_standalone(experiment, "cancel")
    if experiment.status.final:
        return experiment
    # Older versions ran evaluations without a lease: such a one is leased from now on.
    await workspace.evaluation_jobs.register(experiment_id)
    dead = await _dead_owner(workspace, experiment_id)
    await workspace.evaluation_jobs.request_cancel(experiment_id, dead_owner=dead)
    if nudge is not None:
        nudge(experiment_id)
    deadline = clock.monotonic() + patience_seconds
    while True:
        experiment = await workspace.experiments.get_experiment(experiment_id)
        if experiment.status.final or clock.monotonic() >= deadline:
            return experiment
        await clock.sleep(_LOOK_SECONDS)


async def resume_evaluation(workspace: Workspace, experiment_id: str) -> None:
    """Queue an evaluation again that was cancelled or failed; one that waits or runs just goes on."""
    experiment = await workspace.experiments.get_experiment(experiment_id)
    require_standalone(experiment, "resume")
    jobs = workspace.evaluation_jobs
    if not experiment.status.final and await jobs.is_waiting(experiment_id):
        return
    if experiment.status is ExperimentStatus.COMPLETED:
        raise ConflictError(
            what=f"evaluation {experiment_id} cannot go on",
            why="it has come to its end",
            fix="start a new one; results that are there are reused",
            code="completed",
        )
    if experiment.limit_reached is not None:
        raise ConflictError(
            what=f"evaluation {experiment_id} cannot go on",
            why=experiment.limit_reached,
            fix="start a new one with a larger budget; results that are there are reused",
            code="budget",
        )
    if not await jobs.queue_again(experiment_id):
        raise ConflictError(
            what=f"evaluation {experiment_id} cannot go on here",
            why="it was started by a command or an older version, and its settings were not kept",
            fix=f"run `burnish resume {experiment_id}` where it was started, or start a new one",
            code="settings_not_kept",
        )


def was_cancelled(experiment_id: str) -> ConflictError:
    """What the command that ran it says when somebody else ended it."""
    return ConflictError(
        what=f"evaluation {experiment_id} did not come to its end",
        why="it was cancelled",
        fix=f"`burnish resume {experiment_id}` goes on with it",
        code="cancelled",
    )


def require_standalone(experiment: Experiment, action: Literal["cancel", "resume"]) -> None:
    """Trials begin and end with their optimization."""
    if experiment.optimization_id is not None:
        raise ConflictError(
            what=f"evaluation {experiment.id} cannot be {_DONE[action]} by itself",
            why=f"it is part of optimization {experiment.optimization_id}",
            fix=f"{action} that: `burnish {action} {experiment.optimization_id}`",
            code="part_of_optimization",
        )


async def evaluation_state(workspace: Workspace, experiment: Experiment) -> str:
    """The status as people read it: an evaluation that nobody works on any more does not run."""
    if experiment.status is not ExperimentStatus.RUNNING:
        return experiment.status.value
    owner = await workspace.evaluation_jobs.owner(experiment.id)
    left = owner is None or ownership.is_dead(owner)
    return "interrupted" if left else experiment.status.value


async def _dead_owner(workspace: Workspace, experiment_id: str) -> str | None:
    owner = await workspace.evaluation_jobs.owner(experiment_id)
    return owner if owner is not None and ownership.is_dead(owner) else None
