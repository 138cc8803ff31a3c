"""What a handler knows about the message it works for, and how it gives one back."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

# As the seed has it: a request that keeps failing is left alone for ever longer, up to a cap.
_STEP_SECONDS = 60.0
_LONGEST_SECONDS = 900.0
# A mailbox allows at most so many hours for one delivery; whatever takes longer has hung.
_LONGEST_WORK_SECONDS = 12 * 3600.0


class GivenBack(Exception):  # noqa: N818 - no error: another worker goes on with it
    """Raised by a handler that will not finish: the message goes back for others to take."""

    def __init__(self, seconds: float = 0.0) -> None:
        super().__init__("given back")
        self.seconds = seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One delivery of a request. `last` says that after this one there is no other.

    `stopping` is set when the worker shuts down: work that cannot end within a grace period ends
    where it can be gone on with.
    """

    count: int = 1
    last: bool = False
    stopping: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryRules:
    """When a request that failed comes back, and how long a result may wait for its mailbox."""

    step_seconds: float = _STEP_SECONDS
    longest_seconds: float = _LONGEST_SECONDS
    settle_seconds: float = 300.0
    work_seconds: float = _LONGEST_WORK_SECONDS

    def wait_seconds(self, delivery_count: int) -> float:
        """How long a request rests after so many deliveries."""
        return min(self.step_seconds * delivery_count, self.longest_seconds)
