"""Optimizations that are also to be seen on another server, and how much of each is there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorTarget:
    """Where to. The key is named by the variable that holds it, and never kept."""

    url: str
    workspace: str = "default"
    project: str = "Burnish"
    api_key_env: str = "OPIK_API_KEY"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mirror:
    """One optimization on its way to one target; `error` says what went wrong last."""

    optimization_id: str
    target: MirrorTarget
    error: str | None = None


class MirrorBook(Protocol):
    """Remembers what was delivered. Optimizations are their own backlog: nothing is kept twice.

    A mirror is open from its enrolment until `close`. Marks belong to parts of it, by name.
    """

    async def enrol(self, optimization_id: str, target: MirrorTarget) -> None:
        """Open it, also one that was closed; what was delivered stays marked."""
        ...

    async def open_mirrors(self) -> list[Mirror]:
        """Those with something left to deliver, the oldest first."""
        ...

    async def delivered(self, mirror: Mirror) -> dict[str, str]:
        """Marks by part."""
        ...

    async def mark(self, mirror: Mirror, part: str, mark: str) -> None:
        """A part was delivered."""
        ...

    async def note_error(self, mirror: Mirror, error: str | None) -> None:
        """What went wrong, or that nothing did."""
        ...

    async def close(self, mirror: Mirror) -> None:
        """All of it is there."""
        ...
