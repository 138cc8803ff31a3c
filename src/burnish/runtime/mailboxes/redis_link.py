"""Calls to a Redis server that may be away for a while, and its failures in Burnish's words."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from burnish.domain import BurnishError, UnavailableError, UsageError
from burnish.runtime.mailboxes.redis_scripts import Script

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

_FIRST_DELAY = 0.02
_LONGEST_DELAY = 1.0
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
        delay = _FIRST_DELAY
        try:
            async with asyncio.timeout(self._patience):
                while True:
                    try:
                        return await self._client.execute_command(*words, **_RAW)
                    except _REFUSED:
                        raise
                    except _PASSING as error:
                        failure = error
                    # Half fixed, half drawn: those who failed together do not come back together.
                    await asyncio.sleep(delay / 2 + random.random() * delay / 2)  # noqa: S311
                    delay = min(delay * 2, _LONGEST_DELAY)
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
