"""What servers read and queue, and how they hear of events, on a real PostgreSQL."""

import asyncio

import pytest
from psycopg import sql
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
from burnish.storage import database_listener
from burnish.testing.samples.optimizations import begin, make_event


@pytest.fixture
def location(postgres_url):
    return postgres_url


@pytest.fixture
async def workspace(location):
    async with Workspace.open(location) as opened:
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


@pytest.mark.parametrize("identity", ["o1", "with 'quotes' and \x00 é"])
async def test_the_listener_hears_when_events_are_committed_and_not_before(
    workspace, location, identity
):
    listener = database_listener(location)
    notifications = listener.notifications()
    async with asyncio.timeout(600):
        assert await anext(notifications) is None
        lease = await begin(workspace.optimizations, identity=identity)
        await workspace.optimizations.append_events(lease, [make_event("k")])
        heard = await anext(notifications)
    await notifications.aclose()

    assert heard == identity


async def test_the_listener_goes_on_after_its_connection_was_cut(postgres, workspace, location):
    listener = database_listener(location)
    notifications = listener.notifications()
    async with asyncio.timeout(600):
        assert await anext(notifications) is None
        postgres.execute(
            sql.SQL(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE application_name = 'burnish events'"
            )
        )
        assert await anext(notifications) is None
        lease = await begin(workspace.optimizations)
        await workspace.optimizations.append_events(lease, [make_event("k")])
        assert await anext(notifications) == "o1"
    await notifications.aclose()


def test_sqlite_has_no_listener(tmp_path):
    assert database_listener(str(tmp_path / "x.db")) is None
