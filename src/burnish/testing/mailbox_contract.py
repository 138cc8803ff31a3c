"""What every mailbox keeps to. Subclass the contracts and provide the fixture `world`."""

# ruff: noqa: D102 - the names of the tests say what they show

from __future__ import annotations

import pytest

from burnish.domain import ConflictError
from burnish.testing.mailbox_faults_contract import MailboxFaultsContract
from burnish.testing.mailbox_refusals_contract import MailboxRefusalsContract
from burnish.testing.mailbox_samples import (
    LETTER,
    MailboxWorld,
    Note,
    Riddle,
    bodies,
    receive_one,
)
from burnish.testing.mailbox_waiting_contract import MailboxWaitingContract

__all__ = [
    "MailboxContract",
    "MailboxFaultsContract",
    "MailboxRefusalsContract",
    "MailboxWaitingContract",
]


class MailboxContract:
    """Sending, receiving and settling."""

    async def test_messages_come_as_they_were_sent_and_in_order(self, world: MailboxWorld) -> None:
        box = world.open()
        sent = [Note(1), LETTER, Note(2, "x" * 50_000)]

        ids = [await box.send(body) for body in sent]
        messages = await box.receive(max_messages=10)

        assert [one.body for one in messages] == sent
        assert [one.id for one in messages] == ids
        assert [(one.delivery_count, one.reply_to) for one in messages] == [(1, None)] * 3

    async def test_no_more_than_asked_for_are_received(self, world: MailboxWorld) -> None:
        box = world.open()
        for number in range(5):
            await box.send(Note(number))

        batches = [await box.receive(max_messages=2) for _ in range(4)]

        assert [[one.body.number for one in batch] for batch in batches] == [
            [0, 1],
            [2, 3],
            [4],
            [],
        ]

    async def test_handles_of_one_name_are_one_mailbox(self, world: MailboxWorld) -> None:
        first, second, other = world.open("a"), world.open("a"), world.open("b")

        await first.send(Note(1))

        assert await other.receive() == []
        held = await receive_one(second)
        assert await first.receive() == []
        await held.acknowledge()
        assert await first.approximate_count() == 0

    async def test_a_held_message_is_hidden_until_its_time_runs_out(
        self, world: MailboxWorld
    ) -> None:
        box = world.open()
        await box.send(Note(1))
        first = await receive_one(box, visibility_timeout=30)

        await world.pass_time(20)
        assert await box.receive() == []
        await world.pass_time(11)
        again = await receive_one(box)

        assert (again.id, again.body, again.delivery_count) == (first.id, Note(1), 2)

    async def test_an_acknowledged_message_never_comes_back(self, world: MailboxWorld) -> None:
        box = world.open()
        await box.send(Note(1))

        await (await receive_one(box)).acknowledge()
        await world.pass_time(3600)

        assert await box.receive() == []
        assert await box.approximate_count() == 0

    async def test_a_nacked_message_comes_back_after_its_delay(self, world: MailboxWorld) -> None:
        box = world.open()
        await box.send(Note(1))

        await (await receive_one(box)).nack()
        second = await receive_one(box)
        await second.nack(visibility_timeout=60)

        await world.pass_time(50)
        assert await box.receive() == []
        await world.pass_time(11)
        assert (await receive_one(box)).delivery_count == 3

    async def test_those_that_came_back_come_before_new_ones(self, world: MailboxWorld) -> None:
        box = world.open()
        await box.send(Note(1))
        held = await receive_one(box)
        await box.send(Note(2))

        await held.nack()

        assert await bodies(box) == [Note(1), Note(2)]

    async def test_visibility_counts_from_the_moment_it_is_extended(
        self, world: MailboxWorld
    ) -> None:
        box = world.open()
        await box.send(Note(1))
        held = await receive_one(box, visibility_timeout=30)

        for _ in range(3):
            await world.pass_time(20)
            await held.extend_visibility(30)
            assert await box.receive() == []
        await held.extend_visibility(5)
        await world.pass_time(6)

        assert (await receive_one(box)).delivery_count == 2

    async def test_without_a_timeout_a_message_is_free_at_once(self, world: MailboxWorld) -> None:
        box = world.open()
        for number in range(3):
            await box.send(Note(number))

        first = await box.receive(max_messages=10, visibility_timeout=0)
        second = await box.receive(max_messages=10)

        assert [one.body.number for one in first] == [0, 1, 2]
        assert sorted(one.body.number for one in second) == [0, 1, 2]
        with pytest.raises(ConflictError):
            await first[0].acknowledge()
        await second[0].acknowledge()

    async def test_purging_drops_everything_but_the_dead_letters(self, world: MailboxWorld) -> None:
        box = world.open()
        await world.open_stranger().send(Riddle(1))
        for number in range(3):
            await box.send(Note(number))
        await receive_one(box, max_messages=2)

        assert await box.approximate_count() == 3
        assert await box.purge() == 3

        assert await box.approximate_count() == await box.purge() == 0
        await world.pass_time(3600)
        assert await box.receive() == []
        assert await box.dead_letters.approximate_count() == 1
        await box.send(Note(4))
        assert await bodies(box) == [Note(4)]
