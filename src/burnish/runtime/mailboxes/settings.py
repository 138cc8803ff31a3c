"""What a handle on a mailbox goes by, whatever the backend."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from burnish.domain.mailboxes import Mailbox
from burnish.runtime.mailboxes.message_types import MESSAGE_TYPES, MessageTypes
from burnish.runtime.mailboxes.rules import (
    DEAD_SUFFIX,
    MAX_DELIVERIES,
    MAX_SIZE,
    check_count,
    check_name,
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
