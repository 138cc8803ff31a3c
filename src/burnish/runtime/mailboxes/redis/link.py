"""Redis calls of mailboxes: batched, and repeated while the server is away."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from burnish.domain import BurnishError, SystemClock, UnavailableError, UsageError
from burnish.runtime.mailboxes.redis.scripts import Script
from burnish.support.retry import RetryPolicy, retry

try:
    from redis import asyncio as redis_asyncio
    from redis import exceptions as failures
    from redis.client import NEVER_DECODE
except ImportError as error:
    raise UsageError(
        what="Redis mailboxes cannot be used",
        why="the package redis is not installed",
        fix="pip install 'burnish[redis]'",
        code="missing_extra",
    ) from error


if TYPE_CHECKING:
    from redis.asyncio import Redis

    Client = Redis

CallT = TypeVar("CallT")
AnswerT = TypeVar("AnswerT")
_FIRST_DELAY = 0.02
_LONGEST_DELAY = 1.0
_BACKOFF = RetryPolicy(
    max_attempts=None,
    first_wait_seconds=_FIRST_DELAY,
    longest_wait_seconds=_LONGEST_DELAY,
    deadline_seconds=None,
)
_CLOCK = SystemClock()
_REFUSED = (failures.AuthenticationError, failures.AuthorizationError)
_PASSING = (
    failures.ConnectionError,
    failures.TimeoutError,
    failures.ReadOnlyError,
    failures.TryAgainError,
    failures.ClusterDownError,
    OSError,
)
# Bytes as they are, whatever the client is set to: a body that is no text must not fail a whole reply.
_RAW: dict[str, Any] = {NEVER_DECODE: True}


class Coalescer(Generic[CallT, AnswerT]):
    """Sends what was submitted meanwhile as one batch, one batch at a time, in order.

    A call whose caller gave up before its batch left is not made.
    """

    def __init__(
        self,
        flush: Callable[[list[CallT]], Awaitable[Sequence[AnswerT]]],
        *,
        most: int = 256,
        heaviest: int = 4 * 1024 * 1024,
        weigh: Callable[[CallT], int] = lambda call: 0,
    ) -> None:
        self._flush = flush
        self._most = most
        self._heaviest = heaviest
        self._weigh = weigh
        self._waiting: deque[tuple[CallT, asyncio.Future[AnswerT]]] = deque()
        self._sender: asyncio.Task[None] | None = None

    async def submit(self, call: CallT) -> AnswerT:
        """The answer to this call."""
        future: asyncio.Future[AnswerT] = asyncio.get_running_loop().create_future()
        self._waiting.append((call, future))
        if self._sender is None:
            self._sender = asyncio.create_task(self._send())
        return await future

    async def _send(self) -> None:
        try:
            while self._waiting:
                await self._send_batch(self._next_batch())
        finally:
            self._sender = None

    async def _send_batch(self, batch: list[tuple[CallT, asyncio.Future[AnswerT]]]) -> None:
        if not batch:
            return
        try:
            answers = await self._flush([call for call, _ in batch])
        except BaseException as error:
            for _, future in batch:
                if not future.done():
                    if isinstance(error, Exception):
                        future.set_exception(error)
                    else:
                        future.cancel()
            if not isinstance(error, Exception):
                raise
        else:
            for (_, future), answer in zip(batch, answers, strict=True):
                if not future.done():
                    future.set_result(answer)

    def _next_batch(self) -> list[tuple[CallT, asyncio.Future[AnswerT]]]:
        batch: list[tuple[CallT, asyncio.Future[AnswerT]]] = []
        weight = 0
        while self._waiting and len(batch) < self._most:
            call, future = self._waiting[0]
            weight += self._weigh(call)
            if batch and weight > self._heaviest:
                break
            self._waiting.popleft()
            if not future.done():
                batch.append((call, future))
        return batch


class NoGroupError(UnavailableError):
    """The mailbox's stream is gone: the server was flushed, or lost its data."""

    def __init__(self) -> None:
        super().__init__(
            what="a mailbox is not on its Redis server",
            why="the server keeps losing its data",
            fix="find out who flushes it",
            code="mailbox_lost",
        )


class RedisLink:
    """One client's calls, each repeated while the failure is a passing one and patience lasts."""

    def __init__(self, client: Client, *, patience: float) -> None:
        if not isinstance(client, (redis_asyncio.Redis, redis_asyncio.RedisCluster)):
            raise UsageError(
                what=f"a {type(client).__module__}.{type(client).__name__} cannot carry a mailbox",
                why="mailboxes are asynchronous",
                fix="give it a redis.asyncio.Redis",
                code="wrong_client",
            )
        self._client: Any = client
        # Host, port and timeouts; a cluster has many of them.
        single = isinstance(client, redis_asyncio.Redis)
        self._connection: dict[str, Any] = (
            client.connection_pool.connection_kwargs if single else {}
        )
        self._patience = patience

    async def run(self, script: Script, keys: Sequence[str], *words: Any) -> Any:
        """What the script says. It may run twice if its answer is lost."""
        arguments = (len(keys), *keys, *words)
        try:
            return await self.call("EVALSHA", script.sha, *arguments)
        except failures.NoScriptError:
            return await self.call("EVAL", script.text, *arguments)

    async def call(self, *words: Any) -> Any:
        """What the server says."""
        failure: Exception | None = None

        def passing(error: Exception) -> bool:
            nonlocal failure
            if isinstance(error, _REFUSED) or not isinstance(error, _PASSING):
                return False
            failure = error
            return True

        try:
            async with asyncio.timeout(self._patience):
                return await retry(
                    lambda _: self._client.execute_command(*words, **_RAW),
                    policy=_BACKOFF,
                    passing=passing,
                    clock=_CLOCK,
                )
        except failures.NoScriptError:
            raise
        except TimeoutError:
            raise self._unreachable(failure) from failure
        except failures.RedisError as error:
            if str(error).startswith("NOGROUP"):
                raise NoGroupError() from error
            raise _refusal(error) from error

    async def block(self, bell: str, last: str, milliseconds: int) -> None:
        """Return when the bell rings after `last`, when time is over, or when the link breaks."""
        # A client that gives up on its socket sooner would take the silence for a failure.
        socket_timeout = self._connection.get("socket_timeout")
        if socket_timeout:
            milliseconds = max(1, min(milliseconds, int(500 * socket_timeout)))
        words = ("XREAD", "COUNT", 1, "BLOCK", milliseconds, "STREAMS", bell, last)
        try:
            async with asyncio.timeout(milliseconds / 1000 + _LONGEST_DELAY):
                await self._client.execute_command(*words, **_RAW)
        except (*_PASSING, failures.ResponseError):
            # Whoever waits asks again, and that call says what is wrong.
            await asyncio.sleep(_FIRST_DELAY)

    def _unreachable(self, failure: Exception | None) -> UnavailableError:
        host, port = self._connection.get("host", "its server"), self._connection.get("port")
        return UnavailableError(
            what=f"Redis at {host}{f':{port}' if port else ''} cannot be reached",
            why=f"no answer in {self._patience:g} seconds"
            + (f" ({type(failure).__name__})" if failure else ""),
            fix="check that the server runs and can be reached; messages that it keeps are not lost",
            code="mailbox_unavailable",
        )


def _refusal(error: Exception) -> BurnishError:
    code = str(error).split(" ", 1)[0]
    if isinstance(error, (*_REFUSED, failures.NoPermissionError)):
        return UsageError(
            what="Redis refused a mailbox",
            why=f"the server did not accept the login or its rights ({code})",
            fix="check user and password, and let the user run EVALSHA and stream commands",
            code="mailbox_refused",
        )
    if isinstance(error, failures.OutOfMemoryError) or code == "OOM":
        return UnavailableError(
            what="Redis takes no more messages",
            why="the server is out of memory",
            fix="raise maxmemory, or wait until workers have caught up",
            code="mailbox_full",
        )
    return UnavailableError(
        what="Redis refused a mailbox",
        why=f"the server answered {code}",
        fix="check that nothing else uses keys that start with burnish:mailbox:, "
        "and that the server is Redis 6.2, Valkey 7.2 or later",
        code="mailbox_refused",
    )
