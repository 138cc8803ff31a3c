"""Overrides in Valkey: the contract on a real server."""

import pytest
from redis.asyncio import Redis

from burnish.overrides import RedisPromptOverridesStore
from burnish.testing.overrides_contract import OverridesStoreContract
from burnish.testing.overrides_refusals_contract import OverridesRefusalsContract
from burnish.testing.overrides_writers_contract import OverridesWritersContract
from burnish.testing.valkey import running_valkey


@pytest.fixture(scope="module")
def server():
    with running_valkey() as running:
        yield running


@pytest.fixture
async def client(server):
    async with Redis.from_url(server.url) as opened:
        await opened.flushall()
        yield opened


@pytest.fixture
def store(client):
    return RedisPromptOverridesStore(client)


@pytest.fixture
async def another(server, client):
    # A client that decodes: documents are bytes all the same.
    async with Redis.from_url(server.url, decode_responses=True) as opened:
        yield RedisPromptOverridesStore(opened)


@pytest.fixture
def plant(client):
    async def plant(namespace, key, tag, data):
        await client.hset(f"burnish:overrides:{namespace}:{key}", tag, data)

    return plant


class TestRedisStore(OverridesStoreContract):
    pass


class TestRedisRefusals(OverridesRefusalsContract):
    pass


class TestRedisWriters(OverridesWritersContract):
    pass
