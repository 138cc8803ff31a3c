"""The sync doors of the Python API."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

from burnish.bootstrap.evaluation_result import EvaluationResult
from burnish.bootstrap.evaluations import Evaluation, Selection
from burnish.bootstrap.specs import AgentSpec, SuiteSpec
from burnish.bootstrap.workspace import Workspace, database_location
from burnish.domain import UsageError
from burnish.evaluation.progress import Progress

T = TypeVar("T")


def evaluate(
    agent: AgentSpec,
    suite: SuiteSpec,
    *,
    split: str | None = None,
    limit: int | None = None,
    name: str | None = None,
    db: str | Path | None = None,
    progress: Progress | None = None,
) -> EvaluationResult:
    """Run an agent over a suite and keep every result in the database.

    `db` is a path or URL; without it the results go to `.burnish/burnish.db` below the current
    folder. Results that are already there for the same agent, configuration and item are reused.
    """
    return _run(
        evaluate_async(agent, suite, split=split, limit=limit, name=name, db=db, progress=progress)
    )


async def evaluate_async(
    agent: AgentSpec,
    suite: SuiteSpec,
    *,
    split: str | None = None,
    limit: int | None = None,
    name: str | None = None,
    db: str | Path | None = None,
    progress: Progress | None = None,
) -> EvaluationResult:
    """`evaluate` for callers that have an event loop of their own."""
    location = database_location(Path.cwd(), None if db is None else str(db))
    async with Workspace.open(location) as workspace:
        evaluation = Evaluation(workspace, agent, suite)
        try:
            return await evaluation.run(
                Selection(split=split, limit=limit), name=name, progress=progress
            )
        finally:
            await evaluation.close()


def _run(work: Coroutine[Any, Any, T]) -> T:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    work.close()
    raise UsageError(
        what="the sync call cannot be used here",
        why="an event loop is already running, as in a notebook or an async function",
        fix="await burnish.evaluate_async(…) instead",
        code="running_loop",
    )
