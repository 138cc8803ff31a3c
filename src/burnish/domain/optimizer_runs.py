"""Runs of configured optimizers: who started them from what, and what became of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from burnish.domain.optimization import Candidate, TrialResult
from burnish.domain.optimization_records import OptimizationRecord
from burnish.domain.read_models import Page


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
    """A candidate with its trial, if it has one, and the mean of each scorer."""

    candidate: Candidate
    trial: TrialResult | None
    scores: Mapping[str, float]


class OptimizerRunRepository(Protocol):
    """Keeps which optimizations are runs of which optimizer."""

    async def begin(self, run: OptimizerRun) -> bool:
        """Note a run and queue its optimization, in one transaction.

        False when its due time was claimed before, by whomever. ConflictError `already_running`
        while another run of the optimizer has not ended: there are never two at once.
        """
        ...

    async def get(self, run_id: str) -> OptimizerRun:
        """UsageError with code `not_found` when there is none."""
        ...

    async def page(
        self, optimizer_id: str, *, limit: int = 50, after: Sequence[Any] | None = None
    ) -> Page[RunLine]:
        """The newest first."""
        ...

    async def line(self, run_id: str) -> RunLine:
        """One run with its record; UsageError `not_found` when there is none."""
        ...

    async def candidates(
        self, run_id: str, *, limit: int = 50, after: Sequence[Any] | None = None
    ) -> Page[CandidateLine]:
        """By number; the baseline is number 0."""
        ...

    async def find_run(self, optimizer_id: str, candidate_id: str) -> str:
        """The latest run that has this candidate; UsageError `not_found` when none has."""
        ...

    async def last_due(self, optimizer_ids: Sequence[str]) -> dict[str, str]:
        """The latest due time that was claimed, by optimizer; without any it is left out."""
        ...

    async def running(self, optimizer_ids: Sequence[str]) -> dict[str, str]:
        """The run of each that has not ended; those without one are left out."""
        ...

    async def unsettled(self, *, limit: int = 50) -> list[OptimizerRun]:
        """Runs whose optimization has ended and that still want something done."""
        ...

    async def settle(self, run_id: str, promotion: Mapping[str, Any] | None) -> None:
        """Nothing is left to do; what was done is kept. The first one counts."""
        ...
