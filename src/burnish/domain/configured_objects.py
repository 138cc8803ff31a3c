"""What people set up and change over time: versions of named objects, one of them active."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


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
