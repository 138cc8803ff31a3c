"""Registry: versions of agents and of configured objects, and the runs of configured optimizers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from burnish.domain.configuration import Configuration
from burnish.domain.optimizations.optimizer import Candidate, TrialResult
from burnish.domain.optimizations.records import OptimizationRecord
from burnish.domain.pages import Page


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentVersion:
    """One configuration that was in use. `origin` tells which run and candidate it came from."""

    agent_name: str
    version: int
    configuration: Configuration
    active: bool
    author: str = ""
    note: str = ""
    origin: Mapping[str, Any] = field(default_factory=dict)
    created_at: str = ""


class AgentRepository(Protocol):
    """Keeps the versions of agents. Nothing is ever overwritten: a change is a new version."""

    async def add_version(
        self,
        agent_name: str,
        configuration: Configuration,
        *,
        author: str = "",
        note: str = "",
        origin: Mapping[str, Any] | None = None,
        expected_active: int | None = None,
    ) -> AgentVersion:
        """A new version, active at once.

        With `expected_active`, ConflictError when another version is active by now (0: none is).
        """
        ...

    async def activate(self, agent_name: str, version: int) -> AgentVersion:
        """Make an earlier version the active one again; UsageError `not_found` when there is none."""
        ...

    async def active_version(self, agent_name: str) -> AgentVersion | None:
        """The one in use, or None for an agent that was never promoted."""
        ...

    async def get_version(self, agent_name: str, version: int) -> AgentVersion:
        """One version; UsageError `not_found` when there is none."""
        ...

    async def versions_page(
        self, agent_name: str, *, limit: int = 50, after: Sequence[Any] | None = None
    ) -> Page[AgentVersion]:
        """The newest first."""
        ...

    async def list_versions(self, agent_name: str) -> list[AgentVersion]:
        """Newest first."""
        ...


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


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizerRun:
    """A run and the versions that it was started with. Its id is that of its optimization.

    `due_at` is the time of the schedule that started it. `settled` says that nothing is left to be
    done after its end; `promotion` is what was done then without a person, and why.
    """

    id: str
    optimizer_id: str
    agent_name: str
    optimizer_name: str
    optimizer_version: int
    base_config_version: int
    suite_id: str
    suite_version: int
    due_at: str | None = None
    started_at: str = ""
    settled: bool = False
    promotion: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLine:
    """A run with the record of its optimization, which says how it stands.

    `scores` are the winner's: the mean of each scorer.
    """

    run: OptimizerRun
    record: OptimizationRecord
    scores: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateLine:
    """A candidate with its trial, or without one its mini-batch, and the mean of each scorer.

    Of several mini-batches it is one that runs, else the largest.
    """

    candidate: Candidate
    trial: TrialResult | None
    scores: Mapping[str, float]
