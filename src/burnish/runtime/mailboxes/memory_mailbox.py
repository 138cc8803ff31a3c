"""Mailbox in this process: handles, and the queue that they share."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Sequence
from datetime import datetime
from functools import cached_property
from heapq import heapify, heappop, heappush
from typing import Any, Generic, NamedTuple, TypeVar

from burnish.domain import Clock, SystemClock
from burnish.domain.mailboxes import DeadLetter, Mailbox
from burnish.runtime.mailboxes.held_message import HeldMessage
from burnish.runtime.mailboxes.message_types import (
    MessageTypes,
    Packed,
    UndecodableError,
    dead_letter,
)
from burnish.runtime.mailboxes.rules import (
    MAX_DEAD_LETTERS,
    MAX_DELIVERIES,
    MailboxSettings,
    address,
    check_receive,
    closed,
    foreign_reply_mailbox,
    full,
    receipt_expired,
)

BodyT = TypeVar("BodyT")
ReplyT = TypeVar("ReplyT")
# Entries of the heap that mean nothing any more are swept out once they are in the majority.
_SWEEP_FROM = 64


class Entry:
    """A message. `holder` names the delivery that counts, 0 for none; `turn` its place in the heap."""

    __slots__ = ("at", "count", "due", "holder", "id", "packed", "reply_box", "reply_to", "turn")

    def __init__(
        self, id_: str, packed: Packed, reply_to: str | None, reply_box: Any, at: datetime
    ) -> None:
        self.id = id_
        self.at = at
        self.packed = packed
        self.reply_to = reply_to
        self.reply_box = reply_box
        self.count = 0
        self.holder = 0
        self.due = 0.0
        self.turn = 0


class MemoryQueue:
    """New messages in the order they came, and a heap of held ones by the time they are due."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._fresh: deque[Entry] = deque()
        self._heap: list[tuple[float, int, Entry]] = []
        self._held = 0
        self._sent = 0
        self._turns = 0
        self._waiters: deque[asyncio.Future[None]] = deque()

    def __len__(self) -> int:
        return len(self._fresh) + self._held

    def put(self, packed: Packed, reply_to: str | None = None, reply_box: Any = None) -> str:
        """Add a message, and wake one who waits."""
        self._sent += 1
        entry = Entry(str(self._sent), packed, reply_to, reply_box, self._clock.now())
        self._fresh.append(entry)
        if self._waiters:
            self._wake_one()
        return entry.id

    def take(self, most: int, seconds: float) -> list[Entry]:
        """Those that came back, earliest first, then new ones; each is held for so many seconds."""
        now = self._clock.monotonic()
        taken: list[Entry] = []
        heap = self._heap
        while heap and heap[0][0] <= now and len(taken) < most:
            _, turn, entry = heappop(heap)
            if entry.turn == turn:
                self._held -= 1
                taken.append(entry)
        fresh = self._fresh
        while fresh and len(taken) < most:
            taken.append(fresh.popleft())
        for entry in taken:
            entry.count += 1
            self._schedule(entry, now + seconds)
            entry.holder = entry.turn
            self._held += 1
        return taken

    def holds(self, entry: Entry, holder: int) -> bool:
        """Whether that delivery still counts."""
        return entry.holder == holder and entry.due > self._clock.monotonic()

    def drop(self, entry: Entry) -> None:
        """Remove a held message."""
        entry.holder = entry.turn = 0
        self._held -= 1
        if len(self._heap) > 2 * self._held + _SWEEP_FROM:
            self._sweep()

    def drop_oldest(self) -> None:
        """Make room by losing the message that has been there longest."""
        if self._fresh:
            self._fresh.popleft()
        elif self._next_due() < math.inf:
            self.drop(self._heap[0][2])

    def defer(self, entry: Entry, seconds: float, *, keep: bool) -> None:
        """Make a held message due in so many seconds."""
        if not keep:
            entry.holder = 0
        self._schedule(entry, self._clock.monotonic() + seconds)

    def clear(self) -> int:
        """Remove all messages; no delivery counts any more."""
        count = len(self)
        for _, _, entry in self._heap:
            entry.holder = entry.turn = 0
        self._heap.clear()
        self._fresh.clear()
        self._held = 0
        return count

    async def wait(self, deadline: float) -> None:
        """Return when there may be something to take, and at the deadline at the latest."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        seconds = min(deadline, self._next_due()) - self._clock.monotonic()
        timer = asyncio.ensure_future(self._clock.sleep(max(0.0, seconds)))
        try:
            await asyncio.wait({waiter, timer}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            if waiter.done() and self._waiters:
                self._wake_one()  # It was meant for somebody who takes it.
            raise
        finally:
            timer.cancel()
            if not waiter.done():
                self._waiters.remove(waiter)

    def wake_all(self) -> None:
        """Let all who wait look again."""
        while self._waiters:
            self._wake_one()

    def _schedule(self, entry: Entry, due: float) -> None:
        # Whoever waits has reckoned with a later time.
        sooner = bool(self._waiters) and due < self._next_due()
        self._turns += 1
        entry.due, entry.turn = due, self._turns
        heappush(self._heap, (due, self._turns, entry))
        if sooner:
            self.wake_all()

    def _next_due(self) -> float:
        heap = self._heap
        while heap and heap[0][2].turn != heap[0][1]:
            heappop(heap)
        return heap[0][0] if heap else math.inf

    def _wake_one(self) -> None:
        self._waiters.popleft().set_result(None)

    def _sweep(self) -> None:
        self._heap = [item for item in self._heap if item[2].turn == item[1]]
        heapify(self._heap)


class MemoryHouse:
    """The mailboxes of a process that find each other by name."""

    def __init__(self, clock: Clock, *, max_queues: int = 10_000) -> None:
        self.clock = clock
        self._max_queues = max_queues
        self._queues: dict[str, MemoryQueue] = {}
        self._handles: dict[str, int] = {}

    def enter(self, name: str) -> MemoryQueue:
        """The queue of that name, for a handle that will leave it."""
        self._handles[name] = self._handles.get(name, 0) + 1
        return self.find(name)

    def leave(self, name: str) -> None:
        """The handle is closed; an empty queue without handles is forgotten."""
        self._handles[name] -= 1
        if not self._handles[name]:
            del self._handles[name]
            if not self._queues[name]:
                del self._queues[name]

    def find(self, name: str) -> MemoryQueue:
        """The queue of that name. Of too many, the oldest that nobody has open goes."""
        found = self._queues.get(name)
        if found is None:
            if len(self._queues) >= self._max_queues:
                forgotten = next((old for old in self._queues if old not in self._handles), None)
                if forgotten is not None:
                    del self._queues[forgotten]
            found = self._queues[name] = MemoryQueue(self.clock)
        return found


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

    async def answer(self, receipt: Receipt, reply_to: str, body: Any) -> str:
        """For its messages: reply."""
        box = receipt.entry.reply_box
        if box is not None and not box.closed:
            sent: str = await box.send(body)
            return sent
        queue = self._house.find(reply_to)
        packed = self._settings.types.encode(body)
        if len(queue) >= self._settings.max_size:
            raise full(reply_to, self._settings.max_size)
        return queue.put(packed)

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
            enqueued_at=entry.at,
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
