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


@pytest.fixture
async def world(valkey):
    client = Redis.from_url(valkey.url)
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
