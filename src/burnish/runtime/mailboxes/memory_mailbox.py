"""A mailbox in this process."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

from burnish.domain import Clock, SystemClock
from burnish.domain.mailboxes import DeadLetter, Mailbox
from burnish.runtime.mailboxes.dead_letters import dead_letter
from burnish.runtime.mailboxes.held_message import HeldMessage
from burnish.runtime.mailboxes.memory_queue import Entry, MemoryHouse, MemoryQueue
from burnish.runtime.mailboxes.message_types import MessageTypes, UndecodableError
from burnish.runtime.mailboxes.rules import (
    MAX_DEAD_LETTERS,
    MAX_DELIVERIES,
    check_receive,
    closed,
    foreign_reply_mailbox,
    full,
    receipt_expired,
)
from burnish.runtime.mailboxes.settings import MailboxSettings, address

BodyT = TypeVar("BodyT")
ReplyT = TypeVar("ReplyT")


class Receipt(NamedTuple):
    """One delivery of an entry."""

    entry: Entry
    holder: int


class InMemoryMailbox(Generic[BodyT, ReplyT]):
    """Implements `burnish.domain.mailboxes.Mailbox` for the loops of one process.

    Bodies are written and read as on any other backend, so what works here works over Redis, and no
    two holders share an object. Mailboxes made by `sibling`, or given the same `house`, find each
    other by name.
    """

    def __init__(
        self,
        name: str,
        max_size: int | None = None,
        clock: Clock | None = None,
        *,
        max_delivery_count: int = MAX_DELIVERIES,
        types: MessageTypes | None = None,
        house: MemoryHouse | None = None,
    ) -> None:
        settings = MailboxSettings.of(
            name, max_size=max_size, max_delivery_count=max_delivery_count, types=types
        )
        self._open(settings, house or MemoryHouse(clock or SystemClock()))

    def _open(self, settings: MailboxSettings, house: MemoryHouse) -> None:
        self._settings = settings
        self._house = house
        self._queue: MemoryQueue = house.enter(settings.name)
        self._closed = False
        self.name = settings.name

    @property
    def closed(self) -> bool:
        """Whether this handle was closed."""
        return self._closed

    @cached_property
    def dead_letters(self) -> InMemoryMailbox[DeadLetter, Any]:
        """Where messages end that no one could handle."""
        return self.sibling(self._settings.dead_name)

    def sibling(self, name: str) -> InMemoryMailbox[Any, Any]:
        """Another mailbox of this process."""
        other: InMemoryMailbox[Any, Any] = object.__new__(InMemoryMailbox)
        other._open(self._settings.named(name), self._house)
        return other

    async def send(self, body: BodyT, *, reply_to: Mailbox[Any, Any] | str | None = None) -> str:
        """Add a message, or refuse it."""
        if self._closed:
            raise closed(self.name)
        if not (reply_to is None or isinstance(reply_to, (str, InMemoryMailbox))):
            raise foreign_reply_mailbox(self.name, reply_to.name)
        packed = self._settings.types.encode(body)
        if len(self._queue) >= self._settings.max_size:
            raise full(self.name, self._settings.max_size)
        if reply_to is None:
            return self._queue.put(packed)
        box = None if isinstance(reply_to, str) else reply_to
        return self._queue.put(packed, address(reply_to), box)

    async def receive(
        self,
        *,
        max_messages: int = 1,
        visibility_timeout: float = 30,
        wait_time_seconds: float = 0,
    ) -> Sequence[HeldMessage[BodyT, Receipt]]:
        """What is there, or what comes while waiting."""
        if self._closed:
            raise closed(self.name)
        check_receive(max_messages, visibility_timeout, wait_time_seconds)
        received = self._take(max_messages, visibility_timeout)
        if received or not wait_time_seconds:
            return received
        clock = self._house.clock
        deadline = clock.monotonic() + wait_time_seconds
        while not received and not self._closed and clock.monotonic() < deadline:
            await self._queue.wait(deadline)
            if not self._closed:
                received = self._take(max_messages, visibility_timeout)
        return received

    async def purge(self) -> int:
        """Drop all messages."""
        return self._queue.clear()

    async def approximate_count(self) -> int:
        """Messages that wait and messages that are held."""
        return len(self._queue)

    async def close(self) -> None:
        """End this handle."""
        if not self._closed:
            self._closed = True
            self._house.leave(self.name)
            self._queue.wake_all()

    async def settle(self, receipt: Receipt) -> None:
        """For its messages: drop one."""
        self._queue.drop(self._held(receipt))

    async def defer(self, receipt: Receipt, seconds: float, *, keep: bool) -> None:
        """For its messages: make one due later."""
        self._queue.defer(self._held(receipt), seconds, keep=keep)

    async def answer(self, receipt: Receipt, reply_to: str, body: Any) -> None:
        """For its messages: reply."""
        box = receipt.entry.reply_box
        if box is not None and not box.closed:
            await box.send(body)
            return
        queue = self._house.find(reply_to)
        packed = self._settings.types.encode(body)
        if len(queue) >= self._settings.max_size:
            raise full(reply_to, self._settings.max_size)
        queue.put(packed)

    def _held(self, receipt: Receipt) -> Entry:
        entry, holder = receipt
        if not self._queue.holds(entry, holder):
            raise receipt_expired(self.name, entry.id)
        return entry

    def _take(self, most: int, seconds: float) -> list[HeldMessage[BodyT, Receipt]]:
        while entries := self._queue.take(most, seconds):
            opened = [self._open_entry(entry) for entry in entries]
            received = [message for message in opened if message is not None]
            if received:
                return received
        return []

    def _open_entry(self, entry: Entry) -> HeldMessage[BodyT, Receipt] | None:
        settings = self._settings
        if settings.is_worn_out(entry.count):
            self._bury(entry, None)
            return None
        try:
            body = settings.types.decode(entry.packed)
        except UndecodableError as error:
            self._bury(entry, str(error))
            return None
        return HeldMessage(
            self,
            Receipt(entry, entry.holder),
            id=entry.id,
            body=body,
            delivery_count=entry.count,
            reply_to=entry.reply_to,
        )

    def _bury(self, entry: Entry, explanation: str | None) -> None:
        letter = dead_letter(
            self.name,
            entry.id,
            entry.packed,
            reply_to=entry.reply_to,
            # The one that found it is no delivery.
            delivery_count=entry.count - 1,
            explanation=explanation,
        )
        self._queue.drop(entry)
        grave = self._house.find(self._settings.dead_name)
        if len(grave) >= MAX_DEAD_LETTERS:
            grave.drop_oldest()
        grave.put(self._settings.types.encode(letter))
