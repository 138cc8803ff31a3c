"""Overrides in Valkey: the contract on a real server."""

import pytest
from redis.asyncio import Redis

from burnish.overrides import RedisPromptOverridesStore
from burnish.testing.overrides_contract import OverridesStoreContract, OverridesWritersContract
from burnish.testing.overrides_refusals_contract import OverridesRefusalsContract


@pytest.fixture
async def client(valkey):
    async with Redis.from_url(valkey.url) as opened:
        await opened.flushall()
        yield opened


@pytest.fixture
def store(client):
    return RedisPromptOverridesStore(client)


@pytest.fixture
async def another(valkey, client):
    # A client that decodes: documents are bytes all the same.
    async with Redis.from_url(valkey.url, decode_responses=True) as opened:
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
