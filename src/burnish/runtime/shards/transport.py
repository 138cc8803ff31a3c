"""Shard transports: shards to workers, replies back, and what is raised when none comes."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, Protocol

from burnish.domain import BurnishError, InvariantError, UnavailableError
from burnish.domain.mailboxes import Mailbox
from burnish.domain.wording import counted
from burnish.optimization.experiments.adapter import RunnerLost
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


# What a worker says of a run that its own database does not have.
OTHER_DATABASE = "not_found"


def error_of(reply: ShardReply) -> BurnishError:
    """The error that a worker met, as if it had happened here."""
    kind = InvariantError if reply.error_code == "internal" else UnavailableError
    return kind(what=reply.what, why=reply.why, fix=reply.fix, code=reply.error_code)


def nobody_works(transport: ShardTransport, seconds: float) -> RunnerLost:
    """No worker was heard of for too long."""
    return RunnerLost(
        what="the run stopped",
        why=f"no worker on {transport.where} was heard of for {seconds:.0f} s",
        fix=f"{transport.advice}, and resume the run: every finished evaluation is kept",
    )


def refused_by_all(reply: ShardReply) -> RunnerLost:
    """Every worker that answers refuses."""
    return RunnerLost(
        what="the run stopped: its workers refuse the work",
        why=f"{reply.why} (worker {reply.worker})",
        fix=f"{reply.fix}; then resume the run: every finished evaluation is kept",
        code="other_database" if reply.error_code == OTHER_DATABASE else "workers_refuse",
    )


def shard_lost(pairs: int, times: int) -> UnavailableError:
    """A shard never comes to an end: it may end its workers."""
    return UnavailableError(
        what=f"there is no result of {counted(pairs, 'evaluation')}",
        why=f"they were given to workers {counted(times, 'time')}, and got lost each time",
        fix="look at the workers' logs and at the mailbox's dead letters: an item may end its worker",
        code="shard_lost",
    )
