"""Evaluations that are asked for now and run in the background, in any process."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from burnish.app.datasets.stored import with_stored_rows
from burnish.app.evaluate.evaluations import Evaluation, Selection
from burnish.app.optimize.chosen_settings import Choice, choose
from burnish.app.optimize.run_spec import known_models
from burnish.app.wiring import Workspace
from burnish.config.schema import Settings
from burnish.config.served_project import ServedProject
from burnish.domain import Configuration


async def create_evaluation(
    workspace: Workspace,
    project: ServedProject,
    choice: Choice,
    selection: Selection,
    *,
    name: str | None,
) -> str:
    """The id of a new experiment, which is queued for whoever is first."""
    chosen = await choose(workspace, project, choice)
    settings = await asyncio.to_thread(_with_texts, chosen.settings)
    async with evaluating(workspace, settings) as evaluation:
        experiment_id = await evaluation.create(selection, name=name)
    version, active = choice.agent_version, chosen.agent.active
    if version is None and chosen.agent.written is None and active is not None:
        version = active.version
    origin = {"agent_version": version, "overrides": dict(choice.overrides)}
    await workspace.experiments.update_experiment(experiment_id, metadata=origin)
    stored = {**settings.model_dump(), "models": known_models(settings.models)}
    await workspace.evaluation_jobs.add(experiment_id, {"settings": stored})
    return experiment_id


@contextlib.asynccontextmanager
async def evaluating(workspace: Workspace, settings: Settings) -> AsyncIterator[Evaluation]:
    """An evaluation of the settings, with everything checked before anything is paid."""
    own = workspace.beside(settings.models, saved=lambda _: None)
    try:
        settings = await with_stored_rows(workspace, settings)
        evaluation = await asyncio.to_thread(
            lambda: Evaluation(own, settings.agent_spec(), settings.suite_spec())
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
