"""Optimizations and overlays on SQLite: the contracts."""

import shutil

import pytest
from tests.contract.optimization_database_contract import (
    OptimizationDatabaseContract,
)
from tests.contract.run_results_contract import RunResultsContract
from tests.support.memory_experiments import MemoryExperimentRepository

from burnish.storage import (
    Database,
    SqlDatasetRepository,
    SqlExperimentRepository,
    SqlOptimizationRepository,
    SqlOverlayStore,
)
from burnish.testing.optimization_contract import (
    OptimizationRepositoryContract,
    OverlayStoreContract,
)
from burnish.testing.optimization_writes_contract import LeaseContract


@pytest.fixture
async def database(sqlite_template, tmp_path):
    path = shutil.copy(sqlite_template, tmp_path / "burnish.db")
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
