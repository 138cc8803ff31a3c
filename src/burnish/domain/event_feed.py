"""Events of many optimizations, as whoever watches them reads them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Protocol

from burnish.domain.optimization_records import Event


class EventFeed(Protocol):
    """Reads what happened, for many optimizations in one go."""

    async def positions(self, optimization_ids: Sequence[str]) -> dict[str, int]:
        """The last sequence number of each; 0 without events. Unknown ids are left out."""
        ...

    async def after(self, positions: Mapping[str, int], *, limit: int) -> dict[str, list[Event]]:
        """Events past each one's position, in order, at most `limit` of each."""
        ...


class EventListener(Protocol):
    """Says that there may be something new, across processes. It may notify too often; whoever
    listens must look by itself now and then too, since a notice can be lost."""

    def notifications(self) -> AsyncIterator[str | None]:
        """Ids of optimizations with new events; None says that any may have some.

        Goes on over lost connections, and says None after each.
        """
        ...

    async def close(self) -> None:
        """Let go of the connection."""
        ...
