"""Overrides in a database: the contract on SQLite and on a PostgreSQL postgres."""

import pytest
from sqlalchemy import text

from burnish.domain import Overlay
from burnish.overrides import SqlPromptOverridesStore
from burnish.storage import Database, SqlOverlayStore
from burnish.testing.overrides_contract import OverridesStoreContract, OverridesWritersContract
from burnish.testing.overrides_refusals_contract import OverridesRefusalsContract
from burnish.testing.samples.overrides import HERE, PROMPT, bodies, override


@pytest.fixture(params=["sqlite", "postgres"])
def address(request, tmp_path):
    if request.param == "sqlite":
        return str(tmp_path / "burnish.db")
    return request.getfixturevalue("postgres_url")


@pytest.fixture
async def database(address):
    async with await Database.open(address) as opened:
        await opened.write(lambda connection: connection.execute(text("DELETE FROM overrides")))
        yield opened


@pytest.fixture
def store(database):
    return SqlPromptOverridesStore(database)


@pytest.fixture
async def another(database, address):
    async with await Database.open(address) as opened:
        yield SqlPromptOverridesStore(opened)


@pytest.fixture
def plant(database):
    statement = text("INSERT INTO overrides VALUES (:namespace, :key, :tag, :document)")

    async def plant(namespace, key, tag, data):
        row = {"namespace": namespace, "key": key, "tag": tag, "document": data.decode()}
        await database.write(lambda connection: connection.execute(statement, row))

    return plant


class TestSqlStore(OverridesStoreContract):
    async def test_masks_in_the_same_table_are_left_alone(self, database, store):
        masks = SqlOverlayStore(database)
        await masks.put("burnish.masks", "router", "opt-1-0", Overlay(sections={"system": "x"}))

        await store.store(PROMPT, override("system", "mine"), tag="opt-1-0")
        await store.delete(**HERE, tag="other")

        mask = await masks.get("burnish.masks", "router", "opt-1-0")
        assert mask == Overlay(sections={"system": "x"})
        assert await bodies(store, "opt-1-0") == {"system": "mine"}


class TestSqlRefusals(OverridesRefusalsContract):
    pass


class TestSqlWriters(OverridesWritersContract):
    pass
