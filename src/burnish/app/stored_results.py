"""Stored results for Python: evaluations, optimizations, compressions and image runs by their ids."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from burnish.app.compress.compressions import CompressionResult
from burnish.app.compress.report import read_compression
from burnish.app.evaluate.records import read_rows
from burnish.app.evaluate.result import EvaluationResult, result_of
from burnish.app.optimize.optimizations import load_result
from burnish.app.optimize.result import OptimizationResult
from burnish.app.references import LATEST, resolve_any
from burnish.app.wiring import Workspace, database_location, require_database
from burnish.config.served_project import ServedProject
from burnish.domain import Experiment, OptimizationRecord, UsageError
from burnish.domain.images.runs import ImageRun
from burnish.support.sync_calls import run_sync

StoredResult = EvaluationResult | OptimizationResult | CompressionResult | ImageRun


def load(reference: str = LATEST, *, db: str | Path | None = None) -> StoredResult:
    """The result that a call in Python, a command or a server stored, as that call returned it.

    `reference` is an id, its beginning or end, or `latest`; of an image run the whole id, and the run
    itself is what comes back. A compression that was started from
    Python is an optimization here: its settings are that program's.
    """
    return run_sync(load_async(reference, db=db))


async def load_async(reference: str = LATEST, *, db: str | Path | None = None) -> StoredResult:
    """`load` for callers that have an event loop of their own."""
    location = database_location(Path.cwd(), None if db is None else str(db))
    require_database(location)
    async with Workspace.open(location) as workspace:
        found = await _find(workspace, reference)
        if isinstance(found, ImageRun):
            return found
        if isinstance(found, Experiment):
            result = await result_of(workspace.experiments, found.id)
            return replace(result, read=partial(read_rows, location, found.id))
        return await _optimization(workspace, found)


async def _find(workspace: Workspace, reference: str) -> Experiment | OptimizationRecord | ImageRun:
    try:
        return await resolve_any(workspace, reference)
    except UsageError as error:
        if error.code != "not_found" or reference == LATEST:
            raise
        try:
            return await workspace.images.run(reference)
        except UsageError:
            raise error from None


async def _optimization(
    workspace: Workspace, record: OptimizationRecord
) -> OptimizationResult | CompressionResult:
    result = await load_result(workspace, record.id)
    project = ServedProject(Path.cwd() / "burnish.toml")
    try:
        report, _ = await read_compression(workspace, project, record.id)
    except UsageError as error:
        if error.code in ("not_a_compression", "started_from_python"):
            return result
        raise
    return CompressionResult(report=report, result=result)
