"""Mailbox rules of every backend: limits, checked settings, and errors."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Any

from burnish.domain import ConflictError, UnavailableError, UsageError
from burnish.domain.mailboxes import Mailbox
from burnish.runtime.mailboxes.message_types import MESSAGE_TYPES, MessageTypes
from burnish.support.number_checks import is_whole

MAX_MESSAGES = 1_000
MAX_SECONDS = 12 * 3600.0
MAX_SIZE = 100_000
MAX_DELIVERIES = 5
MAX_DEAD_LETTERS = 10_000
DEAD_SUFFIX = ".dead"

_NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,119}}({re.escape(DEAD_SUFFIX)})?")


def check_name(name: str) -> str:
    """The name itself: it becomes part of a key."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            what=f"{name[:200]!r} cannot name a mailbox",
            why="a name has 1 to 120 letters, digits, dots, dashes or underscores, "
            "and starts with a letter or digit",
            fix="choose another name",
            code="invalid_name",
        )
    return name


def check_count(number: int, what: str, most: int | None = None) -> int:
    """A whole number of at least 1."""
    if not is_whole(number, least=1):
        raise _out_of_range(what, number, "it is a whole number of at least 1")
    if most is not None and number > most:
        raise _out_of_range(what, number, f"it is at most {most:,}")
    return number


def check_seconds(seconds: float, what: str) -> float:
    """A duration that ends: every wait has a deadline."""
    if not (math.isfinite(seconds) and 0 <= seconds <= MAX_SECONDS):
        raise _out_of_range(what, seconds, f"it is 0 to {MAX_SECONDS:,.0f} seconds")
    return seconds


def check_receive(max_messages: int, visibility_timeout: float, wait_time_seconds: float) -> None:
    """What `receive` may be asked."""
    check_count(max_messages, "max_messages", MAX_MESSAGES)
    check_seconds(visibility_timeout, "visibility_timeout")
    check_seconds(wait_time_seconds, "wait_time_seconds")


def closed(name: str) -> UsageError:
    """For sending or receiving through a handle that was closed."""
    return UsageError(
        what=f"mailbox {name} cannot be used",
        why="this handle was closed",
        fix="open the mailbox again",
        code="mailbox_closed",
    )


def full(name: str, max_size: int) -> UnavailableError:
    """For a message more than the bound."""
    return UnavailableError(
        what=f"mailbox {name} takes no more messages",
        why=f"it holds {max_size:,}, its max_size",
        fix="send again once workers have caught up, or start more of them",
        code="mailbox_full",
    )


def receipt_expired(name: str, message_id: str) -> ConflictError:
    """For settling a delivery that counts no more."""
    return ConflictError(
        what=f"message {message_id} of mailbox {name} is not yours any more",
        why="its visibility timeout ran out, or it was settled, given back or purged",
        fix="drop this work; ask for a longer visibility_timeout or call extend_visibility in time",
        code="receipt_expired",
    )


def no_reply_mailbox(name: str, message_id: str) -> UsageError:
    """For a reply that has nowhere to go."""
    return UsageError(
        what=f"message {message_id} of mailbox {name} cannot be replied to",
        why="its sender named no reply_to",
        fix="send it with reply_to=",
        code="no_reply_mailbox",
    )


def foreign_reply_mailbox(name: str, reply_to: str) -> UsageError:
    """For replies that another machine, or this backend, could not deliver."""
    return UsageError(
        what=f"replies to messages of mailbox {name} cannot go to {reply_to}",
        why="it belongs to another backend",
        fix=f"make it with sibling({reply_to!r}) of the mailbox that you send to",
        code="foreign_reply_mailbox",
    )


def _out_of_range(what: str, value: object, why: str) -> UsageError:
    return UsageError(
        what=f"{what}={value!r} cannot be used", why=why, fix=f"change {what}", code="out_of_range"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MailboxSettings:
    """Checked settings of a handle."""

    name: str
    max_size: int
    max_delivery_count: int
    types: MessageTypes

    @classmethod
    def of(
        cls,
        name: str,
        *,
        max_size: int | None = None,
        max_delivery_count: int = MAX_DELIVERIES,
        types: MessageTypes | None = None,
    ) -> MailboxSettings:
        """Checked, with the defaults for what is not given; every mailbox has a bound."""
        return cls(
            name=check_name(name),
            max_size=MAX_SIZE if max_size is None else check_count(max_size, "max_size"),
            max_delivery_count=check_count(max_delivery_count, "max_delivery_count"),
            types=MESSAGE_TYPES if types is None else types,
        )

    def named(self, name: str) -> MailboxSettings:
        """The same for another mailbox."""
        return replace(self, name=check_name(name))

    @property
    def holds_dead_letters(self) -> bool:
        """Dead letters die no second death: they stay until somebody acknowledges them."""
        return self.name.endswith(DEAD_SUFFIX)

    @property
    def dead_name(self) -> str:
        """Where messages of this mailbox end that no one could handle."""
        return self.name if self.holds_dead_letters else self.name + DEAD_SUFFIX

    def is_worn_out(self, delivery_count: int) -> bool:
        """Whether a delivery is one more than allowed."""
        return delivery_count > self.max_delivery_count and not self.holds_dead_letters


def address(reply_to: Mailbox[Any, Any] | str | None) -> str | None:
    """A name travels, never a mailbox."""
    if reply_to is None:
        return None
    return check_name(reply_to if isinstance(reply_to, str) else reply_to.name)
