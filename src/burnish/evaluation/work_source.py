"""What is still to run: items times repeats, less what the cache can answer."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from burnish.domain import CacheScope, ExperimentRepository, Item, ItemResult

# Items per cache look-up. A fresh run looks a few up first, so that it starts at once.
_FIRST_CHUNK = 32
_CHUNK = 256


@dataclass(frozen=True, slots=True)
class Work:
    """One run to do, with the cached result where there is one."""

    item: Item
    repeat: int
    cached: ItemResult | None = None
    scores_hold: bool = False


class WorkSource:
    """Hands out work to many workers, reading items and the cache a chunk at a time."""

    def __init__(
        self,
        items: Iterable[Item],
        *,
        repeats: int,
        repository: ExperimentRepository,
        scope: CacheScope | None,
        scorers_fingerprint: str | None,
        skip: Collection[tuple[str, int]] = (),
    ) -> None:
        self._runs: Iterator[tuple[Item, int]] = (
            (item, repeat)
            for item in items
            for repeat in range(repeats)
            if (item.id, repeat) not in skip
        )
        self._repository = repository
        self._scope = scope
        self._scorers_fingerprint = scorers_fingerprint
        self._ready: deque[Work] = deque()
        self._reading = asyncio.Lock()
        self._chunk = _FIRST_CHUNK
        self._ended = False

    async def next(self) -> Work | None:
        """The next work, or None at the end."""
        while not self._ready:
            async with self._reading:
                if self._ready:
                    break
                if self._ended:
                    return None
                await self._read_chunk()
        return self._ready.popleft()

    async def _read_chunk(self) -> None:
        chunk = list(islice(self._runs, self._chunk))
        self._ended = len(chunk) < self._chunk
        self._chunk = _CHUNK
        if self._scope is None or not chunk:
            self._ready.extend(Work(item, repeat) for item, repeat in chunk)
            return
        keys = [(item.hash, repeat) for item, repeat in chunk]
        known = await self._repository.cached_results(self._scope, keys)
        for item, repeat in chunk:
            found = known.get((item.hash, repeat))
            if found is None:
                self._ready.append(Work(item, repeat))
            else:
                result, fingerprint = found
                holds = fingerprint is not None and fingerprint == self._scorers_fingerprint
                self._ready.append(Work(item, repeat, result, holds))
