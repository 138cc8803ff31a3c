"""Configured objects, optimizer runs, dataset pages and evaluations on a real PostgreSQL."""

import pytest
from tests.contract.registry_contract import (
    DatasetPagesContract,
    ObjectRepositoryContract,
    OptimizerRunContract,
)

from burnish.app.wiring import Workspace


@pytest.fixture
async def workspace(postgres_url):
    async with Workspace.open(postgres_url) as opened:
        yield opened


class TestObjects(ObjectRepositoryContract):
    pass


class TestOptimizerRuns(OptimizerRunContract):
    pass


class TestDatasetPages(DatasetPagesContract):
    pass
