"""Records of optimizations and their events, and the protocols of what keeps and announces them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from burnish.domain.jobs import Lease
from burnish.domain.optimizations.optimizer import Candidate, OptimizationStatus, TrialResult


class EventType(StrEnum):
    """What a watcher is told about. Events are small: details are read on demand."""

    RUN_STATUS_CHANGED = "run_status_changed"
    PROGRESS_CHANGED = "progress_changed"
    TRIAL_ADDED_OR_UPDATED = "trial_added_or_updated"
    BEST_CANDIDATE_CHANGED = "best_candidate_changed"
    RUN_FINISHED = "run_finished"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened. Two events with one key are one event, delivered twice."""

    type: EventType
    key: str
    payload: Mapping[str, Any] = field(default_factory=dict)
    sequence: int = 0
    created_at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """A proposal that was not run, and why. `step_index` is what it had as a candidate.

    `proposal` is what was proposed, as far as it can be stored: `configuration`, `rationale` and
    `parent_candidate_ids`, and for a duplicate the candidate that it repeats in `duplicate_of`. None
    in runs of older versions.
    """

    step_index: int
    proposed_index: int
    reason_code: str
    message: str
    configuration_hash: str | None
    created_at: str = ""
    proposal: Mapping[str, Any] | None = field(default=None, hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCandidate:
    """A candidate that is being run, and the experiment it was given."""

    candidate: Candidate
    experiment_id: str
    item_ids: tuple[str, ...] | None = None
    repeats: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizationRecord:
    """One optimization. `spec` is all that is needed to run it again in another process."""

    id: str
    name: str
    status: OptimizationStatus
    objective_name: str
    agent_name: str
    suite_name: str
    optimizer_name: str
    dataset_id: str | None
    seed: int
    spec: Mapping[str, Any] = field(default_factory=dict)
    checkpoint: Mapping[str, Any] | None = None
    framework_error: Mapping[str, Any] | None = None
    stop_reason: str | None = None
    result: Mapping[str, Any] | None = None
    cancel_requested: bool = False
    lease_owner: str | None = None
    best_candidate_id: str | None = None
    best_score: float | None = None
    baseline_score: float | None = None
    trials: int = 0
    created_at: str = ""
    updated_at: str = ""


# Of all pairs of a comparison, so many may lack an answer on either side; with more, what is left
# may be another question than the one that was asked, and nothing is proven by it.
MOST_MISSING = 0.05


def too_many_missing(items: int, missing: int) -> bool:
    """Whether so many pairs lack an answer, beside those compared, that nothing is proven."""
    return missing > MOST_MISSING * (items + missing)


def is_shown_worse(compared: Mapping[str, Any] | None) -> bool:
    """Whether compared items show more than chance that the result is worse.

    This is what speaks against a compression: it is to be shorter and as good, not better.
    """
    high = None if compared is None else compared.get("ci_high")
    return isinstance(high, (int, float)) and high < 0


class OptimizationRepository(Protocol):
    """Keeps optimizations: the only source of truth for a run and for whoever watches it.

    Every method that takes a lease refuses with ConflictError when the lease has moved to another
    owner, in the transaction that writes. Every write is all or nothing. Events given to a write are
    stored in its transaction, each once by its key, with the next sequence numbers.
    """

    async def create_optimization(self, record: OptimizationRecord) -> None:
        """ConflictError when the id is taken."""
        ...

    async def get_optimization(self, optimization_id: str) -> OptimizationRecord:
        """UsageError with code `not_found` when there is none."""
        ...

    async def list_optimizations(
        self, *, limit: int = 50, before: str | None = None
    ) -> list[OptimizationRecord]:
        """Newest first, without spec, checkpoint and result."""
        ...

    async def acquire_lease(
        self, optimization_id: str, *, owner: str, seconds: float, replacing: str | None = None
    ) -> Lease:
        """ConflictError while another owner's lease runs, by the database's clock.

        `replacing` names an owner that is known to be dead, whose lease need not run out.
        """
        ...

    async def renew_lease(self, lease: Lease, *, seconds: float) -> None:
        """Extend it; ConflictError when it has moved."""
        ...

    async def release_lease(self, lease: Lease) -> None:
        """Give it up; nothing happens when it has moved."""
        ...

    async def request_cancel(self, optimization_id: str) -> None:
        """Ask the owner, whoever it is, to stop. Needs no lease."""
        ...

    async def cancel_requested(self, optimization_id: str) -> bool:
        """Whether somebody asked for it."""
        ...

    async def save_status(
        self,
        lease: Lease,
        status: OptimizationStatus,
        *,
        stop_reason: str | None = None,
        framework_error: Mapping[str, Any] | None = None,
        result: Mapping[str, Any] | None = None,
        events: Sequence[Event] = (),
    ) -> None:
        """A new status, with what explains it."""
        ...

    async def save_step(
        self,
        lease: Lease,
        *,
        candidates: Sequence[StepCandidate],
        rejections: Sequence[Rejection],
        checkpoint: Mapping[str, Any],
        events: Sequence[Event] = (),
    ) -> None:
        """What a step will run and what it refused, before anything of it is triggered.

        Candidates that are there already stay as they are: they are given another experiment.
        """
        ...

    async def save_trial(
        self, lease: Lease, trial: TrialResult, *, events: Sequence[Event] = ()
    ) -> None:
        """Upsert by (optimization, candidate); a mini-batch by its experiment."""
        ...

    async def save_checkpoint(
        self,
        lease: Lease,
        checkpoint: Mapping[str, Any],
        *,
        best_candidate_id: str | None = None,
        best_score: float | None = None,
        baseline_score: float | None = None,
        events: Sequence[Event] = (),
    ) -> None:
        """The state after a step, with the best so far."""
        ...

    async def append_events(self, lease: Lease, events: Sequence[Event]) -> None:
        """Events that go with no other write, such as a heartbeat."""
        ...

    async def list_candidates(self, optimization_id: str) -> list[Candidate]:
        """All accepted candidates in order of number."""
        ...

    async def list_trials(
        self, optimization_id: str, *, mini_batches: bool = False
    ) -> list[TrialResult]:
        """Results in order of candidate number; with mini-batches, all of them."""
        ...

    async def list_rejections(self, optimization_id: str) -> list[Rejection]:
        """In the order they were made."""
        ...

    async def list_events(
        self, optimization_id: str, *, after: int = 0, limit: int = 1000
    ) -> list[Event]:
        """Events past a sequence number."""
        ...


class EventFeed(Protocol):
    """Reads what happened, for many optimizations in one go."""

    async def positions(self, optimization_ids: Sequence[str]) -> dict[str, int]:
        """The last sequence number of each; 0 without events. Unknown ids are left out."""
        ...

    async def after(self, positions: Mapping[str, int], *, limit: int) -> dict[str, list[Event]]:
        """Events past each one's position, in order, at most `limit` of each."""
        ...


class EventListener(Protocol):
    """Says that there may be something new, across processes. It may notify too often; whoever
    listens must look by itself now and then too, since a notice can be lost."""

    def notifications(self) -> AsyncIterator[str | None]:
        """Ids of optimizations with new events; None says that any may have some.

        Goes on over lost connections, and says None after each.
        """
        ...

    async def close(self) -> None:
        """Let go of the connection."""
        ...
