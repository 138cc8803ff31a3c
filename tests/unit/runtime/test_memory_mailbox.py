"""What is special about mailboxes in this process."""

import weakref

from burnish.runtime import InMemoryMailbox
from burnish.runtime.mailboxes import MemoryHouse
from burnish.runtime.mailboxes.memory_mailbox import MemoryQueue
from burnish.runtime.mailboxes.message_types import Packed
from burnish.runtime.mailboxes.rules import MAX_DEAD_LETTERS
from burnish.testing.clocks import FakeClock
from burnish.testing.samples.mailboxes import (
    Note,
    Riddle,
    bodies,
    known_types,
    receive_one,
    stranger_types,
)

PACKED = Packed("note", 1, b"{}")


def open_box(name="work", **settings):
    return InMemoryMailbox(name, types=known_types(), **settings)


async def test_mailboxes_made_apart_are_apart_but_get_replies():
    box, other, replies = open_box(), open_box(), open_box("replies")

    await box.send(Note(1), reply_to=replies)

    assert await other.receive() == []
    message = await receive_one(box)
    await message.reply(Note(2))
    assert await bodies(replies) == [Note(2)]


async def test_a_holder_cannot_change_what_others_receive():
    box = open_box()
    await box.send(Note(1, "text"))
    first = await receive_one(box)
    await first.nack()

    second = await receive_one(box)

    assert first.body == second.body
    assert first.body is not second.body


async def test_reply_mailboxes_that_were_closed_are_forgotten():
    house = MemoryHouse(FakeClock())
    box = open_box(house=house)
    for number in range(50):
        replies = box.sibling(f"replies-{number}")
        await box.send(Note(number), reply_to=replies.name)
        message = await receive_one(box)
        await message.reply(Note(number))
        await message.acknowledge()
        await (await receive_one(replies)).acknowledge()
        gone = weakref.ref(replies._queue)
        await replies.close()
        del replies

    assert gone() is None
    assert set(house._queues) == {"work"}


def test_a_house_forgets_the_oldest_queue_that_nobody_has_open():
    house = MemoryHouse(FakeClock(), max_queues=2)
    house.enter("open").put(PACKED)
    house.find("late reply").put(PACKED)

    house.find("another").put(PACKED)

    assert set(house._queues) == {"open", "another"}


def test_settled_messages_leave_nothing_behind():
    queue = MemoryQueue(FakeClock())
    for _ in range(10_000):
        queue.put(PACKED)
        (entry,) = queue.take(1, 30)
        queue.defer(entry, 60, keep=True)
        queue.drop(entry)

    assert len(queue) == 0
    assert len(queue._heap) < 200


def test_a_queue_drops_new_messages_before_held_ones():
    queue = MemoryQueue(FakeClock())
    for _ in range(3):
        queue.put(PACKED)
    (held,) = queue.take(1, 30)

    queue.drop_oldest()
    queue.drop_oldest()
    assert queue.holds(held, held.holder)
    queue.drop_oldest()
    queue.drop_oldest()

    assert len(queue) == 0


async def test_dead_letters_are_bounded():
    house = MemoryHouse(FakeClock())
    box = open_box(house=house)
    stranger = InMemoryMailbox("work", types=stranger_types(), house=house)
    for number in range(MAX_DEAD_LETTERS + 5):
        await stranger.send(Riddle(number))
        assert await box.receive() == []

    assert await box.dead_letters.approximate_count() == MAX_DEAD_LETTERS
    assert '{"number":5}' in (await receive_one(box.dead_letters)).body.payload
