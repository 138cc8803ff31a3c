"""A shard on its way: what it lacks, and when it is sent again."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace

from burnish.domain import ItemResult
from burnish.runtime.shards.messages import ShardRequest
from burnish.runtime.shards.shard_suite import Pair

_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 5.0


@dataclass(slots=True)
class Flight:
    """One shard until all its pairs have a result. `due` is when to send it; None is not now."""

    request: ShardRequest
    missing: dict[Pair, ExitStack]
    due: float | None = 0.0
    refusals: int = 0
    lost: int = 0
    # Whether a worker said that it is done: then also results that look old are its.
    done: bool = field(default=False)

    @classmethod
    def of(cls, request: ShardRequest, running: Iterable[AbstractContextManager[None]]) -> Flight:
        """A flight whose pairs count as running from now on."""
        missing: dict[Pair, ExitStack] = {}
        for pair, one in zip(request.pairs, running, strict=True):
            missing[pair] = ExitStack()
            missing[pair].enter_context(one)
        return cls(request, missing)

    def take(self, result: ItemResult) -> bool:
        """Whether the result is one that was missing."""
        running = self.missing.pop((result.item_id, result.repeat), None)
        if running is None:
            return False
        running.close()
        return True

    def next_request(self) -> ShardRequest:
        """What to send now: the pairs that are still missing."""
        request = replace(self.request, pairs=tuple(self.missing))
        self.request = replace(request, attempt=request.attempt + 1)
        self.due = None
        self.done = False
        return request

    def refuse(self, now: float) -> None:
        """Wait a moment, longer each time, and let another worker try."""
        self.refusals += 1
        self.due = now + min(_FIRST_PAUSE * 2.0 ** (self.refusals - 1), _LONGEST_PAUSE)

    def land(self) -> None:
        """Its pairs are not running any more."""
        for running in self.missing.values():
            running.close()
        self.missing.clear()
