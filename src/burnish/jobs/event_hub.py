"""Event hub: one reader of events a process, and everybody who watches; each is encoded once."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, Self, TypeVar

from burnish.domain import BurnishError, UsageError
from burnish.domain.optimizations.records import EventListener

_log = logging.getLogger("burnish.events")
_PAGE = 500
_PAUSE_SECONDS = 0.005
_RETRY_SECONDS = 1.0


class Numbered(Protocol):
    """Something that happened to one job, numbered upwards."""

    @property
    def sequence(self) -> int:
        """Its number."""
        ...

    @property
    def created_at(self) -> str:
        """When it happened."""
        ...


E = TypeVar("E", bound=Numbered)
E_co = TypeVar("E_co", bound=Numbered, covariant=True)


class Feed(Protocol[E_co]):
    """Reads what happened, for many jobs in one go."""

    async def positions(self, job_ids: Sequence[str], /) -> dict[str, int]:
        """The last sequence number of each; 0 without events. Unknown ids are left out."""
        ...

    async def after(
        self, positions: Mapping[str, int], /, *, limit: int
    ) -> Mapping[str, Sequence[E_co]]:
        """Events past each one's position, in order, at most `limit` of each."""
        ...


@dataclass(frozen=True, slots=True)
class EncodedEvent(Generic[E]):
    """An event as it goes out, encoded once for all who watch."""

    optimization_id: str
    sequence: int
    event: E
    body: bytes


@dataclass(slots=True)
class _Watch(Generic[E]):
    last: int
    watchers: set[Subscription[E]] = field(default_factory=set)


class Subscription(Generic[E]):
    """What one watcher was not given yet; more than `room` means that it is too slow.

    A watcher says when it sends; `on_stuck` is called when one send takes too long.
    """

    def __init__(
        self, optimization_ids: Sequence[str], room: int, *, newest_only: bool = False
    ) -> None:
        self.optimization_ids = tuple(optimization_ids)
        self.overrun = False
        self.closed = False
        self.on_stuck: Callable[[], object] | None = None
        self._sending = False
        self._idle_ticks = 0
        self._room = room
        self._newest_only = newest_only
        self._waiting: deque[EncodedEvent[E]] = deque()
        self._ready = asyncio.Event()

    def put(self, encoded: Sequence[EncodedEvent[E]]) -> None:
        """Give it events; what does not fit is dropped, and `overrun` says so."""
        if self._newest_only:
            self._waiting = deque(encoded[-1:])
        elif self.overrun or len(self._waiting) + len(encoded) > self._room:
            self.overrun = True
            self._waiting.clear()
        else:
            self._waiting.extend(encoded)
        self._ready.set()

    def forgive(self) -> None:
        """Forget that it was too slow: what it missed has been read otherwise."""
        self.overrun = False

    def begin_send(self) -> None:
        """From here on it waits for its client."""
        self._sending = True

    def end_send(self) -> None:
        """Its client has taken what was sent."""
        self._sending = False
        self._idle_ticks = 0

    def close(self) -> None:
        """Nothing more will come."""
        self.closed = True
        self._ready.set()

    async def take(self) -> list[EncodedEvent[E]]:
        """Everything that waits; empty when nothing came for a while, or nothing more will."""
        await self._ready.wait()
        self._idle_ticks = 0
        if not self.closed and not self.overrun:
            self._ready.clear()
        taken = list(self._waiting)
        self._waiting.clear()
        return taken

    def tick(self, *, quiet_after: int, stuck_after: int) -> None:
        """Time has passed: one clock for all watchers is cheaper than one for each."""
        self._idle_ticks += 1
        if self._sending:
            if self._idle_ticks > stuck_after and self.on_stuck is not None:
                self.on_stuck()
        elif self._idle_ticks >= quiet_after:
            self._ready.set()


class EventHub(Generic[E]):
    """Reads new events of what is watched, and hands them to all watchers.

    Without a listener it looks every `look_seconds`; with one it looks when that notifies, and every
    `slow_seconds` all the same. `notify` is for writers in this process. After `quiet_seconds` without
    an event a watcher is woken, and after `stuck_seconds` in one send it is told. With `newest_only`
    an event is a whole state, so a slow watcher gets the newest and misses those in between.
    """

    def __init__(
        self,
        feed: Feed[E],
        encode: Callable[[str, E], bytes],
        *,
        listener: EventListener | None = None,
        look_seconds: float = 0.05,
        slow_seconds: float = 2.0,
        room: int = 1000,
        quiet_seconds: float = 15.0,
        stuck_seconds: float = 30.0,
        newest_only: bool = False,
    ) -> None:
        self._feed = feed
        self._encode = encode
        self._listener = listener
        self._look = slow_seconds if listener is not None else look_seconds
        self._room = room
        self._newest_only = newest_only
        self._tick_seconds = min(quiet_seconds, stuck_seconds, 1.0)
        self._quiet_after = max(round(quiet_seconds / self._tick_seconds), 1)
        self._stuck_after = max(round(stuck_seconds / self._tick_seconds), 1)
        self._subscriptions: set[Subscription[E]] = set()
        self._watched: dict[str, _Watch[E]] = {}
        self._notified: set[str] = set()
        self._all = False
        self._wake = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self.closed = False

    async def __aenter__(self) -> Self:
        self._tasks.append(asyncio.create_task(self._tail(), name="events"))
        self._tasks.append(asyncio.create_task(self._tick(), name="event clock"))
        if self._listener is not None:
            self._tasks.append(
                asyncio.create_task(self._listen(self._listener), name="event listener")
            )
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._listener is not None:
            await self._listener.close()

    @property
    def watchers(self) -> int:
        """How many watch at the moment."""
        return len(self._subscriptions)

    def notify(self, optimization_id: str | None = None) -> None:
        """There may be events of this one, or of any."""
        if optimization_id is None:
            self._all = True
        else:
            self._notified.add(optimization_id)
        self._wake.set()

    def close(self) -> None:
        """Tell every watcher that nothing more will come."""
        self.closed = True
        for one in self._subscriptions:
            one.close()

    async def subscribe(
        self, optimization_ids: Sequence[str]
    ) -> tuple[Subscription[E], dict[str, int]]:
        """A subscription to all that comes from now on, and the last event of each until then."""
        positions = await self._feed.positions(optimization_ids)
        for one in optimization_ids:
            if one not in positions:
                raise UsageError(
                    what=f"there is no optimization {one!r}",
                    why="no optimization with that id is stored",
                    fix="take an id from the list of optimizations",
                    code="not_found",
                )
        subscription: Subscription[E] = Subscription(
            optimization_ids, self._room, newest_only=self._newest_only
        )
        self._subscriptions.add(subscription)
        for one in optimization_ids:
            watch = self._watched.setdefault(one, _Watch(positions[one]))
            watch.watchers.add(subscription)
        if self.closed:
            subscription.close()
        self.notify()
        return subscription, positions

    def unsubscribe(self, subscription: Subscription[E]) -> None:
        """It is not watched any more."""
        self._subscriptions.discard(subscription)
        for one in subscription.optimization_ids:
            watch = self._watched.get(one)
            if watch is not None:
                watch.watchers.discard(subscription)
                if not watch.watchers:
                    del self._watched[one]

    async def after(self, positions: Mapping[str, int]) -> list[EncodedEvent[E]]:
        """What came after the positions, a page of it, in the order it happened."""
        found = await self._feed.after(positions, limit=_PAGE)
        encoded = [self._encoded(one, event) for one, events in found.items() for event in events]
        return sorted(encoded, key=lambda one: one.event.created_at) if len(found) > 1 else encoded

    async def _tail(self) -> None:
        while True:
            try:
                await self._wait()
                await self._read()
                # What comes in a burst is read together.
                await asyncio.sleep(_PAUSE_SECONDS)
            except Exception as error:  # noqa: BLE001 - a bug must not end every stream
                bug = not isinstance(error, BurnishError)
                _log.warning("events cannot be read: %s", error, exc_info=bug)
                self.notify()
                await asyncio.sleep(_RETRY_SECONDS)

    async def _wait(self) -> None:
        try:
            # Nobody watches: nothing to look for until somebody does.
            async with asyncio.timeout(self._look if self._watched else None):
                await self._wake.wait()
        except TimeoutError:
            self._all = True

    async def _read(self) -> None:
        self._wake.clear()
        notified, self._notified = self._notified, set()
        every, self._all = self._all, False
        positions = {
            one: watch.last for one, watch in self._watched.items() if every or one in notified
        }
        if not positions:
            return
        found = await self._feed.after(positions, limit=_PAGE)
        for optimization_id, events in found.items():
            if len(events) == _PAGE:
                self.notify(optimization_id)
            self._publish(optimization_id, events)

    def _publish(self, optimization_id: str, events: Sequence[E]) -> None:
        watch = self._watched.get(optimization_id)
        if watch is None:
            return
        encoded = [
            self._encoded(optimization_id, one) for one in events if one.sequence > watch.last
        ]
        if not encoded:
            return
        watch.last = encoded[-1].sequence
        for one in watch.watchers:
            one.put(encoded)

    def _encoded(self, optimization_id: str, event: E) -> EncodedEvent[E]:
        return EncodedEvent(
            optimization_id, event.sequence, event, self._encode(optimization_id, event)
        )

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(self._tick_seconds)
            for one in tuple(self._subscriptions):
                one.tick(quiet_after=self._quiet_after, stuck_after=self._stuck_after)

    async def _listen(self, listener: EventListener) -> None:
        async for optimization_id in listener.notifications():
            self.notify(optimization_id)
