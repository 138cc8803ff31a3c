"""Contract for mailboxes: dead letters, load and waiting. Provide the fixture `world`."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from burnish.domain import ConflictError, UsageError
from burnish.domain.mailboxes import Mailbox
from burnish.runtime.mailboxes import packed_body
from burnish.testing.samples.mailboxes import (
    LETTER,
    MailboxWorld,
    MemoryWorld,
    Note,
    Riddle,
    bodies,
    dead,
    known_types,
    receive_one,
)


class MailboxFaultsContract:
    """Dead letters, and many at once."""

    async def test_a_poison_message_goes_to_the_dead_letters_and_blocks_nobody(
        self, world: MailboxWorld
    ) -> None:
        box = world.open(max_delivery_count=3)
        poison = await box.send(Note(1, "poison"), reply_to="asker")
        for delivery in (1, 2, 3):
            held = await receive_one(box)
            assert (held.id, held.delivery_count) == (poison, delivery)
            await held.nack()
        await box.send(Note(2))

        received = await box.receive()

        assert [one.body for one in received] == [Note(2)]
        (letter,) = await dead(box)
        assert (letter.mailbox, letter.message_id, letter.delivery_count) == ("work", poison, 3)
        assert (letter.reason, letter.reply_to) == ("too_many_deliveries", "asker")
        assert known_types().decode(packed_body(letter)) == Note(1, "poison")
        assert await box.approximate_count() == 1

    async def test_holders_that_died_count_as_deliveries(self, world: MailboxWorld) -> None:
        box = world.open(max_delivery_count=2)
        await box.send(Note(1))
        for _ in range(2):
            await receive_one(box, visibility_timeout=30)
            await world.pass_time(31)

        assert await box.receive(wait_time_seconds=0.05) == []

        assert [letter.delivery_count for letter in await dead(box)] == [2]

    @pytest.mark.parametrize(
        ("body", "explanation"),
        [
            (Riddle(1), "type 'riddle' is not declared"),
            (Note(1), "type note is known in version 1, not 2"),
            (LETTER, "number: Field required"),
        ],
    )
    async def test_what_cannot_be_decoded_goes_to_the_dead_letters_with_the_reason(
        self, world: MailboxWorld, body: Any, explanation: str
    ) -> None:
        box = world.open()
        await world.open_stranger().send(body)
        await box.send(Note(2))

        assert [one.body for one in await box.receive()] == [Note(2)]

        (letter,) = await dead(box)
        assert letter.reason == "undecodable"
        assert explanation in letter.explanation
        assert letter.payload.startswith("{")

    async def test_many_bad_messages_do_not_hide_a_good_one(self, world: MailboxWorld) -> None:
        box, stranger = world.open(), world.open_stranger()
        for number in range(25):
            await stranger.send(Riddle(number))
        await box.send(Note(1))

        assert await bodies(box) == [Note(1)]
        assert len(await dead(box)) == 25
        assert await box.approximate_count() == 1

    @pytest.mark.parametrize("timeout", [0, 30])
    async def test_a_message_too_large_for_the_receiver_is_a_dead_letter(
        self, world: MailboxWorld, timeout: float
    ) -> None:
        box = world.open()
        await world.open(types=known_types(max_bytes=200_000)).send(Note(1, "\x00" * 30_000))

        assert await box.receive(visibility_timeout=timeout) == []

        (letter,) = await dead(box)
        assert "180,022 bytes, and 100,000 are allowed" in letter.explanation
        assert len(letter.payload) == 180_022

    async def test_a_waiting_receiver_is_not_ended_by_a_bad_message(
        self, world: MailboxWorld
    ) -> None:
        box = world.open()
        waiting = asyncio.ensure_future(box.receive(wait_time_seconds=30))
        await world.clock.sleep(0.1)

        await world.open_stranger().send(Riddle(1))
        await world.clock.sleep(0.1)
        assert not waiting.done()
        await box.send(Note(1))

        assert [one.body for one in await waiting] == [Note(1)]

    async def test_one_who_waits_for_dead_letters_gets_them_at_once(
        self, world: MailboxWorld
    ) -> None:
        box = world.open()
        waiting = asyncio.ensure_future(box.dead_letters.receive(wait_time_seconds=30))
        await world.clock.sleep(0.1)
        start = world.clock.monotonic()

        await world.open_stranger().send(Riddle(1))
        assert await box.receive() == []

        assert [one.body.type for one in await waiting] == ["riddle"]
        assert world.clock.monotonic() - start < world.slack

    async def test_dead_letters_die_no_second_death(self, world: MailboxWorld) -> None:
        box = world.open(max_delivery_count=1)
        await world.open_stranger().send(Riddle(1))
        await box.receive()

        letters = box.dead_letters
        assert letters.name == "work.dead"
        for delivery in range(1, 10):
            held = await receive_one(letters)
            assert held.delivery_count == delivery
            await held.nack()

        assert letters.dead_letters.name == "work.dead"
        assert await letters.approximate_count() == 1

    async def test_a_dead_letter_that_cannot_be_decoded_is_kept(self, world: MailboxWorld) -> None:
        await world.open_stranger("work.dead").send(Riddle(1))

        (letter,) = await dead(world.open())

        assert (letter.reason, letter.type) == ("undecodable", "riddle")

    async def test_two_never_hold_one_message_at_once(self, world: MailboxWorld) -> None:
        boxes = [world.open(max_delivery_count=1_000) for _ in range(5)]
        for number in range(10):
            await boxes[0].send(Note(number))
        holders: Counter[int] = Counter()
        draw = random.Random(7)  # noqa: S311

        async def hold(box: Mailbox[Any, Any]) -> None:
            for _ in range(40):
                for one in await box.receive(max_messages=3):
                    holders[one.body.number] += 1
                    assert holders[one.body.number] == 1
                    await asyncio.sleep(0.001 * draw.random())
                    holders[one.body.number] -= 1
                    await one.nack()

        await asyncio.gather(*(hold(box) for box in boxes))
        assert await boxes[0].approximate_count() == 10

    async def test_twenty_producers_and_twenty_consumers_lose_and_double_nothing(
        self, world: MailboxWorld
    ) -> None:
        done: Counter[int] = Counter()
        draw = random.Random(11)  # noqa: S311

        async def produce(start: int) -> None:
            box = world.open()
            for number in range(start, start + 50):
                await box.send(Note(number))
            await box.close()

        async def consume() -> None:
            box = world.open(max_delivery_count=1_000)
            while sum(done.values()) < 1_000:
                batch = await box.receive(max_messages=draw.randint(1, 20), wait_time_seconds=0.2)
                for one in batch:
                    if draw.random() < 0.2:
                        await one.nack(visibility_timeout=draw.choice([0, 0.01]))
                    else:
                        await one.acknowledge()
                        done[one.body.number] += 1
            await box.close()

        await asyncio.gather(
            *(produce(50 * number) for number in range(20)), *(consume() for _ in range(20))
        )

        assert done == Counter(range(1_000))
        assert await world.open().approximate_count() == 0
        assert await dead(world.open()) == []


class MailboxWaitingContract:
    """Long polls, replies, siblings and the end of a handle."""

    async def test_a_long_poll_returns_as_soon_as_a_message_is_there(
        self, world: MailboxWorld
    ) -> None:
        box = world.open()

        seconds = await _waiting(world, lambda: world.open().send(Note(1)))

        assert 0.1 <= seconds < 0.1 + world.slack
        assert await box.approximate_count() == 1

    async def test_a_long_poll_returns_when_a_message_is_given_back(
        self, world: MailboxWorld
    ) -> None:
        await world.open().send(Note(1))
        held = await receive_one(world.open())

        assert await _waiting(world, held.nack) < 0.1 + world.slack

    async def test_a_long_poll_returns_when_a_delayed_message_is_due(
        self, world: MailboxWorld
    ) -> None:
        await world.open().send(Note(1))
        held = await receive_one(world.open())

        seconds = await _waiting(world, lambda: held.nack(visibility_timeout=0.3))

        assert 0.4 <= seconds < 0.4 + world.slack

    async def test_a_long_poll_returns_when_a_holder_s_time_runs_out(
        self, world: MailboxWorld
    ) -> None:
        await world.open().send(Note(1))
        start = world.clock.monotonic()
        await receive_one(world.open(), visibility_timeout=0.3)

        await _waiting(world, lambda: asyncio.sleep(0))

        assert 0.29 <= world.clock.monotonic() - start < 0.3 + world.slack

    async def test_a_long_poll_ends_with_nothing(self, world: MailboxWorld) -> None:
        start = world.clock.monotonic()

        assert await world.open().receive(wait_time_seconds=0.3) == []

        assert 0.29 <= world.clock.monotonic() - start < 0.3 + world.slack

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
        assert world.clock.monotonic() - start < world.slack

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
        assert world.clock.monotonic() - start < world.slack
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
