"""Redis and Valkey backend of the overrides: one hash a prompt, with a field a tag."""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, Any, Self

from burnish.domain import BurnishError, Clock, SystemClock, UnavailableError, UsageError
from burnish.overrides.names import PromptAddress, TagAddress
from burnish.overrides.server_calls import Calls, Found, PassingError, Patience
from burnish.overrides.tag_store import Edit, TagStore
from burnish.support.redis_client import open_client

if TYPE_CHECKING:
    from redis.asyncio import Redis

# Sets a field if it still holds what was read; no document is empty, so '' stands for none.
_SWAP = """
if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
"""
_LONGEST_SHOWN = 200
_OVERRIDES = "overrides cannot be kept in Redis"
_PREFIX = "burnish:overrides"


class RedisDocuments:
    """TagDocuments on a client of `redis.asyncio`."""

    def __init__(
        self,
        client: Redis,
        *,
        prefix: str,
        patience: Patience | None,
        clock: Clock | None,
        owns_client: bool,
    ) -> None:
        if not inspect.iscoroutinefunction(getattr(client, "execute_command", None)):
            raise UsageError(
                what=_OVERRIDES,
                why=f"the client is a {type(client).__module__}.{type(client).__qualname__}",
                fix="give a client of redis.asyncio, or use from_url",
                code="blocking_client",
            )
        self._client = client
        self._prefix = prefix
        self._patience = patience or Patience()
        self._clock = clock or SystemClock()
        self._owns_client = owns_client
        self._location = _location(client)

    def where(self, address: TagAddress) -> str:
        """The server, the hash and its field."""
        return f"the field {address.tag} of {self._hash(address.prompt)} on {self._location}"

    async def read(self, address: TagAddress) -> bytes | None:
        """A whole document, or None when there is none."""
        return await self._calls(address).answer(lambda: self._get(address))

    async def change(self, address: TagAddress, edit: Edit) -> None:
        """Replace a document by what `edit` makes of it, unless another write came first."""

        async def read() -> Found[bytes] | None:
            data = await self._get(address)
            return None if data is None else Found(data, data)

        async def replace(found: Found[bytes] | None, made: bytes) -> bool:
            name, known = self._hash(address.prompt), found.data if found else b""
            return bool(await self._ask("EVAL", _SWAP, 1, name, address.tag, known, made))

        await self._calls(address).swap(edit, read, replace)

    async def remove(self, address: TagAddress) -> None:
        """Take a document away; one that is gone is fine."""
        name = self._hash(address.prompt)
        await self._calls(address).answer(lambda: self._ask("HDEL", name, address.tag))

    async def tags(self, prompt: PromptAddress) -> list[str]:
        """The tags of a prompt."""
        name = self._hash(prompt)
        calls = Calls(self._patience, self._clock, f"{name} on {self._location}")
        fields: list[bytes] = await calls.answer(lambda: self._ask("HKEYS", name))
        return [field.decode("utf-8", "replace") for field in fields]

    async def close(self) -> None:
        """Close the client if it was made for this store."""
        if self._owns_client:
            await self._client.aclose()

    def _hash(self, prompt: PromptAddress) -> str:
        return f"{self._prefix}:{prompt.namespace}:{prompt.key}"

    def _calls(self, address: TagAddress) -> Calls:
        return Calls(self._patience, self._clock, self.where(address))

    async def _get(self, address: TagAddress) -> bytes | None:
        found: bytes | None = await self._ask("HGET", self._hash(address.prompt), address.tag)
        return found

    async def _ask(self, *command: str | bytes | int) -> Any:
        import redis  # noqa: PLC0415 - an extra

        untyped: Any = self._client
        ended_before = _cancellations()
        try:
            # Bytes come back as bytes, also from a client that decodes.
            answer = await untyped.execute_command(*command, NEVER_DECODE=[])
        except (redis.RedisError, OSError) as error:
            raise _translated(error, self._location) from None
        # redis-py loses a cancellation that comes while it looks at a pooled connection.
        if _cancellations() > ended_before:
            raise asyncio.CancelledError
        return answer


def _translated(error: Exception, location: str) -> BurnishError | PassingError:
    import redis  # noqa: PLC0415 - an extra
    from redis.exceptions import (  # noqa: PLC0415
        AuthorizationError,
        ClusterDownError,
        NoPermissionError,
        TryAgainError,
    )

    said = (str(error).splitlines() or [""])[0][:_LONGEST_SHOWN] or type(error).__name__
    if isinstance(error, redis.AuthenticationError | AuthorizationError | NoPermissionError):
        return UsageError(
            what=f"overrides on {location} cannot be used",
            why=f"the server refuses this user ({said})",
            fix="check the user name, the password and the user's rights",
            code="overrides_refused",
        )
    passing = redis.ReadOnlyError | ClusterDownError | TryAgainError
    if isinstance(error, redis.ResponseError) and not isinstance(error, passing):
        if said.startswith("WRONGTYPE"):
            return UsageError(
                what=f"overrides on {location} cannot be used",
                why="another program keeps something else under the same key",
                fix="choose another prefix for Burnish",
                code="foreign_data",
            )
        return UnavailableError(
            what=f"overrides on {location} cannot be used",
            why=f"the server refused a command ({said})",
            fix="check the server's memory, disk and version",
            code="overrides_unavailable",
        )
    return PassingError(said)


def _cancellations() -> int:
    task = asyncio.current_task()
    return 0 if task is None else task.cancelling()


def _location(client: Redis) -> str:
    """Where the server is, without the password."""
    known = client.connection_pool.connection_kwargs
    if "path" in known:
        return f"redis at {known['path']}"
    host, port = known.get("host", "localhost"), known.get("port", 6379)
    return f"redis://{host}:{port}/{known.get('db', 0)}"


class RedisPromptOverridesStore(TagStore):
    """A PromptOverridesStore on a client of `redis.asyncio`.

    A prompt is one hash, `PREFIX:namespace:key`, with a field a tag. Overrides live as long as the
    server keeps its data: give it a disk, and no limit that evicts. `close` leaves the client open
    unless `from_url` made it.
    """

    def __init__(
        self,
        client: Redis,
        *,
        prefix: str = _PREFIX,
        patience: Patience | None = None,
        clock: Clock | None = None,
        owns_client: bool = False,
    ) -> None:
        super().__init__(
            RedisDocuments(
                client, prefix=prefix, patience=patience, clock=clock, owns_client=owns_client
            )
        )

    @classmethod
    def from_url(
        cls,
        url: str,
        *,
        prefix: str = _PREFIX,
        patience: Patience | None = None,
        clock: Clock | None = None,
    ) -> Self:
        """On a server's address, such as `redis://127.0.0.1:6379/0`."""
        client = open_client(url, what=_OVERRIDES)
        return cls(client, prefix=prefix, patience=patience, clock=clock, owns_client=True)
