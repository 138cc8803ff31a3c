"""Jobs: optimizations, evaluations and image runs that wait, each run by one owner at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol


class JobKind(StrEnum):
    """What kinds of work wait in a queue and are run under a lease."""

    OPTIMIZATION = "optimization"
    EVALUATION = "evaluation"
    IMAGE_RUN = "image_run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right to run one job and to write to it. Each new holder gets a higher token.

    A record that was read before is still the newest under the lease if it was `updated_at` then.
    """

    job_id: str
    owner: str
    token: int
    kind: JobKind = JobKind.OPTIMIZATION
    updated_at: str | None = field(default=None, compare=False)


def owner_words(owner: str | None) -> str:
    """An owner for people: its process and machine, without what tells owners apart."""
    parts = (owner or "nobody").split("|")
    # HOST|BOOT|NAMESPACE|PROCESS|STARTED|RANDOM
    return f"process {parts[3]} on {parts[0]}" if len(parts) == 6 else parts[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingJob:
    """A job that is to be run. `free` says that no lease stands in the way, by the database's clock."""

    job_id: str
    free: bool
    lease_owner: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job that was taken. `attempts` counts how often somebody took it and did not give it back.

    `spec` is what is needed to run it in any process, for kinds that keep it with the job.
    """

    lease: Lease
    attempts: int
    spec: Mapping[str, Any] | None = None


class JobQueue(Protocol):
    """Jobs of one kind. The queue says what there is to run, the lease who runs it.

    A job stays in the queue until it has ended, so whoever dies leaves it to the others. Whoever lost
    the lease changes nothing any more: `renew` raises ConflictError `lease_lost`, and ending a job or
    giving it back does nothing.
    """

    async def waiting(self, *, limit: int = 20) -> list[WaitingJob]:
        """Those whose time has come, the oldest first, leased ones after those that are free."""
        ...

    async def acquire(
        self, job_id: str, *, owner: str, seconds: float, replacing: str | None = None
    ) -> Job:
        """Take one; ConflictError `owned` unless it is free or held by `replacing`."""
        ...

    async def renew(self, lease: Lease, *, seconds: float) -> None:
        """Hold it for so long from now on."""
        ...

    async def cancel_requested(self, job_id: str) -> bool:
        """Whether somebody asked for its end."""
        ...

    async def give_back(self, lease: Lease, *, seconds: float = 0.0) -> None:
        """Let anybody have it after so long; this attempt does not count."""
        ...

    async def finish(self, lease: Lease) -> None:
        """It has ended: nobody is to run it, unless it was queued again since it was taken."""
        ...

    async def depth(self) -> int:
        """How many wait that nobody runs at the moment."""
        ...
