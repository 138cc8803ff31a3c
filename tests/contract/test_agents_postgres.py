"""Agents and their versions on PostgreSQL: the contract on a real server."""

import pytest

from burnish.storage import Database, SqlAgentRepository
from burnish.testing.agent_contract import AgentRepositoryContract


@pytest.fixture
async def database(postgres, postgres_template):
    name = postgres.create_database(template=postgres_template)
    async with await Database.open(postgres.url(name)) as opened:
        yield opened
    postgres.drop_database(name)


@pytest.fixture
def agents(database):
    return SqlAgentRepository(database)


class TestAgents(AgentRepositoryContract):
    pass
