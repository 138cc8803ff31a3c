"""Queued evaluations: created from a request, and run by an executor in any process."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from burnish.app.datasets.stored import with_stored_rows
from burnish.app.evaluate.baselines import LOOKS, Baseline, compared_with, outcomes_of
from burnish.app.evaluate.evaluations import Evaluation, Selection
from burnish.app.evaluate.leases import until_cancelled
from burnish.app.evaluate.reruns import told_apart
from burnish.app.evaluate.result import EvaluationResult, result_of
from burnish.app.optimize.creation import Choice, choose
from burnish.app.optimize.run_spec import known_models
from burnish.app.references import resolve
from burnish.app.wiring import Workspace
from burnish.config.schema import Settings
from burnish.config.served_project import ServedProject
from burnish.domain import Budget, BurnishError, Configuration, ExperimentStatus, UsageError
from burnish.domain.jobs import Job
from burnish.jobs.executor import ExecutorSettings, JobExecutor


async def create_evaluation(
    workspace: Workspace,
    project: ServedProject,
    choice: Choice,
    selection: Selection,
    *,
    name: str | None,
    budget: Budget | None = None,
    failing_of: str | None = None,
    baseline: str | None = None,
    reruns: int = 0,
) -> str:
    """The id of a new experiment, which is queued for whoever is first.

    `failing_of` and `baseline` are references to evaluations: only what failed in the former is run,
    and the result is compared with the latter once it is there. `reruns` are at most so many further
    runs of an item that passed with the baseline and fails now.
    """
    if reruns and baseline is None:
        raise UsageError(
            what="the evaluation was not started",
            why="it has reruns and no baseline, and only what passed there is run again",
            fix="name a baseline, or leave reruns out",
            code="no_baseline",
        )
    chosen = await choose(workspace, project, choice)
    settings = await asyncio.to_thread(_with_texts, chosen.settings)
    against = None
    if baseline is not None:
        named = await resolve(workspace.experiments, baseline)
        against = await outcomes_of(workspace.experiments, named.id)
    async with evaluating(workspace, settings, against) as evaluation:
        if failing_of is not None:
            selection = await evaluation.only_failing(selection, failing_of)
        if against is not None:
            suite, chosen_items = evaluation.suite, selection.items
            against.require_items(
                await asyncio.to_thread(lambda: {one.id for one in chosen_items(suite)})
            )
        experiment_id = await evaluation.create(selection, name=name, budget=budget)
    version, active = choice.agent_version, chosen.agent.active
    if version is None and chosen.agent.written is None and active is not None:
        version = active.version
    compared = None if against is None else against.id
    origin = {
        "agent_version": version,
        "overrides": dict(choice.overrides),
        "baseline": compared,
    }
    await workspace.experiments.update_experiment(experiment_id, metadata=origin)
    stored = {**settings.model_dump(), "models": known_models(settings.models)}
    limits = {} if budget is None else budget.to_json()
    spec = {"settings": stored, "budget": limits, "baseline": compared, "reruns": reruns}
    await workspace.evaluation_jobs.add(experiment_id, spec)
    return experiment_id


async def read_evaluation(workspace: Workspace, experiment_id: str) -> EvaluationResult:
    """What came out so far, with the comparison that was asked for once it was made."""
    result = await result_of(workspace.experiments, experiment_id)
    known = result.experiment.metadata
    if known.get("baseline") not in (known.get(LOOKS) or {}):
        return result
    baseline = await outcomes_of(workspace.experiments, known["baseline"])
    return await compared_with(workspace.experiments, result, baseline)


@contextlib.asynccontextmanager
async def evaluating(
    workspace: Workspace, settings: Settings, baseline: Baseline | None = None
) -> AsyncIterator[Evaluation]:
    """An evaluation of the settings, with everything checked before anything is paid."""
    own = workspace.beside(settings.models, saved=lambda _: None)
    try:
        settings = await with_stored_rows(workspace, settings)
        outputs = None if baseline is None else baseline.stored_outputs
        evaluation = await asyncio.to_thread(
            lambda: Evaluation(own, settings.agent_spec(), settings.suite_spec(), baseline=outputs)
        )
        try:
            yield evaluation
        finally:
            await evaluation.close()
    finally:
        await own.models.close()


def queued_settings(spec: Mapping[str, Any], folder: Path) -> Settings:
    """The settings that an evaluation was asked for with."""
    return Settings.model_validate(spec["settings"]).placed_in(folder)


def _with_texts(settings: Settings) -> Settings:
    """The texts of section files as they are now: what runs later is what was asked for."""
    configuration = Configuration.of(settings.agent_spec().configuration)
    agent = settings.agent.model_copy(update=configuration.to_json())
    return settings.model_copy(update={"agent": agent}).placed_in(settings.folder)


class EvaluationRunner:
    """Runs what an evaluation still lacks: results that were saved are not asked for again."""

    noun = "evaluation"
    id_name = "experiment_id"

    def __init__(self, workspace: Workspace, project: ServedProject) -> None:
        self._workspace = workspace
        self._project = project

    async def run(self, job: Job, cancelled: asyncio.Event) -> None:
        """To its end, with items that failed in an earlier attempt tried again."""
        spec, workspace = job.spec or {}, self._workspace
        settings = queued_settings(spec, self._project.folder)
        settings = settings.reaching(self._project.urls)
        await asyncio.to_thread(self._project.require_own, settings)
        baseline = None
        if spec.get("baseline"):
            baseline = await outcomes_of(workspace.experiments, spec["baseline"])
        async with evaluating(workspace, settings, baseline) as evaluation:
            result = await evaluation.resume(
                job.lease.job_id,
                retry_errors=True,
                lease=job.lease,
                cancelled=cancelled,
                budget=Budget(**(spec.get("budget") or {})),
            )
            if baseline is None or result.experiment.status is not ExperimentStatus.COMPLETED:
                return
            reruns = spec.get("reruns") or 0
            compared = told_apart(workspace, evaluation, result, baseline, reruns=reruns)
            await until_cancelled(compared, cancelled)

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
