"""Held message: one delivery, as its holder sees it."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar

from burnish.runtime.mailboxes.rules import check_seconds, no_reply_mailbox

BodyT = TypeVar("BodyT")
ReceiptT = TypeVar("ReceiptT")
ReceiptT_contra = TypeVar("ReceiptT_contra", contravariant=True)


class Keeper(Protocol[ReceiptT_contra]):
    """The side of a mailbox that its messages talk to. A receipt stands for one delivery."""

    @property
    def name(self) -> str:
        """Of the mailbox."""

    async def settle(self, receipt: ReceiptT_contra) -> None:
        """Drop the message for good."""

    async def defer(self, receipt: ReceiptT_contra, seconds: float, *, keep: bool) -> None:
        """Make the message due in so many seconds, for this holder to `keep` until then or not."""

    async def answer(self, receipt: ReceiptT_contra, reply_to: str, body: Any) -> str:
        """Send to the mailbox of the backend that the sender named; the new message's id."""


class HeldMessage(Generic[BodyT, ReceiptT]):
    """Implements `burnish.domain.mailboxes.Message` on any backend."""

    __slots__ = (
        "_keeper",
        "_receipt",
        "body",
        "delivery_count",
        "enqueued_at",
        "id",
        "reply_to",
    )

    def __init__(
        self,
        keeper: Keeper[ReceiptT],
        receipt: ReceiptT,
        *,
        id: str,  # noqa: A002 - the contract's name
        body: BodyT,
        delivery_count: int,
        enqueued_at: datetime,
        reply_to: str | None,
    ) -> None:
        self._keeper = keeper
        self._receipt = receipt
        self.id = id
        self.body = body
        self.delivery_count = delivery_count
        self.enqueued_at = enqueued_at
        self.reply_to = reply_to

    def __repr__(self) -> str:
        return f"<message {self.id} of {self._keeper.name}, delivery {self.delivery_count}>"

    async def acknowledge(self) -> None:
        """It is done: nobody receives it again."""
        await self._keeper.settle(self._receipt)

    async def nack(self, *, visibility_timeout: float = 0) -> None:
        """Give it back, for anybody to receive after so many seconds."""
        check_seconds(visibility_timeout, "visibility_timeout")
        await self._keeper.defer(self._receipt, visibility_timeout, keep=False)

    async def extend_visibility(self, timeout: float) -> None:
        """Hold it for so many seconds from now."""
        check_seconds(timeout, "timeout")
        await self._keeper.defer(self._receipt, timeout, keep=True)

    async def reply(self, body: Any) -> str:
        """Answer the sender; the id of the reply."""
        if self.reply_to is None:
            raise no_reply_mailbox(self._keeper.name, self.id)
        return await self._keeper.answer(self._receipt, self.reply_to, body)
