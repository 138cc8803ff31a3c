"""Decides when an experiment is done, reads it, and makes a trial of it."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from burnish.domain import (
    BurnishError,
    Clock,
    ExperimentStatus,
    ExperimentSummary,
    ExperimentType,
    StepCandidate,
    TrialResult,
    TrialSummary,
    UnavailableError,
)
from burnish.optimization.experiments.adapter import RawExperimentResults, RunAdapter
from burnish.support.retry import RetryPolicy, retry

ORPHANED = "orphaned_experiment"
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregatorSettings:
    """How often the aggregator looks by itself, and how stubbornly it reads."""

    poll_seconds: float = 2.0
    read_attempts: int = 5
    first_wait_seconds: float = 0.2


class ResultAggregator:
    """Waits for experiments, event-first with polling as the fallback.

    News only wakes it: the status that it then reads decides. So an event that comes twice, late, out
    of order or never changes nothing but the time of the next look.
    """

    def __init__(
        self,
        adapter: RunAdapter,
        clock: Clock,
        settings: AggregatorSettings | None = None,
        draw: Callable[[], float] = random.random,
        note: Callable[[str, str], Awaitable[None]] | None = None,
    ) -> None:
        """`note` keeps with the experiment why nothing could be made of it."""
        self._adapter = adapter
        self._clock = clock
        self._settings = settings or AggregatorSettings()
        self._draw = draw
        self._note = note or _forget

    async def completions(self, pending: Sequence[StepCandidate]) -> AsyncIterator[TrialResult]:
        """The trial of each pending candidate, as each one ends."""
        open_ = list(pending)
        while open_:
            still_open: list[StepCandidate] = []
            for one in open_:
                trial = await self._look(one)
                if trial is None:
                    still_open.append(one)
                else:
                    yield trial
            open_ = still_open
            if open_:
                await self._adapter.wait_for_news(self._settings.poll_seconds)

    async def _look(self, one: StepCandidate) -> TrialResult | None:
        try:
            status = await self._read(lambda: self._adapter.get_status(one.experiment_id))
            if status is None:
                return trial_of(one, ExperimentStatus.FAILED, None, ORPHANED)
            if not status.final:
                return None
            raw = await self._read(lambda: self._adapter.get_results(one.experiment_id))
        except UnavailableError:
            raise  # Storage is away: that is no fault of the candidate's.
        except BurnishError as error:
            message = f"aggregation failed: {error.what}: {error.why}"
            await self._note(one.experiment_id, message)
            return trial_of(one, ExperimentStatus.FAILED, None, message)
        return normalise(one, raw)

    async def _read(self, read: Callable[[], Awaitable[T]]) -> T:
        """One read, tried again with growing, jittered waits while storage is away."""
        settings = self._settings
        policy = RetryPolicy(
            max_attempts=settings.read_attempts,
            first_wait_seconds=settings.first_wait_seconds,
            deadline_seconds=None,
        )
        return await retry(
            lambda _: read(),
            policy=policy,
            passing=lambda error: isinstance(error, UnavailableError),
            clock=self._clock,
            draw=self._draw,
        )


async def _forget(experiment_id: str, message: str) -> None:
    """Nobody keeps it."""


def normalise(one: StepCandidate, raw: RawExperimentResults) -> TrialResult:
    """A trial from raw results: nothing but infrastructure failures is a failed trial, not a 0."""
    status, error = raw.status, raw.error
    summary = raw.summary
    if (
        status is ExperimentStatus.COMPLETED
        and summary.runs
        and summary.infrastructure_errors == summary.runs
    ):
        status, error = ExperimentStatus.FAILED, error or "every item failed outside the agent"
    return trial_of(one, status, summary, error)


def trial_of(
    one: StepCandidate,
    status: ExperimentStatus,
    summary: ExperimentSummary | None,
    error: str | None,
) -> TrialResult:
    """A trial in its one shape."""
    scored = status in (ExperimentStatus.COMPLETED, ExperimentStatus.PRUNED)
    candidate = one.candidate
    return TrialResult(
        optimization_id=candidate.optimization_id,
        candidate_id=candidate.id,
        mask_id=candidate.mask_id,
        experiment_id=one.experiment_id,
        status=status,
        objective_score=summary.score if summary is not None and scored else None,
        summary=_counts(summary),
        error=error,
        type=ExperimentType.TRIAL if one.item_ids is None else ExperimentType.MINI_BATCH,
    )


def _counts(summary: ExperimentSummary | None) -> TrialSummary:
    if summary is None:
        return TrialSummary(
            total_items=0,
            passed_items=0,
            failed_items=0,
            pass_rate=0.0,
            total_cost=None,
            avg_latency_ms=None,
            avg_ttft_ms=None,
        )
    return TrialSummary(
        total_items=summary.runs,
        passed_items=summary.passed,
        failed_items=summary.failed,
        pass_rate=summary.pass_rate or 0.0,
        total_cost=summary.cost_usd,
        avg_latency_ms=summary.avg_latency_ms,
        avg_ttft_ms=summary.avg_ttft_ms,
        avg_tokens=summary.avg_tokens,
        avg_cost_usd=summary.avg_cost_usd,
        error_items=summary.errors,
        missing_items=summary.infrastructure_errors,
    )
