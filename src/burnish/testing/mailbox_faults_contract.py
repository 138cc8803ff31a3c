"""What mailboxes do with messages nobody can handle, and under load. Provide the fixture `world`."""

# ruff: noqa: D102 - the names of the tests say what they show

from __future__ import annotations

import asyncio
import random
from collections import Counter
from typing import Any

import pytest

from burnish.domain.mailboxes import Mailbox
from burnish.runtime.mailboxes import packed_body
from burnish.testing.mailbox_samples import (
    LETTER,
    MailboxWorld,
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
        assert world.clock.monotonic() - start < 0.8

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
