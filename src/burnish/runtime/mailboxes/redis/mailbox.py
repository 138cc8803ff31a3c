"""Redis mailbox, for loops on any number of machines; Valkey serves as well."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from burnish.domain import BurnishError
from burnish.domain.mailboxes import DeadLetter, Mailbox
from burnish.runtime.mailboxes.held_message import HeldMessage
from burnish.runtime.mailboxes.message_types import (
    MessageTypes,
    Packed,
    UndecodableError,
    dead_letter,
)
from burnish.runtime.mailboxes.redis.link import RedisLink
from burnish.runtime.mailboxes.redis.stream import Delivered, Receipt, RedisStream, Taken
from burnish.runtime.mailboxes.rules import (
    MAX_DELIVERIES,
    MailboxSettings,
    address,
    check_receive,
    closed,
    foreign_reply_mailbox,
    full,
    receipt_expired,
)

if TYPE_CHECKING:
    from redis.asyncio import Redis

BodyT = TypeVar("BodyT")
ReplyT = TypeVar("ReplyT")

_PATIENCE = 15.0
# How long a handle that is closed or cancelled may still talk to a server that may be gone.
_CLOSING_SECONDS = 1.0
_MAX_CORRESPONDENTS = 256


class RedisMailbox(Generic[BodyT, ReplyT]):
    """Implements `burnish.domain.mailboxes.Mailbox` on a stream with a consumer group.

    The client is the caller's and stays open. A server that is away is waited for up to `patience`
    seconds a call. Messages that are sent or settled at the same time share a round trip; a receiver
    that waits uses one connection of the client's pool. A mailbox that nobody writes to for 14 days
    is forgotten by the server.
    """

    def __init__(
        self,
        name: str,
        client: Redis,
        *,
        max_size: int | None = None,
        max_delivery_count: int = MAX_DELIVERIES,
        types: MessageTypes | None = None,
        patience: float = _PATIENCE,
    ) -> None:
        settings = MailboxSettings.of(
            name, max_size=max_size, max_delivery_count=max_delivery_count, types=types
        )
        self._open(settings, RedisLink(client, patience=patience))

    def _open(self, settings: MailboxSettings, link: RedisLink) -> None:
        self._settings = settings
        self._link = link
        self._stream = RedisStream(settings.name, link, settings.max_size)
        self._correspondents: dict[str, RedisMailbox[Any, Any]] = {}
        self._closing = asyncio.Event()
        self._has_received = False
        self.name = settings.name

    @property
    def closed(self) -> bool:
        """Whether this handle was closed."""
        return self._closing.is_set()

    @cached_property
    def dead_letters(self) -> RedisMailbox[DeadLetter, Any]:
        """Where messages end that no one could handle."""
        return self.sibling(self._settings.dead_name)

    def sibling(self, name: str) -> RedisMailbox[Any, Any]:
        """Another mailbox on the same server."""
        other: RedisMailbox[Any, Any] = object.__new__(RedisMailbox)
        other._open(self._settings.named(name), self._link)
        return other

    async def send(self, body: BodyT, *, reply_to: Mailbox[Any, Any] | str | None = None) -> str:
        """Add a message, or refuse it."""
        if self.closed:
            raise closed(self.name)
        if not (reply_to is None or isinstance(reply_to, (str, RedisMailbox))):
            raise foreign_reply_mailbox(self.name, reply_to.name)
        sent = await self._stream.send(self._settings.types.encode(body), address(reply_to))
        if sent is None:
            raise full(self.name, self._settings.max_size)
        return sent

    async def receive(
        self,
        *,
        max_messages: int = 1,
        visibility_timeout: float = 30,
        wait_time_seconds: float = 0,
    ) -> Sequence[HeldMessage[BodyT, Receipt]]:
        """What is there, or what comes while waiting."""
        if self.closed:
            raise closed(self.name)
        check_receive(max_messages, visibility_timeout, wait_time_seconds)
        deadline = time.monotonic() + wait_time_seconds
        while True:
            taken = await self._take(max_messages, visibility_timeout)
            received = await self._open_all(taken.messages)
            if received:
                return received
            if taken.messages:
                continue  # All of them went to the dead letters.
            left = deadline - time.monotonic()
            if left <= 0 or self.closed:
                return []
            await self._wait(min(left, taken.next_due), taken.rung)
            if self.closed:
                return []

    async def purge(self) -> int:
        """Drop all messages."""
        return await self._stream.purge()

    async def approximate_count(self) -> int:
        """Messages that wait and messages that are held."""
        return await self._stream.count()

    async def close(self) -> None:
        """End this handle. What the server cannot be told now, it finds out by itself."""
        if self.closed:
            return
        self._closing.set()
        if not self._has_received:
            return
        with suppress(BurnishError, TimeoutError):
            async with asyncio.timeout(_CLOSING_SECONDS):
                await self._stream.leave()

    async def settle(self, receipt: Receipt) -> None:
        """For its messages: drop one."""
        if not await self._stream.drop(receipt):
            raise receipt_expired(self.name, receipt.id)

    async def defer(self, receipt: Receipt, seconds: float, *, keep: bool) -> None:
        """For its messages: make one due later."""
        if not await self._stream.defer(receipt, seconds, keep=keep):
            raise receipt_expired(self.name, receipt.id)

    async def answer(self, receipt: Receipt, reply_to: str, body: Any) -> str:
        """For its messages: reply."""
        del receipt
        box = self._correspondents.pop(reply_to, None) or self.sibling(reply_to)
        self._correspondents[reply_to] = box
        if len(self._correspondents) > _MAX_CORRESPONDENTS:
            del self._correspondents[next(iter(self._correspondents))]
        return await box.send(body)

    async def _take(self, most: int, seconds: float) -> Taken:
        """What the server gave; if the caller is cancelled meanwhile, it is given back."""
        self._has_received = True
        taking = asyncio.ensure_future(self._stream.take(most, seconds))
        try:
            return await asyncio.shield(taking)
        except asyncio.CancelledError:
            with suppress(BurnishError, TimeoutError):
                async with asyncio.timeout(_CLOSING_SECONDS):
                    taken = await taking
                    await asyncio.gather(
                        *(self._stream.defer(one.receipt, 0, keep=False) for one in taken.messages)
                    )
            raise

    async def _wait(self, seconds: float, rung: str) -> None:
        reading = asyncio.ensure_future(self._stream.wait(seconds, rung))
        closing = asyncio.ensure_future(self._closing.wait())
        try:
            await asyncio.wait({reading, closing}, return_when=asyncio.FIRST_COMPLETED)
            if reading.done():
                reading.result()
        finally:
            reading.cancel()
            closing.cancel()

    async def _open_all(self, delivered: Sequence[Delivered]) -> list[HeldMessage[BodyT, Receipt]]:
        received: list[HeldMessage[BodyT, Receipt]] = []
        graves: list[tuple[Receipt, Packed]] = []
        for one in delivered:
            explanation: str | None = None
            if not self._settings.is_worn_out(one.receipt.delivery):
                try:
                    received.append(self._message(one))
                except UndecodableError as error:
                    explanation = str(error)
                else:
                    continue
            graves.append((one.receipt, self._letter(one, explanation)))
        if graves:
            await self._stream.bury(graves)
        return received

    def _message(self, one: Delivered) -> HeldMessage[BodyT, Receipt]:
        if one.packed is None:
            raise UndecodableError("it is not a message that a mailbox has written")
        body = self._settings.types.decode(one.packed)
        return HeldMessage(
            self,
            one.receipt,
            id=one.receipt.id,
            body=body,
            delivery_count=one.receipt.delivery,
            # A stream's ids begin with the server's time in milliseconds.
            enqueued_at=datetime.fromtimestamp(int(one.receipt.id.partition("-")[0]) / 1000, UTC),
            reply_to=one.reply_to,
        )

    def _letter(self, one: Delivered, explanation: str | None) -> Packed:
        return self._settings.types.encode(
            dead_letter(
                self.name,
                one.receipt.id,
                one.packed or Packed("", 0, one.raw),
                reply_to=one.reply_to,
                # The one that found it is no delivery.
                delivery_count=one.receipt.delivery - 1,
                explanation=explanation,
            )
        )
