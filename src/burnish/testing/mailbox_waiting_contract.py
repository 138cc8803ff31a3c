"""How mailboxes wait, reply and close. Subclass it and provide the fixture `world`."""

# ruff: noqa: D102 - the names of the tests say what they show

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from burnish.domain import ConflictError, UsageError
from burnish.testing.mailbox_samples import MailboxWorld, MemoryWorld, Note, bodies, receive_one

# A server looks at its timers ten times a second, and machines that run tests are busy.
SLACK = 0.9


class MailboxWaitingContract:
    """Long polls, replies, siblings and the end of a handle."""

    async def test_a_long_poll_returns_as_soon_as_a_message_is_there(
        self, world: MailboxWorld
    ) -> None:
        box = world.open()

        seconds = await _waiting(world, lambda: world.open().send(Note(1)))

        assert 0.1 <= seconds < 0.1 + SLACK
        assert await box.approximate_count() == 1

    async def test_a_long_poll_returns_when_a_message_is_given_back(
        self, world: MailboxWorld
    ) -> None:
        await world.open().send(Note(1))
        held = await receive_one(world.open())

        assert await _waiting(world, held.nack) < 0.1 + SLACK

    async def test_a_long_poll_returns_when_a_delayed_message_is_due(
        self, world: MailboxWorld
    ) -> None:
        await world.open().send(Note(1))
        held = await receive_one(world.open())

        seconds = await _waiting(world, lambda: held.nack(visibility_timeout=0.3))

        assert 0.4 <= seconds < 0.4 + SLACK

    async def test_a_long_poll_returns_when_a_holder_s_time_runs_out(
        self, world: MailboxWorld
    ) -> None:
        await world.open().send(Note(1))
        await receive_one(world.open(), visibility_timeout=0.3)

        assert 0.15 <= await _waiting(world, lambda: asyncio.sleep(0)) < 0.3 + SLACK

    async def test_a_long_poll_ends_with_nothing(self, world: MailboxWorld) -> None:
        start = world.clock.monotonic()

        assert await world.open().receive(wait_time_seconds=0.3) == []

        assert 0.29 <= world.clock.monotonic() - start < 0.3 + SLACK

    async def test_of_many_who_wait_each_gets_one(self, world: MailboxWorld) -> None:
        waiting = [
            asyncio.ensure_future(world.open().receive(wait_time_seconds=30)) for _ in range(10)
        ]
        await world.clock.sleep(0.1)

        for number in range(10):
            await world.open().send(Note(number))
        received = await asyncio.gather(*waiting)

        assert sorted(one.body.number for batch in received for one in batch) == list(range(10))

    async def test_a_receiver_that_is_cancelled_takes_nothing_along(
        self, world: MailboxWorld
    ) -> None:
        box = world.open(max_delivery_count=100)
        for moment in range(12):
            receiver = asyncio.ensure_future(box.receive(wait_time_seconds=30))
            for _ in range(moment):
                await asyncio.sleep(0)
            await box.send(Note(moment))
            receiver.cancel()
            done = await asyncio.gather(receiver, return_exceptions=True)

            got = done[0] if isinstance(done[0], list) else []
            got = [*got, *await box.receive(max_messages=10, wait_time_seconds=1)]
            assert [one.body.number for one in got] == [moment]
            await got[0].acknowledge()

    async def test_a_message_for_a_receiver_that_is_cancelled_goes_to_the_next(
        self, world: MailboxWorld
    ) -> None:
        box = world.open()
        first, second = (asyncio.ensure_future(box.receive(wait_time_seconds=30)) for _ in range(2))
        await world.clock.sleep(0.1)
        start = world.clock.monotonic()

        await box.send(Note(1))
        first.cancel()

        done = await asyncio.gather(first, second, return_exceptions=True)
        assert isinstance(done[0], asyncio.CancelledError)
        assert [one.body for one in await second] == [Note(1)]
        assert world.clock.monotonic() - start < SLACK

    async def test_replies_go_to_the_mailbox_that_the_sender_named(
        self, world: MailboxWorld
    ) -> None:
        box, replies = world.open(), world.open().sibling("replies")
        by_name = replies.name
        await box.send(Note(1), reply_to=replies)
        await box.send(Note(2), reply_to=by_name)

        for message in await world.open().receive(max_messages=2):
            assert message.reply_to == "replies"
            await message.reply(Note(message.body.number * 10))
            await message.acknowledge()

        assert await bodies(replies) == [Note(10), Note(20)]

    async def test_a_reply_needs_no_valid_receipt_but_an_address(self, world: MailboxWorld) -> None:
        box, replies = world.open(), world.open("replies")
        await box.send(Note(1), reply_to=replies)
        await box.send(Note(2))
        addressed, other = await box.receive(max_messages=2)
        await addressed.acknowledge()

        await addressed.reply(Note(3))
        with pytest.raises(UsageError) as caught:
            await other.reply(Note(4))

        assert caught.value.code == "no_reply_mailbox"
        assert await bodies(replies) == [Note(3)]

    async def test_a_reply_waits_for_a_mailbox_that_is_opened_later(
        self, world: MailboxWorld
    ) -> None:
        await world.open().send(Note(1), reply_to="later")
        await (await receive_one(world.open())).reply(Note(2))

        assert await bodies(world.open().sibling("later")) == [Note(2)]

    async def test_a_mailbox_of_another_backend_gets_no_replies(self, world: MailboxWorld) -> None:
        class Foreign:
            name = "elsewhere"

        with pytest.raises(UsageError, match="another backend") as caught:
            await world.open().send(Note(1), reply_to=Foreign())  # type: ignore[arg-type]

        assert caught.value.code == "foreign_reply_mailbox"

    async def test_closing_ends_one_handle(self, world: MailboxWorld) -> None:
        box, other = world.open(), world.open()
        await box.send(Note(1))
        held = await receive_one(box)
        waiting = asyncio.ensure_future(box.receive(wait_time_seconds=30))
        await world.clock.sleep(0.05)
        start = world.clock.monotonic()

        await box.close()
        await box.close()

        assert await waiting == []
        assert world.clock.monotonic() - start < SLACK
        assert (box.closed, other.closed) == (True, False)
        for refused in (lambda: box.send(Note(2)), box.receive):
            with pytest.raises(UsageError, match="closed") as caught:
                await refused()
            assert caught.value.code == "mailbox_closed"
        await held.extend_visibility(60)
        await held.acknowledge()
        with pytest.raises(ConflictError):
            await held.acknowledge()
        await other.send(Note(3))
        assert await bodies(other) == [Note(3)]

    async def test_what_was_sent_outlives_the_handle(self, world: MailboxWorld) -> None:
        keeper = world.open("keeper")
        first = keeper.sibling("work")
        await first.send(Note(1))
        await first.close()

        assert await bodies(keeper.sibling("work")) == [Note(1)]


async def _waiting(world: MailboxWorld, act: Callable[[], Awaitable[Any]]) -> float:
    """How long one waits for a message if this happens after a tenth of a second."""
    start = world.clock.monotonic()
    receiver = asyncio.ensure_future(world.open().receive(wait_time_seconds=30))
    await world.clock.sleep(0.1)
    await act()
    assert [one.body for one in await receiver] == [Note(1)]
    seconds = world.clock.monotonic() - start
    return round(seconds, 6) if isinstance(world, MemoryWorld) else seconds
