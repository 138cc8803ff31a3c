"""Contract for mailboxes: delivery and refusals. Subclass it and provide the fixture `world`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from burnish.domain import BurnishError, ConflictError, UnavailableError, UsageError
from burnish.domain.mailboxes import Mailbox, Message
from burnish.testing.samples.mailboxes import (
    LETTER,
    MailboxWorld,
    Note,
    Riddle,
    bodies,
    receive_one,
)


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

    async def test_a_message_says_when_it_was_sent_and_a_reply_has_an_id(
        self, world: MailboxWorld
    ) -> None:
        box, replies = world.open(), world.open("replies")
        await box.send(Note(1), reply_to=replies)
        await box.send(Note(2))

        first, second = await box.receive(max_messages=2)
        sent = await first.reply(Note(3))
        await first.nack()
        again = await receive_one(box)

        assert first.enqueued_at.tzinfo is not None
        assert first.enqueued_at <= second.enqueued_at
        assert (again.id, again.enqueued_at) == (first.id, first.enqueued_at)
        assert (await receive_one(replies)).id == sent

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


ACTS: dict[str, Callable[[Message[Any, Any]], Awaitable[None]]] = {
    "acknowledge": lambda message: message.acknowledge(),
    "nack": lambda message: message.nack(),
    "nack with a delay": lambda message: message.nack(visibility_timeout=5),
    "extend": lambda message: message.extend_visibility(60),
    "extend by nothing": lambda message: message.extend_visibility(0),
}


async def _expire(world: MailboxWorld, box: Mailbox[Any, Any], held: Message[Any, Any]) -> None:
    await world.pass_time(31)


async def _redeliver(world: MailboxWorld, box: Mailbox[Any, Any], held: Message[Any, Any]) -> None:
    await world.pass_time(31)
    assert (await receive_one(box)).id == held.id


async def _acknowledge(
    world: MailboxWorld, box: Mailbox[Any, Any], held: Message[Any, Any]
) -> None:
    await held.acknowledge()


async def _nack(world: MailboxWorld, box: Mailbox[Any, Any], held: Message[Any, Any]) -> None:
    await held.nack(visibility_timeout=3600)


async def _shorten(world: MailboxWorld, box: Mailbox[Any, Any], held: Message[Any, Any]) -> None:
    await held.extend_visibility(0)


async def _purge(world: MailboxWorld, box: Mailbox[Any, Any], held: Message[Any, Any]) -> None:
    await box.purge()
    await box.send(Note(9))


ENDS = [_expire, _redeliver, _acknowledge, _nack, _shorten, _purge]


class MailboxRefusalsContract:
    """Deliveries that count no more, full mailboxes, and input that cannot be."""

    @pytest.mark.parametrize("act", ACTS)
    @pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__.strip("_"))
    async def test_a_delivery_that_counts_no_more_is_refused_at_once(
        self, world: MailboxWorld, end: Any, act: str
    ) -> None:
        box = world.open()
        await box.send(Note(1))
        held = await receive_one(box, visibility_timeout=30)
        await end(world, box, held)
        count = await box.approximate_count()

        with pytest.raises(ConflictError, match="not yours any more") as caught:
            await ACTS[act](held)

        assert caught.value.code == "receipt_expired"
        assert await box.approximate_count() == count

    @pytest.mark.parametrize(
        ("acts", "left"),
        [
            (["acknowledge", "acknowledge"], 0),
            (["acknowledge", "nack"], 0),
            (["nack", "acknowledge"], 1),
            (["nack", "nack with a delay"], 1),
            (["nack with a delay", "extend"], 1),
            (["extend by nothing", "acknowledge"], 1),
        ],
    )
    async def test_of_two_ends_at_the_same_moment_the_first_counts(
        self, world: MailboxWorld, acts: list[str], left: int
    ) -> None:
        box = world.open()
        await box.send(Note(1))
        held = await receive_one(box)

        ends = await asyncio.gather(*(ACTS[act](held) for act in acts), return_exceptions=True)

        assert [type(end) for end in ends] == [type(None), ConflictError]
        assert await box.approximate_count() == left
        await world.pass_time(60)
        assert await bodies(box) == [Note(1)] * left

    async def test_a_delivery_may_be_extended_and_settled_at_the_same_moment(
        self, world: MailboxWorld
    ) -> None:
        box = world.open()
        await box.send(Note(1))
        held = await receive_one(box)

        await asyncio.gather(held.extend_visibility(60), held.acknowledge())

        assert await box.approximate_count() == 0

    async def test_a_full_mailbox_refuses_until_there_is_room(self, world: MailboxWorld) -> None:
        box = world.open(max_size=2)
        await box.send(Note(1))
        await box.send(Note(2))
        held = await receive_one(box)

        with pytest.raises(UnavailableError, match="2, its max_size") as caught:
            await box.send(Note(3))
        assert caught.value.code == "mailbox_full"
        await held.acknowledge()
        await box.send(Note(3))

        assert await bodies(box) == [Note(2), Note(3)]

    @pytest.mark.parametrize(
        ("call", "code"),
        [
            (lambda w, b: b.send({"a": "dict"}), "undeclared_message_type"),
            (lambda w, b: b.send(Riddle(1)), "undeclared_message_type"),
            (lambda w, b: b.send(Note("one")), "unencodable_message"),  # type: ignore[arg-type]
            (lambda w, b: b.send(Note(1, "\ud800")), "unencodable_message"),
            (lambda w, b: b.send(Note(1, "x" * 100_000)), "message_too_large"),
            (lambda w, b: b.send(Note(1), reply_to="no such/name"), "invalid_name"),
            (lambda w, b: b.receive(max_messages=0), "out_of_range"),
            (lambda w, b: b.receive(max_messages=1_001), "out_of_range"),
            (lambda w, b: b.receive(visibility_timeout=-1), "out_of_range"),
            (lambda w, b: b.receive(visibility_timeout=float("nan")), "out_of_range"),
            (lambda w, b: b.receive(wait_time_seconds=float("inf")), "out_of_range"),
        ],
    )
    async def test_what_cannot_be_is_refused(
        self,
        world: MailboxWorld,
        call: Callable[[MailboxWorld, Mailbox[Any, Any]], Awaitable[Any]],
        code: str,
    ) -> None:
        box = world.open()

        with pytest.raises(UsageError) as caught:
            await call(world, box)

        assert caught.value.code == code
        assert await box.approximate_count() == 0

    @pytest.mark.parametrize("name", ["", ".a", "a b", "a/b", "a:b", "{a}", "é", "a\n", "a" * 121])
    def test_names_that_could_be_something_else_are_refused(
        self, world: MailboxWorld, name: str
    ) -> None:
        with pytest.raises(BurnishError, match="cannot name a mailbox"):
            world.open(name)
