"""Executor for queued image runs, all under one bound on model calls.

What is taken is as many runs as the bound has places for and more, so that there is always a call
to make while another run writes or decodes.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Self

from burnish.app.images.runs import ImageRuns
from burnish.app.wiring import Workspace
from burnish.domain import BurnishError, ConflictError
from burnish.domain.images.protocols import LeasedRun
from burnish.domain.images.runs import ImageRunStatus
from burnish.domain.jobs import Job
from burnish.jobs.executor import ExecutorSettings, JobExecutor

_RUNS_A_CALL = 2


class ImageRunner:
    """Runs the stages that an image run still lacks."""

    noun = "image run"
    id_name = "run_id"

    def __init__(self, images: ImageRuns) -> None:
        self._images = images

    async def run(self, job: Job, cancelled: asyncio.Event) -> None:
        """To its end, from where an earlier attempt left it."""
        ended = await self._images.pipeline().run(await self._leased(job), cancelled=cancelled)
        if ended is None:
            raise ConflictError(
                what=f"the image run {job.lease.job_id} is not gone on with here",
                why="its lease has moved to another owner",
                fix=f"let that one go on; `burnish image show {job.lease.job_id}` tells how far it is",
                code="lease_lost",
            )

    async def renewed(self, job: Job, number: int) -> None:
        """Nobody needs to be told."""

    async def fail(self, job: Job, error: BurnishError) -> None:
        """Say on the run why it failed, unless it has ended."""
        leased = await self._leased(job)
        if leased.run.status.ended:
            return
        failed = replace(leased.run, status=ImageRunStatus.FAILED, error=error.to_json())
        self._images.tell(await self._images.repository.save_run(failed, token=leased.token))

    async def give_back(self, job: Job) -> None:
        """A run that is stopped stays as it is stored."""

    async def _leased(self, job: Job) -> LeasedRun:
        run = await self._images.repository.run(job.lease.job_id)
        return LeasedRun(run=run, token=job.lease.token, attempts=job.attempts)


class ImageExecutor(JobExecutor):
    """Runs the image runs of a workspace; without settings, twice as many as calls may be made."""

    def __init__(
        self, workspace: Workspace, images: ImageRuns, settings: ExecutorSettings | None = None
    ) -> None:
        if settings is None:
            settings = ExecutorSettings()
        if settings.max_jobs is None:
            settings = replace(settings, max_jobs=images.calls.limit * _RUNS_A_CALL)
        super().__init__(workspace.image_jobs, ImageRunner(images), settings)
        self._images = images
        images.nudges.append(self.nudge)

    async def __aenter__(self) -> Self:
        # Before anybody asks for anything: loading takes the processor from whoever waits then.
        table = self._images.models.settings.table
        await self._images.models.load(table.image_model, table.judge_model)
        return await super().__aenter__()
