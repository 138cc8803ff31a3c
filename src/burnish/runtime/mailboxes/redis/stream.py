"""Redis keys of a mailbox, and the steps that are taken on them."""

from __future__ import annotations

import itertools
import math
import os
import re
import secrets
import socket
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

from burnish.runtime.mailboxes.message_types import Packed
from burnish.runtime.mailboxes.redis.link import Coalescer, NoGroupError, RedisLink
from burnish.runtime.mailboxes.redis.scripts import (
    BURY,
    CREATE,
    LEAVE,
    PURGE,
    RECEIVE,
    SEND,
    SETTLE,
    SLICE_MS,
)
from burnish.runtime.mailboxes.rules import DEAD_SUFFIX, MAX_DEAD_LETTERS

_HEAD = re.compile(rb"([!-~]{1,64}) ([1-9][0-9]{0,8}) ([A-Za-z0-9._-]{0,125})\n")


class Receipt(NamedTuple):
    """One delivery of a message."""

    id: str
    delivery: int


class Delivered(NamedTuple):
    """A message as it came; when it is not one of ours there is no `packed`, but what it is."""

    receipt: Receipt
    packed: Packed | None
    reply_to: str | None
    raw: bytes


class Taken(NamedTuple):
    """What was there; if nothing, then how long to block on what."""

    messages: list[Delivered]
    rung: str
    next_due: float


class _Act(NamedTuple):
    receipt: Receipt
    act: Literal["drop", "return", "hold"]
    seconds: float


class RedisStream:
    """One handle's view of the stream of a mailbox."""

    def __init__(self, name: str, link: RedisLink, max_size: int) -> None:
        self._link = link
        self._max_size = max_size
        keys = _Keys.of(name)
        self._keys = [keys.messages, keys.due, keys.bell]
        grave = _Keys.of(name.removesuffix(DEAD_SUFFIX) + DEAD_SUFFIX)
        self._grave = [grave.messages, grave.bell]
        self._consumer = _consumer_name()
        self._tickets = itertools.count(1)
        self._send_ticket = f"{keys.ticket}:{self._consumer}:send"
        self._settle_ticket = f"{keys.ticket}:{self._consumer}:settle"
        self._sends = Coalescer(self._send_all, weigh=len)
        self._acts = Coalescer(self._settle_all)

    async def send(self, packed: Packed, reply_to: str | None) -> str | None:
        """The id of the new message, or None if there is no room."""
        return await self._sends.submit(_write(packed, reply_to))

    async def drop(self, receipt: Receipt) -> bool:
        """Whether the message was still held, and is gone now."""
        return await self._acts.submit(_Act(receipt, "drop", 0))

    async def defer(self, receipt: Receipt, seconds: float, *, keep: bool) -> bool:
        """Whether the message was still held, and is due in so many seconds now."""
        return await self._acts.submit(_Act(receipt, "hold" if keep else "return", seconds))

    async def take(self, most: int, seconds: float) -> Taken:
        """Messages that came back and new ones, held for so many seconds."""
        try:
            reply = await self._receive(most, seconds)
        except NoGroupError:
            await self._link.run(CREATE, self._keys[:1])
            reply = await self._receive(most, seconds)
        rung, next_due, heads, messages = reply
        return Taken(
            list(_read_all(heads.decode().split(" "), messages)) if heads else [],
            rung.decode(),
            next_due / 1000 if next_due >= 0 else math.inf,
        )

    async def wait(self, seconds: float, rung: str) -> None:
        """Until there may be something to take; never longer than a slice."""
        milliseconds = min(SLICE_MS, math.ceil(seconds * 1000))
        if milliseconds > 0:  # Redis takes 0 as forever.
            await self._link.block(self._keys[2], rung, milliseconds)

    async def bury(self, graves: Sequence[tuple[Receipt, Packed]]) -> None:
        """Put letters in the place of messages, unless somebody else has them by now."""
        words: list[Any] = [self._consumer, MAX_DEAD_LETTERS]
        for receipt, letter in graves:
            words += (*receipt, _write(letter, None))
        await self._link.run(BURY, self._keys + self._grave, *words)

    async def purge(self) -> int:
        """Remove all messages."""
        return int(await self._link.run(PURGE, self._keys))

    async def count(self) -> int:
        """Messages that wait and messages that are held."""
        return int(await self._link.call("XLEN", self._keys[0]))

    async def leave(self) -> None:
        """Take this handle off the list of consumers, unless it still holds messages."""
        await self._link.run(LEAVE, self._keys[:1], self._consumer)

    async def _receive(self, most: int, seconds: float) -> Any:
        milliseconds = math.ceil(seconds * 1000)
        return await self._link.run(RECEIVE, self._keys, self._consumer, most, milliseconds)

    async def _send_all(self, messages: list[bytes]) -> list[str | None]:
        ticket = f"{next(self._tickets)}:"
        keys = [*self._keys, self._send_ticket]
        lengths = " ".join([str(len(message)) for message in messages])
        words = (ticket, self._max_size, lengths, b"".join(messages))
        said = await self._link.run(SEND, keys, *words)
        return [None if one == "-" else one for one in said.decode().split(" ")]

    async def _settle_all(self, calls: list[_Act]) -> list[bool]:
        words = " ".join(
            f"{receipt.id} {receipt.delivery} {act} {math.ceil(seconds * 1000)}"
            for receipt, act, seconds in calls
        )
        keys = [*self._keys, self._settle_ticket]
        ticket = f"{next(self._tickets)}:"
        try:
            said = await self._link.run(SETTLE, keys, ticket, self._consumer, words)
        except NoGroupError:
            return [False] * len(calls)
        return [one == b"1" for one in said.split(b" ")]


def _write(packed: Packed, reply_to: str | None) -> bytes:
    """A message as it lies in the stream: a line about it, then its body."""
    return b"%b %d %b\n%b" % (
        packed.type.encode(),
        packed.version,
        (reply_to or "").encode(),
        packed.payload,
    )


def _read_all(words: list[str], messages: bytes) -> Iterator[Delivered]:
    """What the server gave, which may be anything that somebody put there."""
    start = 0
    for id_, delivery, length in zip(words[::3], words[1::3], words[2::3], strict=True):
        receipt, end = Receipt(id_, int(delivery)), start + int(length)
        head = _HEAD.match(messages, start, end)
        if head is None:
            yield Delivered(receipt, None, None, messages[start:end])
        else:
            type_, version, reply_to = head.groups()
            packed = Packed(type_.decode(), int(version), messages[head.end() : end])
            yield Delivered(receipt, packed, reply_to.decode() or None, b"")
        start = end


class _Keys(NamedTuple):
    messages: str
    due: str
    bell: str
    ticket: str

    @classmethod
    def of(cls, name: str) -> _Keys:
        # The braces keep a mailbox and its dead letters on one node of a cluster.
        suffix = DEAD_SUFFIX if name.endswith(DEAD_SUFFIX) else ""
        root = f"burnish:mailbox:{{{name.removesuffix(DEAD_SUFFIX)}}}{suffix}"
        return cls(f"{root}:messages", f"{root}:due", f"{root}:bell", f"{root}:ticket")


def _consumer_name() -> str:
    """Tells people who holds a message, and no two handles apart by chance."""
    host = re.sub(r"[^A-Za-z0-9.-]", "-", socket.gethostname())[:60]
    return f"{host}-{os.getpid()}-{secrets.token_hex(6)}"
