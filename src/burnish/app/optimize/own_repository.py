"""Repository of your own: a run that somebody else's store keeps, with a copy in Burnish's database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from burnish.domain import (
    Candidate,
    ConflictError,
    Event,
    Lease,
    OptimizationRecord,
    OptimizationRepository,
    OptimizationStatus,
    Rejection,
    StepCandidate,
    TrialResult,
    UsageError,
)
from burnish.optimization.extensions import ExtensionCalls

T = TypeVar("T")


class OwnRepository:
    """What the run reads comes from the own repository, and a write counts once that has it.

    The copy is written first, so a write that only it has is written again on resume. It holds what
    item results and masks belong to, and what commands and pages show.
    """

    def __init__(self, own: OptimizationRepository, copy: OptimizationRepository) -> None:
        self._calls = ExtensionCalls(own, "repository")
        self._copy = copy
        # The own repository's leases by the copy's token.
        self._held: dict[int, Lease] = {}

    def close(self) -> None:
        """Let its thread end."""
        self._calls.close()

    async def create_optimization(self, record: OptimizationRecord) -> None:
        """In both."""
        await self._copy.create_optimization(record)
        await self._calls.call("create_optimization", record)

    async def get_optimization(self, optimization_id: str) -> OptimizationRecord:
        """The own one."""
        return await self._read("get_optimization", OptimizationRecord, optimization_id)

    async def list_optimizations(
        self, *, limit: int = 50, before: str | None = None
    ) -> list[OptimizationRecord]:
        """The own ones."""
        return await self._read("list_optimizations", list, limit=limit, before=before)

    async def acquire_lease(
        self, optimization_id: str, *, owner: str, seconds: float, replacing: str | None = None
    ) -> Lease:
        """Both leases; that of the copy is given out."""
        named: dict[str, Any] = {"owner": owner, "seconds": seconds, "replacing": replacing}
        own = await self._read("acquire_lease", Lease, optimization_id, **named)
        try:
            lease = await self._copy.acquire_lease(optimization_id, **named)
        except (ConflictError, UsageError) as error:
            await self._calls.call("release_lease", own)
            if error.code != "not_found":
                raise
            raise UsageError(
                what=f"optimization {optimization_id} cannot go on",
                why="its item results are in another database than this one",
                fix="give the `db` that it was started with",
                code="not_found",
            ) from error
        self._held[lease.token] = own
        return lease

    async def renew_lease(self, lease: Lease, *, seconds: float) -> None:
        """Both."""
        await self._write("renew_lease", lease, seconds=seconds)

    async def release_lease(self, lease: Lease) -> None:
        """Both."""
        await self._write("release_lease", lease)

    async def request_cancel(self, optimization_id: str) -> None:
        """In both."""
        await self._copy.request_cancel(optimization_id)
        await self._calls.call("request_cancel", optimization_id)

    async def cancel_requested(self, optimization_id: str) -> bool:
        """In either: commands and pages ask by the copy."""
        asked = await self._calls.call("cancel_requested", optimization_id)
        return bool(asked) or await self._copy.cancel_requested(optimization_id)

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
        """In both."""
        explained = {"stop_reason": stop_reason, "framework_error": framework_error}
        await self._write("save_status", lease, status, **explained, result=result, events=events)

    async def save_step(
        self,
        lease: Lease,
        *,
        candidates: Sequence[StepCandidate],
        rejections: Sequence[Rejection],
        checkpoint: Mapping[str, Any],
        events: Sequence[Event] = (),
    ) -> None:
        """In both."""
        made = {"candidates": candidates, "rejections": rejections}
        await self._write("save_step", lease, **made, checkpoint=checkpoint, events=events)

    async def save_trial(
        self, lease: Lease, trial: TrialResult, *, events: Sequence[Event] = ()
    ) -> None:
        """In both."""
        await self._write("save_trial", lease, trial, events=events)

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
        """In both."""
        best = {"best_candidate_id": best_candidate_id, "best_score": best_score}
        named = {**best, "baseline_score": baseline_score, "events": events}
        await self._write("save_checkpoint", lease, checkpoint, **named)

    async def append_events(self, lease: Lease, events: Sequence[Event]) -> None:
        """In both."""
        await self._write("append_events", lease, events)

    async def list_candidates(self, optimization_id: str) -> list[Candidate]:
        """The own ones."""
        return await self._read("list_candidates", list, optimization_id)

    async def list_trials(
        self, optimization_id: str, *, mini_batches: bool = False
    ) -> list[TrialResult]:
        """The own ones."""
        return await self._read("list_trials", list, optimization_id, mini_batches=mini_batches)

    async def list_rejections(self, optimization_id: str) -> list[Rejection]:
        """The own ones."""
        return await self._read("list_rejections", list, optimization_id)

    async def list_events(
        self, optimization_id: str, *, after: int = 0, limit: int = 1000
    ) -> list[Event]:
        """The own ones."""
        return await self._read("list_events", list, optimization_id, after=after, limit=limit)

    async def _write(self, method: str, lease: Lease, *values: Any, **named: Any) -> None:
        await getattr(self._copy, method)(lease, *values, **named)
        await self._calls.call(method, self._held[lease.token], *values, **named)

    async def _read(self, method: str, kind: type[T], *values: Any, **named: Any) -> T:
        answer = await self._calls.call(method, *values, **named)
        if not isinstance(answer, kind):
            why = f"it returned a {type(answer).__name__}, not a {kind.__name__}"
            raise self._calls.failed(method, why)
        return answer
