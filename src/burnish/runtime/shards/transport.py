"""How shards travel to workers, and replies back."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, Protocol

from burnish.domain import BurnishError
from burnish.domain.mailboxes import Mailbox
from burnish.runtime.shards.messages import ShardReply, ShardRequest

_WAIT_SECONDS = 10.0
_REPLIES_AT_ONCE = 100


class ShardTransport(Protocol):
    """Takes shards to workers. It may lose, delay and double anything: results go another way."""

    @property
    def where(self) -> str:
        """Where workers are to listen, for people, without secrets."""
        ...

    @property
    def advice(self) -> str:
        """How to get workers there."""
        ...

    async def send(self, request: ShardRequest) -> None:
        """Offer a shard. UnavailableError when that is not possible now."""
        ...

    async def replies(self) -> Sequence[ShardReply]:
        """What came in, or nothing after a while."""
        ...

    async def outstanding(self) -> int:
        """How many shards, whoever's, wait for workers or are worked on; about."""
        ...

    async def close(self) -> None:
        """Nobody waits for replies any more."""
        ...


class MailboxTransport:
    """Shards on a mailbox, with a mailbox for the replies on the same backend."""

    def __init__(
        self,
        requests: Mailbox[Any, Any],
        *,
        where: str,
        advice: str,
        on_close: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._requests = requests
        self._replies: Mailbox[ShardReply, Any] = requests.sibling(
            f"shard-replies-{secrets.token_hex(8)}"
        )
        self.where = where
        self.advice = advice
        self._on_close = on_close

    async def send(self, request: ShardRequest) -> None:
        """Send it, with where to reply to."""
        await self._requests.send(request, reply_to=self._replies)

    async def replies(self) -> Sequence[ShardReply]:
        """Replies, each taken off the mailbox at once: a lost one is found in the database."""
        received = await self._replies.receive(
            max_messages=_REPLIES_AT_ONCE, wait_time_seconds=_WAIT_SECONDS
        )
        for message in received:
            with suppress(BurnishError):
                await message.acknowledge()
        return [message.body for message in received if isinstance(message.body, ShardReply)]

    async def outstanding(self) -> int:
        """Messages that wait or are held."""
        return await self._requests.approximate_count()

    async def close(self) -> None:
        """Leave no mailbox behind."""
        with suppress(BurnishError):
            await self._replies.purge()
        await self._replies.close()
        await self._requests.close()
        if self._on_close is not None:
            await self._on_close()
