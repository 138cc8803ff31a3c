"""What people set up and change over time: versions of named objects, one of them active."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from burnish.domain.read_models import Page


class ObjectKind(StrEnum):
    """What an object is. Optimizers belong to an agent, which is their scope."""

    AGENT = "agent"
    SUITE = "suite"
    AGENT_OPTIMIZER = "agent_optimizer"


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectVersion:
    """One version of an object. `id` stays the same over all versions; `scope` may be empty."""

    id: str
    kind: ObjectKind
    scope: str
    name: str
    version: int
    active: bool
    document: Mapping[str, Any]
    author: str = ""
    created_at: str = ""


class ObjectRepository(Protocol):
    """Keeps versions of objects. Nothing is ever overwritten: a change is a new version."""

    async def save(
        self,
        kind: ObjectKind,
        name: str,
        document: Mapping[str, Any],
        *,
        scope: str = "",
        author: str = "",
        expected_version: int | None = None,
    ) -> ObjectVersion:
        """A new version, active at once; an equal document stays the version that it is.

        With `expected_version`, ConflictError when another version is active by now (0: none is).
        """
        ...

    async def get(self, kind: ObjectKind, name: str, *, scope: str = "") -> ObjectVersion:
        """The active version; UsageError `not_found` when there is no such object."""
        ...

    async def find(self, kind: ObjectKind, identity: str) -> ObjectVersion:
        """The active version of the object with this id; UsageError `not_found` without one."""
        ...

    async def version(self, identity: str, number: int) -> ObjectVersion:
        """One version of an object; UsageError `not_found` when there is none."""
        ...

    async def page(
        self,
        kind: ObjectKind,
        *,
        scope: str | None = None,
        limit: int = 50,
        after: Sequence[Any] | None = None,
    ) -> Page[ObjectVersion]:
        """Active versions by scope and name."""
        ...

    async def versions(
        self, identity: str, *, limit: int = 50, after: Sequence[Any] | None = None
    ) -> Page[ObjectVersion]:
        """The newest first."""
        ...
