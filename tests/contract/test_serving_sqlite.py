"""What servers read and queue, on SQLite."""

import asyncio
import shutil

import pytest
from tests.contract.insights_contract import (
    RunInsightsContract,
    TextSearchContract,
)
from tests.contract.job_queue_contract import (
    EvaluationQueueContract,
    JobQueueContract,
    RunQueueContract,
)
from tests.contract.serving_contract import (
    EventFeedContract,
    OptimizationPagesContract,
)

from burnish.app.wiring import Workspace
from burnish.storage import Database


@pytest.fixture(scope="session")
def template(tmp_path_factory):
    path = tmp_path_factory.mktemp("template") / "burnish.db"

    async def make():
        await (await Database.open(path)).close()

    asyncio.run(make())
    return path


@pytest.fixture
async def workspace(template, tmp_path):
    path = shutil.copy(template, tmp_path / "burnish.db")
    async with Workspace.open(str(path)) as opened:
        yield opened


class TestJobQueues(JobQueueContract):
    pass


class TestRunQueue(RunQueueContract):
    pass


class TestEvaluationQueue(EvaluationQueueContract):
    pass


class TestPages(OptimizationPagesContract):
    pass


class TestEventFeed(EventFeedContract):
    pass


class TestInsights(RunInsightsContract):
    pass


class TestTextSearch(TextSearchContract):
    pass
