"""Mailboxes: how work travels between loops, in one process or over many machines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol, TypeVar

BodyT = TypeVar("BodyT")
BodyT_co = TypeVar("BodyT_co", covariant=True)
ReplyT_contra = TypeVar("ReplyT_contra", contravariant=True)


class Message(Protocol[BodyT_co, ReplyT_contra]):
    """One delivery of a message: its holder has it alone until the visibility timeout runs out.

    After `acknowledge` it is gone for good. After `nack`, or when time runs out, anybody may receive
    it, and this delivery counts no more: each further `acknowledge`, `nack` or `extend_visibility` of
    it is refused at once with ConflictError, code `receipt_expired`. Times are seconds from now by
    the backend's own clock; the holder's clock means nothing.

    `reply` sends to the mailbox that the sender named, whether or not the delivery still counts; the
    same request may therefore be answered twice. It returns the id of the reply.

    `enqueued_at` is when the message was sent, by the backend's clock.
    """

    @property
    def id(self) -> str: ...

    @property
    def body(self) -> BodyT_co: ...

    @property
    def delivery_count(self) -> int: ...

    @property
    def enqueued_at(self) -> datetime: ...

    @property
    def reply_to(self) -> str | None: ...

    async def acknowledge(self) -> None: ...

    async def nack(self, *, visibility_timeout: float = 0) -> None: ...

    async def extend_visibility(self, timeout: float) -> None: ...

    async def reply(self, body: ReplyT_contra) -> str: ...


class Mailbox(Protocol[BodyT, ReplyT_contra]):
    """A bounded queue with the semantics of SQS: at least once, and one holder at a time.

    Handles of one name on one backend are the same queue. A handle belongs to one event loop.

    - `send` returns the message's id, and refuses what is not of a declared type or too large
      (UsageError), and any message when the mailbox is full (UnavailableError, `mailbox_full`).
    - `receive` returns at once what is there, up to `max_messages`, and waits up to
      `wait_time_seconds` only while nothing is. New messages come in the order they were sent,
      after those that came back.
    - A message that was delivered `max_delivery_count` times and came back, or that cannot be
      decoded, goes to `dead_letters` with the reason and is never returned.
    - `purge` drops all messages, held ones too, and says how many; the dead letters stay.
    - `approximate_count` counts messages that wait and messages that are held.
    - `close` ends this handle: receivers that wait return nothing, and sending or receiving is
      refused (UsageError, `mailbox_closed`). Messages it gave out can still be settled.
    - `sibling` is another mailbox of the same backend and settings, for replies: a name given as
      `reply_to` is looked up there, so replies reach other machines.
    """

    @property
    def name(self) -> str: ...

    @property
    def closed(self) -> bool: ...

    @property
    def dead_letters(self) -> Mailbox[DeadLetter, Any]: ...

    async def send(
        self, body: BodyT, *, reply_to: Mailbox[Any, Any] | str | None = None
    ) -> str: ...

    async def receive(
        self,
        *,
        max_messages: int = 1,
        visibility_timeout: float = 30,
        wait_time_seconds: float = 0,
    ) -> Sequence[Message[BodyT, ReplyT_contra]]: ...

    async def purge(self) -> int: ...

    async def approximate_count(self) -> int: ...

    async def close(self) -> None: ...

    def sibling(self, name: str) -> Mailbox[Any, Any]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """A message that no one could handle, as it stood, and why.

    `payload` is the body as it travelled: text, or base64 of bytes that are no text.
    """

    mailbox: str
    message_id: str
    reason: Literal["too_many_deliveries", "undecodable"]
    explanation: str
    delivery_count: int
    type: str
    version: int
    payload: str
    encoding: Literal["utf-8", "base64"] = "utf-8"
    reply_to: str | None = None
