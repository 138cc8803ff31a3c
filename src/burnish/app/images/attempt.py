"""One image run carried out by a command, or followed while another process carries it out."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from burnish.domain import BurnishError, ConflictError
from burnish.domain.image_parts import LeasedRun
from burnish.domain.images import ImageRun
from burnish.domain.jobs import Job
from burnish.jobs.lease_renewer import LEASE_SECONDS, LeaseRenewer
from burnish.optimization import ownership

if TYPE_CHECKING:
    from burnish.app.images.runs import ImageRuns, Progress

_LOOK_SECONDS = 0.5


async def execute(
    images: ImageRuns, run_id: str, progress: Progress, *, lease_seconds: float = LEASE_SECONDS
) -> ImageRun:
    """The run once it has ended, here or elsewhere."""
    owner, seen = ownership.new_owner(), -1
    while True:
        run = await images.repository.run(run_id)
        if run.revision != seen:
            progress(run)
        if run.status.ended:
            return run
        seen = run.revision
        job = await _take(images, run_id, owner, lease_seconds)
        if job is None:
            await asyncio.sleep(_LOOK_SECONDS)
            continue
        ended = await _carry_out(images, job, progress, lease_seconds)
        if ended is not None:
            return ended


async def _take(images: ImageRuns, run_id: str, owner: str, seconds: float) -> Job | None:
    """The run if nobody alive holds it."""
    holder = await images.jobs.owner(run_id)
    dead = holder if holder is not None and ownership.is_dead(holder) else None
    try:
        return await images.jobs.acquire(run_id, owner=owner, seconds=seconds, replacing=dead)
    except ConflictError:
        return None


async def _carry_out(
    images: ImageRuns, job: Job, progress: Progress, seconds: float
) -> ImageRun | None:
    """To its end; None when somebody else has taken it. Stopped, it is given back."""
    cancelled = asyncio.Event()

    async def cancel() -> None:
        cancelled.set()

    renewer = LeaseRenewer(
        renew=lambda lasting: images.jobs.renew(job.lease, seconds=lasting),
        cancel_requested=lambda: images.jobs.cancel_requested(job.lease.job_id),
        on_cancel=cancel,
        seconds=seconds,
    )

    def nudge(run_id: str) -> None:
        if run_id == job.lease.job_id:
            renewer.nudge()

    images.nudges.append(nudge)
    try:
        run = await images.repository.run(job.lease.job_id)
        leased = LeasedRun(run=run, token=job.lease.token, attempts=job.attempts)
        async with renewer:
            return await images.pipeline(progress).run(leased, cancelled=cancelled)
    except ConflictError as error:
        if error.code != "lease_lost":
            raise
        return None
    except (BurnishError, asyncio.CancelledError):
        # Its record cannot be written now, or the command ends: whoever goes on need not wait.
        with contextlib.suppress(BurnishError):
            await asyncio.shield(images.jobs.give_back(job.lease))
        raise
    finally:
        images.nudges.remove(nudge)
