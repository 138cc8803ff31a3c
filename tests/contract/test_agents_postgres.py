"""Agents and their versions on PostgreSQL: the contract on a real server."""

import pytest
from tests.contract.agent_contract import AgentRepositoryContract

from burnish.storage import Database, SqlAgentRepository


@pytest.fixture
async def database(postgres_url):
    async with await Database.open(postgres_url) as opened:
        yield opened


@pytest.fixture
def agents(database):
    return SqlAgentRepository(database)


class TestAgents(AgentRepositoryContract):
    pass
