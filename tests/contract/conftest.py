"""Databases that are made once and copied for each test."""

import asyncio

import pytest

from burnish.storage import Database


async def _make(address):
    await (await Database.open(address)).close()


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory):
    path = tmp_path_factory.mktemp("template") / "burnish.db"
    asyncio.run(_make(path))
    return path


@pytest.fixture(scope="session")
def postgres_template(postgres):
    name = postgres.create_database()
    asyncio.run(_make(postgres.url(name)))
    return name
