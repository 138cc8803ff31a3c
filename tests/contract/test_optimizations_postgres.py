"""Optimizations and overlays on PostgreSQL: the contracts on a real server."""

import asyncio

import pytest

pytest.register_assert_rewrite(
    "burnish.testing.lease_contract",
    "burnish.testing.optimization_contract",
    "burnish.testing.optimization_database_contract",
    "burnish.testing.overlay_contract",
    "burnish.testing.repository_contract",
    "burnish.testing.run_results_contract",
)

from burnish.storage import (  # noqa: E402
    Database,
    SqlDatasetRepository,
    SqlExperimentRepository,
    SqlOptimizationRepository,
    SqlOverlayStore,
)
from burnish.testing.optimization_contract import (  # noqa: E402
    LeaseContract,
    OptimizationRepositoryContract,
    OverlayStoreContract,
)
from burnish.testing.optimization_database_contract import (  # noqa: E402
    OptimizationDatabaseContract,
)
from burnish.testing.postgres import running_postgres  # noqa: E402
from burnish.testing.run_results_contract import RunResultsContract  # noqa: E402


@pytest.fixture(scope="session")
def server():
    with running_postgres() as running:
        yield running


@pytest.fixture(scope="session")
def template(server):
    name = server.create_database()

    async def migrate():
        await (await Database.open(server.url(name))).close()

    asyncio.run(migrate())
    return name


@pytest.fixture
async def database(server, template):
    name = server.create_database(template=template)
    async with await Database.open(server.url(name)) as opened:
        yield opened
    server.drop_database(name)


@pytest.fixture
def address(server):
    name = server.create_database()
    yield server.url(name)
    server.drop_database(name)


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
