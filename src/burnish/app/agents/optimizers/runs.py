"""Runs of configured optimizers: started by a person or a schedule, never two at once."""

from __future__ import annotations

import contextlib
import uuid
from dataclasses import replace
from typing import Literal

from burnish.app.agents.optimizers.configs import OptimizerConfigs, read_config, request_of
from burnish.app.datasets.suites import SuiteRegistry
from burnish.app.optimize import cancellation
from burnish.app.optimize.creation import create_run
from burnish.app.wiring import Workspace
from burnish.config.search import draw_seed
from burnish.config.served_project import ServedProject
from burnish.domain import BurnishError, ConflictError, OptimizationStatus
from burnish.domain.registry import ObjectVersion, OptimizerRun

RunState = Literal["pending", "running", "succeeded", "failed", "stopped"]
RUN_STATES: dict[OptimizationStatus, RunState] = {
    OptimizationStatus.INITIALIZED: "pending",
    OptimizationStatus.RUNNING: "running",
    OptimizationStatus.COMPLETED: "succeeded",
    OptimizationStatus.FAILED: "failed",
    OptimizationStatus.CANCELLED: "stopped",
}


async def start_run(
    workspace: Workspace,
    project: ServedProject,
    optimizer: ObjectVersion,
    *,
    due_at: str | None = None,
) -> str | None:
    """The id of a new run, queued for whoever is first; None when the due time has a run already.

    ConflictError `already_running` while another one has not ended.
    """
    running = await workspace.optimizer_runs.running([optimizer.id])
    if not running and (run_id := await _begin(workspace, project, optimizer, due_at)):
        return run_id
    if running and due_at is None:
        other = running[optimizer.id]
        raise ConflictError(
            what=f"the optimizer {optimizer.name!r} was not started",
            why=f"its run {other} has not ended, and there are never two at once",
            fix=f"wait for it, or cancel it with POST /v1/private/optimizations/{other}/cancel",
            code="already_running",
        )
    return None


async def _begin(
    workspace: Workspace, project: ServedProject, optimizer: ObjectVersion, due_at: str | None
) -> str | None:
    config = read_config(optimizer.document)
    base = await OptimizerConfigs(workspace, project).base_version(config)
    suite = await SuiteRegistry(workspace, project).get(config.suite_id)
    run_id = await _create(workspace, project, optimizer, base, due_at)
    run = OptimizerRun(
        id=run_id,
        optimizer_id=optimizer.id,
        agent_name=config.agent_name,
        optimizer_name=config.name,
        optimizer_version=optimizer.version,
        base_config_version=base,
        suite_id=suite.id,
        suite_version=suite.version,
        due_at=due_at,
        settled=not config.auto_promote,
    )
    try:
        return run_id if await workspace.optimizer_runs.begin(run) else None
    except ConflictError:
        # Somebody was quicker: nothing of this one is to look as if it waited.
        with contextlib.suppress(BurnishError):
            await cancellation.cancel_optimization(workspace, run_id, patience_seconds=1.0)
        raise


async def _create(
    workspace: Workspace,
    project: ServedProject,
    optimizer: ObjectVersion,
    base: int,
    due_at: str | None,
) -> str:
    """A scheduled run's id follows from its time: whoever else makes it makes the same one."""
    request = request_of(read_config(optimizer.document), base)
    if request.seed is None:  # that of burnish.toml is for the runs of that file
        request = replace(request, seed=draw_seed())
    if due_at is None:
        return await create_run(workspace, project, request)
    run_id = str(uuid.uuid5(uuid.UUID(optimizer.id), due_at))
    try:
        return await create_run(workspace, project, request, optimization_id=run_id)
    except ConflictError as error:
        if error.code != "conflict":
            raise
        return run_id
