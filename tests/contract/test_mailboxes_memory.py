"""Mailboxes in this process: the contract on a clock that nobody waits for."""

import pytest

from burnish.testing.mailbox_contract import MailboxContract, MailboxRefusalsContract
from burnish.testing.mailbox_faults_contract import MailboxFaultsContract, MailboxWaitingContract
from burnish.testing.samples.mailboxes import MemoryWorld


@pytest.fixture
async def world():
    return MemoryWorld()


class TestMailbox(MailboxContract):
    pass


class TestWaiting(MailboxWaitingContract):
    pass


class TestFaults(MailboxFaultsContract):
    pass


class TestRefusals(MailboxRefusalsContract):
    pass
