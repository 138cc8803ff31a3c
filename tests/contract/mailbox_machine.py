"""A mailbox beside a simple model of one: whatever is done to both, they agree.

Subclass it and provide `make_world`. Times are chosen so that no message is ever just due: the
server's clock goes on by itself, but not by seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from burnish.domain import ConflictError
from burnish.domain.mailboxes import Message
from burnish.testing.samples.mailboxes import MailboxWorld, Note, Riddle, dead

T = TypeVar("T")

MAX_DELIVERIES = 3
MAX_SIZE = 6
SHORT = st.sampled_from([0, 5, 15, 25])
INDEX = st.integers(min_value=0, max_value=1_000)


@dataclass(eq=False)
class Sent:
    """What the model knows of a message."""

    id: str
    readable: bool
    deliveries: int = 0
    due: float | None = None
    holder: Message[Any, Any] | None = None

    def is_back(self, now: float) -> bool:
        """Whether it was delivered and can be again."""
        return self.due is not None and self.due <= now

    def is_held_by(self, message: Message[Any, Any], now: float) -> bool:
        """Whether that delivery counts."""
        return self.holder is message and self.due is not None and self.due > now

    @property
    def is_doomed(self) -> bool:
        """Whether nobody will ever receive it."""
        return not self.readable or self.deliveries >= MAX_DELIVERIES


@dataclass
class Model:
    """All messages in the order they were sent, and the time."""

    now: float = 0.0
    messages: list[Sent] = field(default_factory=list)

    def back(self) -> list[Sent]:
        """Delivered before, and free again."""
        return [one for one in self.messages if one.is_back(self.now)]

    def fresh(self) -> list[Sent]:
        """Never delivered."""
        return [one for one in self.messages if one.due is None]


class MailboxMachine(RuleBasedStateMachine):
    """Drives both."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.model = Model()
        self.given: list[tuple[Sent, Message[Any, Any]]] = []
        self.world = self._run(self.make_world())
        settings = {"max_delivery_count": MAX_DELIVERIES, "max_size": MAX_SIZE}
        self.boxes = [self._run(self._open(settings)) for _ in range(2)]
        self.stranger = self.world.open_stranger()

    async def make_world(self) -> MailboxWorld:
        """A fresh world."""
        raise NotImplementedError

    async def end_world(self) -> None:
        """Called on the machine's own loop."""

    async def _open(self, settings: dict[str, Any]) -> Any:
        return self.world.open(**settings)

    def _run(self, work: Awaitable[T]) -> T:
        return self.loop.run_until_complete(work)

    def teardown(self) -> None:
        """After each run."""
        self._run(self.end_world())
        self.loop.close()

    @precondition(lambda self: len(self.model.messages) < MAX_SIZE)
    @rule(readable=st.sampled_from([True, True, True, False]))
    def send(self, readable: bool) -> None:
        """Now and then what the receivers cannot read."""
        box, body = (self.boxes[0], Note(1)) if readable else (self.stranger, Riddle(1))
        self.model.messages.append(Sent(self._run(box.send(body)), readable))

    @rule(which=st.integers(0, 1), most=st.integers(1, 4), timeout=SHORT)
    def receive(self, which: int, most: int, timeout: float) -> None:
        """What comes is free, comes in order, and all that is free comes if there is room."""
        model = self.model
        back, fresh = model.back(), model.fresh()
        got = self._run(self.boxes[which].receive(max_messages=most, visibility_timeout=timeout))
        letters = {letter.message_id for letter in self._run(dead(self.boxes[0]))}
        came = [next(one for one in model.messages if one.id == message.id) for message in got]

        free = [one for one in back + fresh if not one.is_doomed]
        assert len(set(came)) == len(came) <= most
        assert all(one in free for one in came)
        assert bool(came) == bool(free)
        assert all(one.is_doomed for one in back + fresh if one.id in letters)
        assert letters <= {one.id for one in back + fresh}
        new = [one for one in came if one in fresh]
        assert came == [one for one in came if one in back] + new
        passed = fresh[: fresh.index(new[-1]) + 1] if new else []
        assert [one for one in passed if one.id not in letters] == new
        if new or not came or len(back + fresh) <= most:
            assert {one.id for one in back if one not in came} <= letters
        if not came or len(back + fresh) <= most:
            assert {one.id for one in fresh if one not in came} <= letters

        model.messages = [one for one in model.messages if one.id not in letters]
        for one, message in zip(came, got, strict=True):
            one.deliveries += 1
            assert message.delivery_count == one.deliveries
            one.due, one.holder = model.now + timeout, message
            self.given.append((one, message))

    @precondition(lambda self: self.given)
    @rule(index=INDEX)
    def acknowledge(self, index: int) -> None:
        """Gone, if it counts."""
        one, message = self.given[index % len(self.given)]
        if self._settle(one, message, message.acknowledge()):
            self.model.messages.remove(one)
            one.holder = None

    @precondition(lambda self: self.given)
    @rule(index=INDEX, delay=SHORT)
    def nack(self, index: int, delay: float) -> None:
        """Free after the delay, if it counts."""
        one, message = self.given[index % len(self.given)]
        if self._settle(one, message, message.nack(visibility_timeout=delay)):
            one.holder, one.due = None, self.model.now + delay

    @precondition(lambda self: self.given)
    @rule(index=INDEX, timeout=SHORT)
    def extend(self, index: int, timeout: float) -> None:
        """Held for so long from now, if it counts."""
        one, message = self.given[index % len(self.given)]
        if self._settle(one, message, message.extend_visibility(timeout)):
            one.due = self.model.now + timeout

    @rule(seconds=st.sampled_from([10, 20, 30]))
    def pass_time(self, seconds: float) -> None:
        """Some expire."""
        self.model.now += seconds
        self._run(self.world.pass_time(seconds))

    @rule(often=st.integers(0, 5))
    def purge(self, often: int) -> None:
        """Rarely, or nothing else would be seen."""
        if often == 0:
            assert self._run(self.boxes[1].purge()) == len(self.model.messages)
            for one in self.model.messages:
                one.holder = None
            self.model.messages = []

    @invariant()
    def counts_agree(self) -> None:
        """Both hold the same number of messages."""
        for box in self.boxes:
            assert self._run(box.approximate_count()) == len(self.model.messages)

    def _settle(self, one: Sent, message: Message[Any, Any], act: Awaitable[None]) -> bool:
        counts = one.is_held_by(message, self.model.now)
        try:
            self._run(act)
        except ConflictError as error:
            assert not counts, "a delivery that counts was refused"
            assert error.code == "receipt_expired"
        else:
            assert counts, "a delivery that counts no more was accepted"
        return counts
