"""An executor that is frozen for longer than its lease: another does the work, and it is done once."""

import asyncio
import hashlib
import json
import os
import signal

import pytest
from sqlalchemy import select
from tests.integration.frozen_world import (
    CHILD,
    ENDING,
    GIVING_BACK,
    ITEMS,
    WORKING,
    executing,
    make_project,
    queue_job,
)
from tests.support.child_processes import children, line

from burnish.app.wiring import Workspace
from burnish.domain import ExperimentStatus, OptimizationStatus
from burnish.domain.images.runs import ImageRunStatus
from burnish.domain.jobs import JobKind
from burnish.jobs.executor import ExecutorSettings
from burnish.storage import Database
from burnish.storage.experiments.tables import metadata

DEADLINE = 600.0
KINDS = pytest.mark.parametrize("kind", list(JobKind))


@pytest.fixture
def project(tmp_path):
    return make_project(tmp_path / "project")


def stopped(child):
    """Wait until it has stopped itself; its errors when it ended instead."""
    _, status = os.waitpid(child.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status), child.stderr.read()


async def stored(database, folder):
    """Every row of every table, and every file of pictures."""

    async def read(connection):
        return {
            name: sorted(repr(tuple(row)) for row in await connection.execute(select(table)))
            for name, table in metadata.tables.items()
        }

    opened = await Database.open(database)
    try:
        rows = await opened.read(read)
    finally:
        await opened.close()
    files = [one for one in folder.rglob("images/**/*") if one.is_file()]
    return rows, {str(one): hashlib.sha256(one.read_bytes()).hexdigest() for one in files}


async def ended(workspace, kind, identity):
    """Whether it has come to its end, and waits no more."""
    if kind is JobKind.OPTIMIZATION:
        record = await workspace.optimizations.get_optimization(identity)
        done, waiting = record.status is OptimizationStatus.COMPLETED, workspace.run_jobs
    elif kind is JobKind.EVALUATION:
        found = await workspace.experiments.get_experiment(identity)
        done, waiting = found.status is ExperimentStatus.COMPLETED, workspace.evaluation_jobs
    else:
        run = await workspace.images.run(identity)
        done, waiting = run.status is ImageRunStatus.COMPLETED, workspace.image_jobs
    return done and not await waiting.waiting()


async def take_over(database, kind, folder, identity):
    """Execute it to its end, once the lease of the other has run out."""
    settings = ExecutorSettings(lease_seconds=60.0, look_seconds=0.05)
    async with (
        Workspace.open(database) as workspace,
        executing(workspace, kind, database, folder, settings) as (executor, _),
        executor,
        asyncio.timeout(DEADLINE),
    ):
        while executor.active or not await ended(workspace, kind, identity):
            await asyncio.sleep(0.02)


async def made(database, kind, folder):
    async with Workspace.open(database) as workspace:
        return await queue_job(workspace, kind, folder)


async def results(database, kind, identity):
    """How many results there are of each trial or of the evaluation, or the pictures committed."""
    async with Workspace.open(database) as workspace:
        if kind is JobKind.IMAGE_RUN:
            return [one.commit_id for one in (await workspace.images.commits("p1")).items]
        found = [identity]
        if kind is JobKind.OPTIMIZATION:
            trials = await workspace.optimizations.list_trials(identity)
            found = [one.experiment_id for one in trials]
        streams = [workspace.experiments.stream_results(one) for one in found]
        return [len([one.item_id async for one in stream]) for stream in streams]


def freeze_and_replace(database, kind, folder, moment):
    """What the child said, with what was stored before it was woken and after it had ended."""
    identity = asyncio.run(made(database, kind, folder))
    with children(CHILD, [(kind.value, database, str(folder), moment)]) as [child]:
        stopped(child)
        asyncio.run(take_over(database, kind, folder, identity))
        before = asyncio.run(stored(database, folder))
        if moment == GIVING_BACK:
            child.send_signal(signal.SIGTERM)
        child.send_signal(signal.SIGCONT)
        said = json.loads(line(child))
        assert child.wait(DEADLINE) == 0
    return identity, said, before, asyncio.run(stored(database, folder))


def check(database, kind, moment, outcome):
    identity, said, before, after = outcome
    assert after == before
    stopped_by = [one for one in said if " stopped: " in one]
    if moment == GIVING_BACK:
        assert stopped_by or said[-1].endswith(" is given back"), said
    else:
        assert [one for one in stopped_by if "lease" in one or "ended meanwhile" in one], said
    assert not any(one.endswith(" has ended") for one in said), said
    counts = asyncio.run(results(database, kind, identity))
    if kind is JobKind.EVALUATION:
        assert counts == [ITEMS]
    elif kind is JobKind.IMAGE_RUN:
        assert len(set(counts)) == len(counts) == 3
        assert len(after[1]) == 3
    else:
        assert len(counts) >= 3, counts
        assert all(counts), counts


@KINDS
@pytest.mark.parametrize("moment", [WORKING, ENDING, GIVING_BACK])
def test_an_executor_that_wakes_after_its_lease_changes_nothing(project, kind, moment):
    database = str(project / "burnish.db")

    outcome = freeze_and_replace(database, kind, project, moment)

    check(database, kind, moment, outcome)


@KINDS
def test_the_same_on_postgresql_where_it_was_about_to_end_the_job(project, postgres_url, kind):
    outcome = freeze_and_replace(postgres_url, kind, project, ENDING)

    check(postgres_url, kind, ENDING, outcome)
