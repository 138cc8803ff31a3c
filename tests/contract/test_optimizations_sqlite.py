"""Optimizations and overlays on SQLite: the contracts."""

import asyncio
import shutil

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
from burnish.testing.memory_experiments import MemoryExperimentRepository  # noqa: E402
from burnish.testing.optimization_contract import (  # noqa: E402
    LeaseContract,
    OptimizationRepositoryContract,
    OverlayStoreContract,
)
from burnish.testing.optimization_database_contract import (  # noqa: E402
    OptimizationDatabaseContract,
)
from burnish.testing.run_results_contract import RunResultsContract  # noqa: E402


@pytest.fixture(scope="session")
def template(tmp_path_factory):
    path = tmp_path_factory.mktemp("template") / "burnish.db"

    async def make():
        await (await Database.open(path)).close()

    asyncio.run(make())
    return path


@pytest.fixture
async def database(template, tmp_path):
    path = shutil.copy(template, tmp_path / "burnish.db")
    async with await Database.open(path) as opened:
        yield opened


@pytest.fixture
def address(tmp_path):
    return str(tmp_path / "some" / "folder" / "burnish.db")


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


class TestRunResultsInMemory(RunResultsContract):
    @pytest.fixture
    def experiments(self):
        return MemoryExperimentRepository()


class TestDatabase(OptimizationDatabaseContract):
    pass
