"""Configured objects, optimizer runs, dataset pages and evaluations on a real PostgreSQL."""

import pytest

from burnish.app.wiring import Workspace
from burnish.testing.dataset_pages_contract import DatasetPagesContract
from burnish.testing.registry_contract import ObjectRepositoryContract, OptimizerRunContract


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
