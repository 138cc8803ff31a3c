"""Shard settings: sizes, and how patiently a run waits for its workers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from burnish.runtime.shards.suite import ShardSize


def _to_nobody(text: str) -> None:
    """For runs that nobody watches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardSettings:
    """Sizes and times of a distributed run; none of it changes a result. Times are in seconds.

    - `max_in_flight`: how many runs are asked for at once, over all experiments.
    - `look_seconds`: how long without news until the database is looked at; it grows while nothing
      changes, up to `longest_look_seconds`.
    - `lost_seconds`: how long the mailbox may be empty with results missing, until the missing ones
      are asked for again; `max_attempts` is how often.
    - `notice_seconds`: how long without a sign of any worker until `on_notice` hears of it.
    - `refusal_seconds`: how long to go on, besides the time that one item may take, when workers
      refuse and none gives a result.
    - `give_up_seconds`: how long to wait for any worker at all.
    """

    size: ShardSize = field(default_factory=ShardSize)
    max_in_flight: int = 1024
    look_seconds: float = 1.0
    longest_look_seconds: float = 8.0
    lost_seconds: float = 2.0
    max_attempts: int = 10
    notice_seconds: float = 20.0
    refusal_seconds: float = 60.0
    give_up_seconds: float = 3600.0
    on_notice: Callable[[str], None] = _to_nobody
