"""Runs of configured optimizers: who started them from what, and what became of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from burnish.domain.optimization import Candidate, TrialResult
from burnish.domain.optimization_records import OptimizationRecord


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
