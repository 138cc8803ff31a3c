"""Work source of an experiment: items times repeats, less what the cache can answer."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from burnish.domain import (
    Agent,
    CacheScope,
    Experiment,
    ExperimentRepository,
    Item,
    ItemResult,
    canonical_hash,
    current_experiment,
)
from burnish.evaluation.agents.model_choice import fingerprint_under

# Items per cache look-up. A fresh run looks a few up first, so that it starts at once.
_FIRST_CHUNK = 32
_CHUNK = 256
_LOW = 128
_MAX_POSTPONED = 10_000


@dataclass(frozen=True, slots=True)
class Work:
    """One run to do, with the cached result where there is one."""

    item: Item
    repeat: int
    cached: ItemResult | None = None
    scores_hold: bool = False


Run = tuple[Item, int]


def runs_of(
    items: Iterable[Item], repeats: int, skip: Collection[tuple[str, int]] = ()
) -> Iterator[Run]:
    """Each item so many times, but for the (id, repeat) pairs to skip."""
    return (
        (item, repeat)
        for item in items
        for repeat in range(repeats)
        if (item.id, repeat) not in skip
    )


class WorkSource:
    """Hands out work to many workers, reading items and the cache a chunk at a time.

    A question that stands again under another id is put off: `postponed` holds those, to be run once
    the first of them is answered and saved.
    """

    def __init__(
        self,
        runs: Iterator[Run],
        *,
        repository: ExperimentRepository,
        scope: CacheScope | None,
        scorers_fingerprint: str | None,
    ) -> None:
        self._runs = runs
        self._repository = repository
        self._scope = scope
        self._scorers_fingerprint = scorers_fingerprint
        self._ready: deque[Work] = deque()
        self._reading: asyncio.Future[None] | None = None
        self._chunk = _FIRST_CHUNK
        self._ended = False
        self._cache_is_empty: bool | None = None
        self._asked: set[int] = set()
        self.postponed: list[Run] = []

    async def next(self) -> Work | None:
        """The next work, or None at the end."""
        if len(self._ready) < _LOW and self._reading is None and not self._ended:
            # Ahead of need, so that nobody waits for the cache while there is work.
            self._reading = asyncio.ensure_future(self._read_chunk())
        while not self._ready:
            if self._reading is None:
                if self._ended:
                    return None
                self._reading = asyncio.ensure_future(self._read_chunk())
            await asyncio.shield(self._reading)
        return self._ready.popleft()

    async def close(self) -> None:
        """Stop reading ahead."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    async def _read_chunk(self) -> None:
        await self._read()
        self._reading = None

    async def _read(self) -> None:
        chunk = list(islice(self._runs, self._chunk))
        self._ended = len(chunk) < self._chunk
        self._chunk = _CHUNK
        if self._scope is None:
            self._ready.extend(Work(item, repeat) for item, repeat in chunk)
            return
        if self._cache_is_empty is None:
            self._cache_is_empty = not await self._repository.has_results(self._scope)
        fresh = self._without_repeated_questions(chunk)
        if self._cache_is_empty:
            # A first evaluation would look up every item for nothing.
            self._ready.extend(Work(item, repeat) for item, repeat in fresh)
        else:
            self._ready.extend(await self._looked_up(fresh))

    def _without_repeated_questions(self, chunk: list[Run]) -> list[Run]:
        fresh: list[Run] = []
        for item, repeat in chunk:
            key = hash((item.hash, repeat))
            if key in self._asked and len(self.postponed) < _MAX_POSTPONED:
                self.postponed.append((item, repeat))
            else:
                self._asked.add(key)
                fresh.append((item, repeat))
        return fresh

    async def _looked_up(self, chunk: list[Run]) -> list[Work]:
        if not chunk:
            return []
        assert self._scope is not None
        keys = [(item.hash, repeat) for item, repeat in chunk]
        known = await self._repository.cached_results(self._scope, keys)
        work: list[Work] = []
        for item, repeat in chunk:
            found = known.get((item.hash, repeat))
            if found is None:
                work.append(Work(item, repeat))
            else:
                result, fingerprint = found
                holds = fingerprint is not None and fingerprint == self._scorers_fingerprint
                work.append(Work(item, repeat, result, holds))
        return work


def cache_scope(agent: Agent, experiment: Experiment) -> CacheScope | None:
    """Whose answers may be reused: an agent whose code is not known is itself within one run only."""
    fingerprint = fingerprint_under(agent, experiment.configuration)
    if fingerprint is None and experiment.optimization_id is not None:
        fingerprint = f"run:{experiment.optimization_id}"
    if fingerprint is None:
        return None
    context = current_experiment()
    if context is not None and context.flags:
        # The agent's code can see them, so what it said under others is no answer here.
        fingerprint = canonical_hash([fingerprint, dict(context.flags)])
    return CacheScope(
        agent_fingerprint=fingerprint,
        configuration_hash=experiment.configuration.hash,
    )
