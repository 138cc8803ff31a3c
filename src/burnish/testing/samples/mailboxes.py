"""Worlds of mailboxes, and messages to send in them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from typing import Any
from uuid import UUID

from burnish.domain import Clock
from burnish.domain.mailboxes import DeadLetter, Mailbox, Message
from burnish.runtime.mailboxes import InMemoryMailbox, MemoryHouse, MessageTypes, RedisMailbox
from burnish.testing.clocks import FakeClock


class Mood(Enum):
    """A field of a message."""

    CALM = "calm"
    TENSE = "tense"


@dataclass(frozen=True, slots=True)
class Note:
    """A message with nothing special about it."""

    number: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class Letter:
    """A message with fields of many types."""

    id: UUID
    at: datetime
    mood: Mood
    notes: tuple[Note, ...]
    flags: Mapping[str, bool] = field(default_factory=dict)
    weight: float | None = None
    extra: Any = None


@dataclass(frozen=True, slots=True)
class Riddle:
    """A message that not everybody can read."""

    number: int


LETTER = Letter(
    id=UUID(int=7),
    at=datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC),
    mood=Mood.TENSE,
    notes=(Note(1, "spaces  and\nlines\r\n\x00"), Note(-(2**70), "é 漢 🜁 \u2028 \x7f")),
    flags={"a b": True, "": False},
    weight=0.1,
    extra={"deep": [None, [1, {"er": "…"}]]},
)


def known_types(*, max_bytes: int = 100_000) -> MessageTypes:
    """What the contract's mailboxes know."""
    types = MessageTypes(max_bytes=max_bytes)
    types.declare(Note, "note")
    types.declare(Letter, "letter")
    return types


def stranger_types() -> MessageTypes:
    """What a sender of another release knows."""
    types = MessageTypes()
    types.declare(Note, "note", version=2)
    types.declare(Riddle, "riddle")
    types.declare(Letter, "note")
    return types


class MailboxWorld(ABC):
    """Mailboxes of one backend. `pass_time` takes no time; waiting for a message does."""

    clock: Clock
    # How late somebody may hear of what happened and still count as woken by it.
    slack: float

    @abstractmethod
    def open(self, name: str = "work", **settings: Any) -> Mailbox[Any, Any]:
        """A handle on the mailbox of that name."""

    @abstractmethod
    async def pass_time(self, seconds: float) -> None:
        """Let held messages come closer to being due."""

    def open_stranger(self, name: str = "work") -> Mailbox[Any, Any]:
        """A handle that writes what others cannot read."""
        return self.open(name, types=stranger_types())


class MemoryWorld(MailboxWorld):
    """Mailboxes in this process, on a clock of their own."""

    # Nothing takes time here but waiting.
    slack = 0.001

    def __init__(self) -> None:
        self.clock: FakeClock = FakeClock()
        self._house = MemoryHouse(self.clock)

    def open(self, name: str = "work", **settings: Any) -> Mailbox[Any, Any]:
        """A handle in the house."""
        settings.setdefault("types", known_types())
        box: InMemoryMailbox[Any, Any] = InMemoryMailbox(name, house=self._house, **settings)
        return box

    async def pass_time(self, seconds: float) -> None:
        """On the clock."""
        self.clock.advance(seconds)


def open_redis_box(client: Any, name: str = "work", **settings: Any) -> RedisMailbox[Any, Any]:
    """A handle on a server's mailbox that knows the contract's messages."""
    settings.setdefault("types", known_types())
    return RedisMailbox(name, client, **settings)


class RedisWorld(MailboxWorld):
    """Mailboxes on a server whose clock cannot be set: due moments are moved instead."""

    # Who is not woken waits for the 30 seconds of a long poll: half of them tell the two apart,
    # however busy the machine is.
    slack = 15.0

    def __init__(self, client: Any, clock: Clock) -> None:
        self.client = client
        self.clock = clock

    def open(self, name: str = "work", **settings: Any) -> Mailbox[Any, Any]:
        """A handle on the server."""
        return open_redis_box(self.client, name, **settings)

    async def pass_time(self, seconds: float) -> None:
        """Each held message of each mailbox is due so much earlier."""
        for key in await self.client.keys("burnish:mailbox:*:due"):
            for member, moment in await self.client.zrange(key, 0, -1, withscores=True):
                await self.client.zadd(key, {member: moment - 1000 * seconds})


async def receive_one(box: Mailbox[Any, Any], **settings: Any) -> Message[Any, Any]:
    """The one message that is there."""
    (message,) = await box.receive(**settings)
    return message


async def bodies(box: Mailbox[Any, Any], **settings: Any) -> list[Any]:
    """What is there, and stays held."""
    return [one.body for one in await box.receive(max_messages=1_000, **settings)]


async def dead(box: Mailbox[Any, Any]) -> list[DeadLetter]:
    """The dead letters, which are gone then."""
    messages = await box.dead_letters.receive(max_messages=1_000)
    for one in messages:
        await one.acknowledge()
    return [one.body for one in messages]
