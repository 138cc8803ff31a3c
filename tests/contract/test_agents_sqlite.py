"""Agents and their versions on SQLite."""

import shutil

import pytest
from tests.contract.agent_contract import AgentRepositoryContract, configuration

from burnish.storage import Database, SqlAgentRepository


@pytest.fixture
async def database(sqlite_template, tmp_path):
    path = shutil.copy(sqlite_template, tmp_path / "burnish.db")
    async with await Database.open(path) as opened:
        yield opened


@pytest.fixture
def agents(database):
    return SqlAgentRepository(database)


class TestAgents(AgentRepositoryContract):
    pass


class Repeating(Database):
    """Does every write twice, as when only the answer to the first one was lost."""

    async def write(self, work):
        await super().write(work)
        return await super().write(work)


async def test_a_promotion_whose_answer_was_lost_is_not_done_twice(tmp_path):
    async with await Repeating.open(tmp_path / "burnish.db") as database:
        agents = SqlAgentRepository(database)

        first = await agents.add_version("router", configuration("same"), expected_active=0)
        second = await agents.add_version("router", configuration("same"), expected_active=1)

        assert (first.version, second.version) == (1, 2)
        assert [one.version for one in await agents.list_versions("router")] == [2, 1]
