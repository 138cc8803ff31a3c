"""Overrides in Redis or Valkey, for workers on many machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from burnish.domain import Clock
from burnish.overrides.redis_documents import RedisDocuments, open_client
from burnish.overrides.redis_retry import Patience
from burnish.overrides.tag_store import TagStore

if TYPE_CHECKING:
    from redis.asyncio import Redis

_PREFIX = "burnish:overrides"


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
        client = open_client(url)
        return cls(client, prefix=prefix, patience=patience, clock=clock, owns_client=True)
