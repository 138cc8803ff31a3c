"""What servers read and queue, on SQLite."""

import asyncio
import shutil

import pytest

pytest.register_assert_rewrite(
    "tests.contract.job_queue_contract",
    "burnish.testing.serving_contract",
    "burnish.testing.insights_contract",
)

from tests.contract.job_queue_contract import (  # noqa: E402
    EvaluationQueueContract,
    JobQueueContract,
    RunQueueContract,
)

from burnish.app.wiring import Workspace  # noqa: E402
from burnish.storage import Database  # noqa: E402
from burnish.testing.insights_contract import (  # noqa: E402
    RunInsightsContract,
    TextSearchContract,
)
from burnish.testing.serving_contract import (  # noqa: E402
    EventFeedContract,
    OptimizationPagesContract,
)


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
