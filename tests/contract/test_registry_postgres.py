"""Configured objects, optimizer runs, dataset pages and evaluations on a real PostgreSQL."""

import pytest

from burnish.bootstrap.workspace import Workspace
from burnish.testing.dataset_pages_contract import DatasetPagesContract, EvaluationQueueContract
from burnish.testing.registry_contract import ObjectRepositoryContract, OptimizerRunContract


@pytest.fixture
async def workspace(postgres, postgres_template):
    name = postgres.create_database(template=postgres_template)
    async with Workspace.open(postgres.url(name)) as opened:
        yield opened
    postgres.drop_database(name)


class TestObjects(ObjectRepositoryContract):
    pass


class TestOptimizerRuns(OptimizerRunContract):
    pass


class TestDatasetPages(DatasetPagesContract):
    pass


class TestEvaluationQueue(EvaluationQueueContract):
    pass
