"""Agents and their versions on PostgreSQL: the contract on a real server."""

import asyncio

import pytest

pytest.register_assert_rewrite("burnish.testing.agent_contract")

from burnish.storage import Database, SqlAgentRepository  # noqa: E402
from burnish.testing.agent_contract import AgentRepositoryContract  # noqa: E402
from burnish.testing.postgres import running_postgres  # noqa: E402


@pytest.fixture(scope="session")
def server():
    with running_postgres() as running:
        yield running


@pytest.fixture(scope="session")
def template(server):
    name = server.create_database()

    async def migrate():
        await (await Database.open(server.url(name))).close()

    asyncio.run(migrate())
    return name


@pytest.fixture
async def database(server, template):
    name = server.create_database(template=template)
    async with await Database.open(server.url(name)) as opened:
        yield opened
    server.drop_database(name)


@pytest.fixture
def agents(database):
    return SqlAgentRepository(database)


class TestAgents(AgentRepositoryContract):
    pass
