"""Queues with the semantics of SQS, in this process or on Redis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from burnish.domain.mailboxes import DeadLetter, Mailbox, Message
from burnish.runtime.mailboxes.memory_mailbox import InMemoryMailbox, MemoryHouse
from burnish.runtime.mailboxes.message_types import (
    MESSAGE_TYPES,
    JsonMessage,
    MessageTypes,
    message_type,
    packed_body,
)

if TYPE_CHECKING:
    from burnish.runtime.mailboxes.redis.mailbox import RedisMailbox

__all__ = [
    "MESSAGE_TYPES",
    "DeadLetter",
    "InMemoryMailbox",
    "JsonMessage",
    "Mailbox",
    "MemoryHouse",
    "Message",
    "MessageTypes",
    "RedisMailbox",
    "message_type",
    "packed_body",
]


def __getattr__(name: str) -> Any:
    # On first use: redis is an extra, and its absence is told to those who need it.
    if name == "RedisMailbox":
        from burnish.runtime.mailboxes.redis.mailbox import RedisMailbox  # noqa: PLC0415

        return RedisMailbox
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
