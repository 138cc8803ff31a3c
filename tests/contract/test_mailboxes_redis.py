"""Mailboxes on a real Valkey server: the contract."""

import pytest
from redis.asyncio import Redis

from burnish.domain import SystemClock
from burnish.testing.mailbox_contract import (
    MailboxContract,
    MailboxFaultsContract,
    MailboxRefusalsContract,
    MailboxWaitingContract,
)
from burnish.testing.mailbox_samples import RedisWorld
from burnish.testing.valkey import running_valkey


@pytest.fixture(scope="module")
def server():
    with running_valkey() as running:
        yield running


@pytest.fixture
async def world(server):
    client = Redis.from_url(server.url)
    await client.flushall()
    yield RedisWorld(client, SystemClock())
    await client.aclose()


class TestMailbox(MailboxContract):
    pass


class TestWaiting(MailboxWaitingContract):
    pass


class TestFaults(MailboxFaultsContract):
    pass


class TestRefusals(MailboxRefusalsContract):
    pass
