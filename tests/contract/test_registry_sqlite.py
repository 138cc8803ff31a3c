"""Configured objects, optimizer runs, dataset pages and evaluations on SQLite."""

import shutil

import pytest
from tests.contract.registry_contract import (
    DatasetPagesContract,
    ObjectRepositoryContract,
    OptimizerRunContract,
)

from burnish.app.wiring import Workspace


@pytest.fixture
async def workspace(sqlite_template, tmp_path):
    path = shutil.copy(sqlite_template, tmp_path / "burnish.db")
    async with Workspace.open(str(path)) as opened:
        yield opened


class TestObjects(ObjectRepositoryContract):
    pass


class TestOptimizerRuns(OptimizerRunContract):
    pass


class TestDatasetPages(DatasetPagesContract):
    pass
