"""Models and databases that are away in the middle of a search: no candidate is blamed for it."""

import asyncio
import sqlite3
import threading
from dataclasses import replace
from functools import partial

import pytest
from optimization_world import Climber, World, agent_of, fingerprint, run, suite

import burnish
from burnish.app.optimize.optimizations import Optimization
from burnish.app.wiring import Workspace
from burnish.config.search import SearchSpec
from burnish.domain import ExperimentStatus, OptimizationStatus, UnavailableError
from burnish.storage import Database


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    return fingerprint(asyncio.run(run(World(tmp_path_factory.mktemp("calm")))))


async def run_with(world, answer, **search):
    """Start or resume the world's run with another agent; the record as it then stands."""
    async with Workspace.open(world.db) as workspace:
        optimization = Optimization(
            workspace,
            replace(agent_of(world), run=answer),
            suite(),
            SearchSpec(optimizer=Climber(), seed=5, **search),
            burnish.Budget(max_trials=12),
        )
        if world.optimization_id is None:
            world.remember((await optimization.create()).id)
        try:
            await optimization.run(world.optimization_id)
        except UnavailableError as error:
            return error, await workspace.optimizations.get_optimization(world.optimization_id)
        finally:
            await optimization.close()
    raise AssertionError("it was to stop")


def away_from(world, number):
    """The world's agent, whose model is away from that call on."""
    honest = agent_of(world).run

    async def answer(configuration, item):
        if len(world.calls()) >= number:
            raise UnavailableError(what="the model", why="503", fix="wait")
        return await honest(configuration, item)

    return answer


# The baseline takes 20 calls, twelve trials 240, the confirmation 24.
@pytest.mark.parametrize("calls", [20, 31, 77, 111, 140, 203, 259, 261, 270, 283])
async def test_an_outage_spends_no_trial_and_resume_ends_as_if_there_had_been_none(
    calls, expected, tmp_path
):
    world = World(tmp_path)

    error, record = await run_with(world, away_from(world, calls))

    assert (error.exit_code, error.code) == (4, "endpoint_unavailable")
    assert record.status is OptimizationStatus.FAILED
    assert record.framework_error["retryable"]
    async with Workspace.open(world.db) as workspace:
        trials = await workspace.optimizations.list_trials(record.id)
    assert not [one for one in trials if one.status is ExperimentStatus.FAILED]
    assert fingerprint(await run(world)) == expected


async def test_an_outage_that_ends_in_time_changes_nothing(expected, tmp_path):
    world, refused = World(tmp_path, outage_seconds=60), []

    async def flaky():
        if len(world.calls()) > 100 and len(refused) < 16:
            refused.append(1)
            raise UnavailableError(what="the model", why="503", fix="wait")

    world.on_call = flaky

    result = await run(world)

    assert len(refused) == 16
    assert fingerprint(result) == expected


async def test_a_key_that_is_refused_in_mid_run_is_no_candidates_fault(expected, tmp_path):
    world = World(tmp_path)
    honest = agent_of(world).run

    async def answer(configuration, item):
        if len(world.calls()) >= 100:
            raise burnish.UsageError(what="w", why="401", fix="f", code="bad_key")
        return await honest(configuration, item)

    with pytest.raises(burnish.UsageError, match="401"):
        await run_with(world, answer)

    assert fingerprint(await run(world)) == expected


@pytest.mark.parametrize("calls", [5, 25, 60, 110, 150, 200, 230, 259, 265, 280])
async def test_a_database_that_is_locked_too_long_ends_the_run_and_resume_goes_on(
    calls, expected, tmp_path, monkeypatch
):
    """Whatever is written next fails, its end included: it used to run for ever."""
    world = World(tmp_path)
    honest, free, started = agent_of(world).run, threading.Event(), []

    def lock():
        other = sqlite3.connect(world.db, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        locked.set()
        free.wait(120)
        other.execute("ROLLBACK")
        other.close()

    locked, holder = threading.Event(), threading.Thread(target=lock, daemon=True)

    async def answer(configuration, item):
        if len(world.calls()) >= calls and not started:
            started.append(holder.start())
            await asyncio.to_thread(locked.wait, 60)
        return await honest(configuration, item)

    with monkeypatch.context() as patience:
        patience.setattr(Database, "open", partial(Database.open, patience_seconds=0.2))
        try:
            error, _ = await asyncio.wait_for(run_with(world, answer), 300)
        finally:
            free.set()
            holder.join(60)

    assert (error.exit_code, error.code) == (4, "database_unavailable")
    assert fingerprint(await run(world)) == expected
