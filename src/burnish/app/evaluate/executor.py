"""Executor for queued evaluations."""

from __future__ import annotations

import asyncio

from burnish.app.evaluate.queued import evaluating, queued_settings
from burnish.app.wiring import Workspace
from burnish.config.served_project import ServedProject
from burnish.domain import BurnishError, ExperimentStatus
from burnish.domain.jobs import Job
from burnish.jobs.executor import ExecutorSettings, JobExecutor


class EvaluationRunner:
    """Runs what an evaluation still lacks: results that were saved are not asked for again."""

    noun = "evaluation"

    def __init__(self, workspace: Workspace, project: ServedProject) -> None:
        self._workspace = workspace
        self._project = project

    async def run(self, job: Job, cancelled: asyncio.Event) -> None:
        """To its end, with items that failed in an earlier attempt tried again."""
        settings = queued_settings(job.spec or {}, self._project.folder)
        settings = settings.reaching(self._project.urls)
        await asyncio.to_thread(self._project.require_own, settings)
        async with evaluating(self._workspace, settings) as evaluation:
            await evaluation.resume(
                job.lease.job_id,
                retry_errors=job.attempts > 1,
                lease=job.lease,
                cancelled=cancelled,
            )

    async def renewed(self, job: Job, number: int) -> None:
        """Nobody needs to be told."""

    async def fail(self, job: Job, error: BurnishError) -> None:
        """Say on the experiment why it failed."""
        await self._workspace.experiments.update_experiment(
            job.lease.job_id,
            status=ExperimentStatus.FAILED,
            metadata={"error": error.to_json()},
            lease=job.lease,
        )

    async def give_back(self, job: Job) -> None:
        """The runner calls it cancelled when it is stopped, but it goes on elsewhere."""
        await self._workspace.experiments.update_experiment(
            job.lease.job_id, status=ExperimentStatus.PENDING, lease=job.lease
        )


class EvaluationExecutor(JobExecutor):
    """Runs the evaluations of a workspace."""

    def __init__(
        self,
        workspace: Workspace,
        project: ServedProject,
        settings: ExecutorSettings | None = None,
    ) -> None:
        super().__init__(workspace.evaluation_jobs, EvaluationRunner(workspace, project), settings)
