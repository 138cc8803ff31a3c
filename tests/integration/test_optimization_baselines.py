"""A model that is away while the baseline runs: `resume` makes up for it in the same optimization."""

import asyncio
import contextlib
import sqlite3
from dataclasses import replace

import pytest
from optimization_world import CONCURRENCY, Climber, World, agent_of, fingerprint, run, suite

import burnish
from burnish.app.optimize.optimizations import Optimization
from burnish.app.wiring import Workspace
from burnish.config.search import SearchSpec
from burnish.domain import OptimizationStatus, UnavailableError
from burnish.optimization.step_runner import BaselineFailed


class Counting(Climber):
    def __init__(self):
        self.initialised = 0

    def initialize(self, context):
        self.initialised += 1
        return super().initialize(context)


async def run_while_down(world, *, answers=0, optimizer=None, instead=None):
    """Start or resume with a model that goes away after so many answers."""
    agent = agent_of(world)

    async def sometimes(configuration, item):
        if len(world.calls()) < answers:
            return await agent.run(configuration, item)
        if instead is not None:
            return await instead()
        raise UnavailableError(what="the model", why="is down", fix="start it")

    async with Workspace.open(world.db) as workspace:
        optimization = Optimization(
            workspace,
            replace(agent, run=sometimes),
            suite(),
            SearchSpec(optimizer=optimizer or Climber(), seed=5),
            burnish.Budget(max_trials=12),
        )
        if world.optimization_id is None:
            world.id_file.write_text((await optimization.create()).id)
        await optimization.run(world.optimization_id)


async def stored(world):
    async with Workspace.open(world.db) as workspace:
        optimizations = workspace.optimizations
        record = await optimizations.get_optimization(world.optimization_id)
        [baseline, *_] = await optimizations.list_trials(world.optimization_id)
        return record, baseline


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    return fingerprint(asyncio.run(run(World(tmp_path_factory.mktemp("calm")))))


@pytest.mark.parametrize("answers", [0, 4, 9])
async def test_resume_runs_what_the_baseline_lacks_and_goes_on(answers, expected, tmp_path):
    world, optimizer = World(tmp_path), Counting()
    with pytest.raises(BaselineFailed, match="`burnish resume` then runs what the baseline lacks"):
        await run_while_down(world, answers=answers, optimizer=optimizer)
    record, failed = await stored(world)
    assert record.status is OptimizationStatus.FAILED
    assert optimizer.initialised == 0
    before = world.calls()

    result = await run(world, optimizer=optimizer)

    record, baseline = await stored(world)
    assert fingerprint(result) == expected
    assert optimizer.initialised == 1
    assert baseline.experiment_id == failed.experiment_id
    assert (baseline.error, record.framework_error) == (None, None)
    # What had been answered was not asked again, but for what was in flight at the end.
    assert len(before) == answers
    assert len(world.calls()) - len(set(world.calls())) < CONCURRENCY


async def test_a_baseline_that_fails_again_fails_as_before(tmp_path):
    world, optimizer = World(tmp_path), Counting()
    for _ in range(3):
        with pytest.raises(BaselineFailed, match="is down"):
            await run_while_down(world, optimizer=optimizer)

    record, baseline = await stored(world)
    assert record.status is OptimizationStatus.FAILED
    assert record.framework_error["code"] == "baseline_failed"
    assert baseline.objective_score is None
    assert optimizer.initialised == 0


async def test_a_retry_that_is_interrupted_leaves_no_failed_item_behind(expected, tmp_path):
    world = World(tmp_path)
    with pytest.raises(BaselineFailed):
        await run_while_down(world)
    task = asyncio.create_task(run_while_down(world, answers=7, instead=asyncio.Event().wait))
    while len(world.calls()) < 7:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    result = await run(world)

    assert fingerprint(result) == expected


async def test_watchers_hear_that_the_baseline_runs_again_and_how_it_ends(tmp_path):
    world = World(tmp_path)
    for _ in range(2):
        with pytest.raises(BaselineFailed):
            await run_while_down(world)
    await run(world)

    async with Workspace.open(world.db) as workspace:
        events = await workspace.optimizations.list_events(world.optimization_id)
    told = [one.payload["status"] for one in events if one.payload.get("number") == 0]
    assert told == ["running", "failed", "running", "failed", "running", "completed"]


async def test_a_baseline_that_is_gone_is_run_anew(expected, tmp_path):
    world = World(tmp_path)
    with pytest.raises(BaselineFailed):
        await run_while_down(world, answers=4)
    with contextlib.closing(sqlite3.connect(world.db)) as connection, connection:
        connection.execute("pragma foreign_keys = on")
        connection.execute("delete from experiments")

    result = await run(world)

    assert fingerprint(result) == expected
