"""Mailboxes on a real Valkey server: the contract."""

import pytest
from redis.asyncio import Redis

from burnish.domain import SystemClock
from burnish.runtime.mailboxes.redis import stream as redis_stream
from burnish.testing.mailbox_contract import MailboxContract, MailboxRefusalsContract
from burnish.testing.mailbox_faults_contract import MailboxFaultsContract, MailboxWaitingContract
from burnish.testing.samples.mailboxes import RedisWorld


@pytest.fixture
async def world(valkey, monkeypatch):
    # Who waits looks again each second by itself; here only what happens may wake them.
    monkeypatch.setattr(redis_stream, "SLICE_MS", 60_000)
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
