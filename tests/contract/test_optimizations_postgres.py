"""Optimizations and overlays on PostgreSQL: the contracts on a real server."""

import asyncio

import pytest
from tests.contract.optimization_database_contract import (
    OptimizationDatabaseContract,
)
from tests.contract.run_results_contract import RunResultsContract

from burnish.storage import (
    Database,
    SqlDatasetRepository,
    SqlExperimentRepository,
    SqlOptimizationRepository,
    SqlOverlayStore,
)
from burnish.storage.jobs import leases
from burnish.testing.optimization_contract import (
    OptimizationRepositoryContract,
    OverlayStoreContract,
)
from burnish.testing.optimization_writes_contract import LeaseContract
from burnish.testing.samples.experiments import (
    make_experiment,
    make_result,
)
from burnish.testing.samples.optimizations import begin


@pytest.fixture
async def database(postgres_url):
    async with await Database.open(postgres_url) as opened:
        yield opened


@pytest.fixture
def address(postgres):
    name = postgres.create_database()
    yield postgres.url(name)
    postgres.drop_database(name)


@pytest.fixture
def optimizations(database):
    return SqlOptimizationRepository(database)


@pytest.fixture
def experiments(database):
    return SqlExperimentRepository(database)


@pytest.fixture
def datasets(database):
    return SqlDatasetRepository(database)


@pytest.fixture
def overlays(database):
    return SqlOverlayStore(database)


class TestOptimizations(OptimizationRepositoryContract):
    pass


class TestLeases(LeaseContract):
    pass


class TestOverlays(OverlayStoreContract):
    pass


class TestRunResults(RunResultsContract):
    pass


class TestDatabase(OptimizationDatabaseContract):
    pass


async def test_a_new_owner_waits_for_the_old_ones_writes_that_are_under_way(
    database, optimizations
):
    lease = await begin(optimizations)
    inside, go_on = asyncio.Event(), asyncio.Event()

    async def write_slowly(connection):
        await leases.share(connection, lease)
        inside.set()
        await go_on.wait()

    writing = asyncio.ensure_future(database.write(write_slowly))
    await inside.wait()
    taking = asyncio.ensure_future(
        optimizations.acquire_lease("o1", owner="b", seconds=60, replacing=lease.owner)
    )
    finished, _ = await asyncio.wait({taking}, timeout=0.3)
    go_on.set()
    await writing

    assert not finished
    assert (await taking).token == lease.token + 1


async def test_experiments_of_one_optimization_are_written_side_by_side(
    database, optimizations, experiments
):
    lease = await begin(optimizations)
    await experiments.create_experiment(make_experiment())
    inside, go_on = asyncio.Event(), asyncio.Event()

    async def write_slowly(connection):
        await leases.share(connection, lease)
        inside.set()
        await go_on.wait()

    writing = asyncio.ensure_future(database.write(write_slowly))
    await inside.wait()
    async with asyncio.timeout(600):
        await experiments.save_results("e1", [make_result()], lease=lease)
    go_on.set()
    await writing
