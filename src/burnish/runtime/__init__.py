"""Mailboxes and the loops that serve them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from burnish.runtime.mailboxes import (
    MESSAGE_TYPES,
    DeadLetter,
    InMemoryMailbox,
    Mailbox,
    Message,
    MessageTypes,
    message_type,
)

if TYPE_CHECKING:
    from burnish.runtime.mailboxes import RedisMailbox

__all__ = [
    "MESSAGE_TYPES",
    "DeadLetter",
    "InMemoryMailbox",
    "Mailbox",
    "Message",
    "MessageTypes",
    "RedisMailbox",
    "message_type",
]


def __getattr__(name: str) -> Any:
    if name == "RedisMailbox":
        from burnish.runtime import mailboxes  # noqa: PLC0415 - redis is an extra

        return mailboxes.RedisMailbox
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
