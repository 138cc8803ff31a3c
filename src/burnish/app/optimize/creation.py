"""New optimizations for a queue: from a request, or as a copy of one that is stored."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from typing import Any

from burnish.app.datasets.stored import with_stored_rows
from burnish.app.optimize.chosen_settings import Choice, choose
from burnish.app.optimize.optimizations import Optimization
from burnish.app.optimize.requested_refinement import with_refinement
from burnish.app.optimize.run_spec import spec_of, stored_settings
from burnish.app.wiring import Workspace
from burnish.config.default_budget import limited
from burnish.config.schema import Settings
from burnish.config.search import SearchSpec
from burnish.config.served_project import (
    RunRequest,
    ServedProject,
    require_own_models,
    with_request,
)
from burnish.domain import ConflictError, OptimizationRecord, OptimizationStatus


async def create_run(
    workspace: Workspace,
    project: ServedProject,
    request: RunRequest,
    *,
    optimization_id: str | None = None,
) -> str:
    """The id of a new optimization, checked as the command line checks it, and not started."""
    settings = await settings_of(workspace, project, request)
    return await _create(workspace, settings, name=request.name, optimization_id=optimization_id)


async def settings_of(
    workspace: Workspace, project: ServedProject, request: RunRequest
) -> Settings:
    """The settings of the agent and suite that a request names, with the rest of the request."""
    choice = Choice(
        agent=request.agent,
        agent_version=request.agent_version,
        suite=request.suite,
        refine=request.refine,
    )
    chosen = await choose(workspace, project, choice)
    return await asyncio.to_thread(project.settings_for, request, chosen.settings)


async def duplicate_run(
    workspace: Workspace, project: ServedProject, original: OptimizationRecord, request: RunRequest
) -> str:
    """The id of a new optimization like a stored one, with what a request changes."""
    settings = await asyncio.to_thread(_like, project, original, request)
    files = original.spec.get("section_files") or {}
    return await _create(
        workspace, settings, name=request.name or f"{original.name} (copy)", section_files=files
    )


def request_of(project: ServedProject, record: OptimizationRecord) -> RunRequest:
    """The request that would start a stored optimization again."""
    settings = stored_settings(record, project.folder)
    table = dict(settings.optimizer)
    return RunRequest(
        agent=record.agent_name,
        suite=record.suite_name,
        optimizer=SearchSpec.of(table).name,
        optimizer_settings={k: v for k, v in table.items() if k not in ("name", "seed")},
        budget={k: v for k, v in settings.budget.model_dump().items() if v is not None},
        seed=record.seed,
        name=record.name,
        refine=_refine_of(settings),
    )


def _refine_of(settings: Settings) -> dict[str, Any] | None:
    table = settings.suite.refine
    if table is None:
        return None
    names = ("model", "limit", "threshold", "answer", "trials")
    return {name: getattr(table, name) for name in names}


def require_startable(project: ServedProject, record: OptimizationRecord) -> None:
    """Refuse, before it is queued, what this project could never run."""
    if record.status is OptimizationStatus.CANCELLED:
        raise ConflictError(
            what=f"optimization {record.id} cannot go on",
            why="it was cancelled",
            fix="duplicate it and start the copy; results that are there are reused",
            code="cancelled",
        )
    project.require_own(stored_settings(record, project.folder))


def _like(project: ServedProject, original: OptimizationRecord, request: RunRequest) -> Settings:
    stored = stored_settings(original, project.folder).placed_in(project.folder)
    stored = stored.reaching(project.urls)
    project.require_own(stored)
    changed = with_request(stored, request)
    if request.refine is not None:
        table = with_refinement(changed.suite, request.refine, project.settings())
        changed = changed.model_copy(update={"suite": table}).placed_in(stored.folder)
    if request.optimizer_settings or request.optimizer:
        require_own_models(request.optimizer_settings, project.settings())
    return limited(changed)[0]


async def _create(
    workspace: Workspace,
    settings: Settings,
    *,
    name: str | None,
    section_files: Mapping[str, str] | None = None,
    optimization_id: str | None = None,
) -> str:
    async with prepared(workspace, settings) as optimization:
        spec = await asyncio.to_thread(spec_of, settings, optimization)
        if section_files:
            spec["section_files"] = dict(section_files)
        return await optimization.create(name=name, spec=spec, optimization_id=optimization_id)


@contextlib.asynccontextmanager
async def prepared(workspace: Workspace, settings: Settings) -> AsyncIterator[Optimization]:
    """The optimization of the settings, with everything checked that building it checks."""
    own = workspace.beside(settings.models, saved=lambda _: None)
    try:
        settings = await with_stored_rows(workspace, settings)
        # Reads the dataset and loads the agent's code, which may take a while.
        optimization = await asyncio.to_thread(Optimization.of_settings, own, settings)
        try:
            yield optimization
        finally:
            await optimization.close()
    finally:
        await own.models.close()
