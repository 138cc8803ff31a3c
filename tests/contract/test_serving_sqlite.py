"""What servers read and queue, on SQLite."""

import asyncio
import shutil

import pytest

pytest.register_assert_rewrite(
    "burnish.testing.serving_contract", "burnish.testing.insights_contract"
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
    RunQueueContract,
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


class TestRunQueue(RunQueueContract):
    pass


class TestPages(OptimizationPagesContract):
    pass


class TestEventFeed(EventFeedContract):
    pass


class TestInsights(RunInsightsContract):
    pass


class TestTextSearch(TextSearchContract):
    pass
