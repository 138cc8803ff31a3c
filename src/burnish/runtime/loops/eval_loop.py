"""Eval loop: samples in, scored results out; its requests, results and reports."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Self
from uuid import UUID, uuid4

from burnish.domain import (
    AgentOutput,
    Clock,
    ErrorKind,
    ExperimentContext,
    Item,
    ItemResult,
    Score,
    Spending,
    UnavailableError,
    experiment_scope,
)
from burnish.domain.mailboxes import Mailbox
from burnish.evaluation.datasets import Dataset
from burnish.evaluation.item_runner import ItemRunner, describe
from burnish.evaluation.scorers.catalog import build_scorers
from burnish.evaluation.scorers.scorer_set import ScorerSet
from burnish.models import as_model
from burnish.runtime.loops import reading
from burnish.runtime.loops.mailbox_loop import MailboxLoop
from burnish.runtime.loops.main_loop import MainLoop, now
from burnish.runtime.loops.message_handler import Delivery, RetryRules
from burnish.runtime.mailboxes.rules import MAX_DELIVERIES

_log = logging.getLogger(__name__)
EVAL_REQUESTS = "eval-requests"


def samples_of(rows: Any) -> tuple[Item, ...]:
    """Rows as samples: a list of dicts, or a path to JSONL, JSON, CSV or Parquet.

    Equal rows without ids are one sample, and the log says so.
    """
    samples = tuple(Dataset.of(rows).items())
    if isinstance(rows, Sequence) and not isinstance(rows, str) and len(samples) < len(rows):
        equal = len(rows) - len(samples)
        _log.warning("%d of %d rows equal others: give them ids to run each", equal, len(rows))
    return samples


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalRequest(reading.JsonFields):
    """One sample to run and to judge, under an experiment's tag."""

    sample: Item
    experiment: ExperimentContext | None = None
    repeat: int = 0
    request_id: UUID = field(default_factory=uuid4)
    created_at: datetime = field(default_factory=now)

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> EvalRequest:
        """From the form that travels."""
        return cls(
            sample=reading.item(value["sample"]),
            experiment=reading.optional(value, "experiment", ExperimentContext.of),
            repeat=reading.of_type(value, "repeat", int),
            request_id=UUID(value["request_id"]),
            created_at=reading.moment(value["created_at"]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalResult(reading.JsonFields):
    """A sample's verdict. An error is a failed sample with score 0, never a missing one.

    `score` is the objective of all scorers; its `passed` is what the suite's threshold says.
    `overridden` is whether there was a tag to run under.
    """

    request_id: UUID
    sample_id: str
    score: Score
    scores: tuple[Score, ...] = ()
    repeat: int = 0
    experiment_id: str | None = None
    output: AgentOutput | None = None
    error: str | None = None
    error_kind: ErrorKind | None = None
    usage: Spending = field(default_factory=Spending)
    latency_ms: float = 0.0
    overridden: bool = False
    stale: tuple[str, ...] = ()
    completed_at: datetime = field(default_factory=now)

    @property
    def success(self) -> bool:
        """Whether it could be judged."""
        return self.error is None

    @property
    def passed(self) -> bool:
        """Judged and good enough."""
        return self.success and self.score.passed is True

    @classmethod
    def of_item(
        cls,
        request: EvalRequest,
        result: ItemResult,
        *,
        overridden: bool = False,
        stale: tuple[str, ...] = (),
    ) -> EvalResult:
        """The answer to a request."""
        error = result.error
        return cls(
            request_id=request.request_id,
            sample_id=request.sample.id,
            score=Score(result.score, passed=result.passed, reason=_reason(result)),
            scores=result.scores,
            repeat=request.repeat,
            experiment_id=None if request.experiment is None else request.experiment.id,
            output=result.output,
            error=None if error is None else error.message,
            error_kind=None if error is None else error.kind,
            usage=result.spending,
            latency_ms=result.latency_ms,
            overridden=overridden,
            stale=stale,
        )

    @classmethod
    def failed(cls, request: EvalRequest, error: str, kind: ErrorKind) -> EvalResult:
        """The answer to a request that could not be served."""
        return cls(
            request_id=request.request_id,
            sample_id=request.sample.id,
            score=Score(0.0, passed=False),
            repeat=request.repeat,
            experiment_id=None if request.experiment is None else request.experiment.id,
            error=error,
            error_kind=kind,
        )

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> EvalResult:
        """From the form that travels."""
        return cls(
            request_id=UUID(value["request_id"]),
            sample_id=reading.of_type(value, "sample_id", str),
            score=Score.of(value["score"]),
            scores=tuple(map(Score.of, value["scores"])),
            repeat=reading.of_type(value, "repeat", int),
            experiment_id=reading.optional(value, "experiment_id", reading.text),
            output=reading.optional(value, "output", reading.output),
            error=reading.optional(value, "error", reading.text),
            error_kind=reading.optional(value, "error_kind", ErrorKind),
            usage=Spending.of(value["usage"]),
            latency_ms=reading.number(value["latency_ms"]),
            overridden=value.get("overridden", False) is True,
            stale=tuple(map(reading.text, value["stale"])),
            completed_at=reading.moment(value["completed_at"]),
        )


@dataclass(frozen=True, slots=True)
class EvalReport:
    """The results of one run over a dataset."""

    results: tuple[EvalResult, ...]

    @property
    def pass_rate(self) -> float:
        """Of all samples, those in error included."""
        passed = sum(one.passed for one in self.results)
        return passed / len(self.results) if self.results else 0.0


@dataclass(frozen=True, slots=True)
class EvalSummary:
    """Several runs over the same dataset: samples that pass now and then are nobody's gate."""

    pass_rate: float
    consistently_passed: frozenset[str]

    @classmethod
    def from_reports(cls, reports: Sequence[EvalReport]) -> Self:
        """The mean pass rate, and the samples that passed in every run."""
        if not reports:
            return cls(0.0, frozenset())
        passed = [{one.sample_id for one in report.results if one.passed} for report in reports]
        return cls(
            sum(report.pass_rate for report in reports) / len(reports),
            frozenset.intersection(*map(frozenset, passed)),
        )


def _reason(result: ItemResult) -> str:
    return "; ".join(one.reason for one in result.scores if one.reason)


reading.declare(EvalRequest, "burnish.eval-request")
reading.declare(EvalResult, "burnish.eval-result")


class EvalLoop(MailboxLoop[EvalRequest, EvalResult]):
    """Evaluates single samples with the main loop's agent and these scorers.

    A sample that fails is a result. One that fails for reasons outside the agent goes back to be
    tried again, and is a failed result at the last delivery. Whole experiments travel as shards, on
    a mailbox of their own: see `burnish.runtime.shards`.
    """

    request_type = EvalRequest

    def __init__(
        self,
        *,
        loop: MainLoop,
        requests: Mailbox[EvalRequest, EvalResult],
        scorers: ScorerSet | Sequence[Any],
        pass_threshold: float | None = None,
        concurrency: int = 16,
        max_deliveries: int = MAX_DELIVERIES,
        rules: RetryRules | None = None,
        clock: Clock | None = None,
        name: str = "eval",
    ) -> None:
        super().__init__(
            name=name,
            requests=requests,
            concurrency=concurrency,
            max_deliveries=max_deliveries,
            rules=rules,
            clock=clock,
        )
        self._main = loop
        if not isinstance(scorers, ScorerSet):
            scorers = build_scorers(scorers, open_model=as_model, folder=Path.cwd())
        self._scorers = scorers
        self._pass_threshold = pass_threshold

    def failed(self, request: EvalRequest, error: Exception) -> EvalResult:
        """A failed result: never a missing one."""
        outside = isinstance(error, UnavailableError)
        kind = ErrorKind.INFRASTRUCTURE if outside else ErrorKind.AGENT
        return EvalResult.failed(request, describe(error), kind)

    async def handle(self, request: EvalRequest, delivery: Delivery) -> EvalResult:
        """Run the sample under its experiment's tag, and judge it."""
        prepared = await self._main.prepare(request.experiment)
        runner = ItemRunner(
            self._main.agent,
            prepared.configuration,
            self._scorers,
            pass_threshold=self._pass_threshold,
            timeout_seconds=self._main.timeout_seconds,
        )
        with experiment_scope(request.experiment):
            result = await runner.run(request.sample, request.repeat)
        if _failed_outside(result) and not delivery.last:
            assert result.error is not None
            raise UnavailableError(
                what=f"the sample {request.sample.id} could not be run",
                why=result.error.message,
                fix="it is tried again by itself",
                code="sample_unavailable",
            )
        return EvalResult.of_item(
            request, result, overridden=prepared.overridden, stale=prepared.stale
        )


def _failed_outside(result: ItemResult) -> bool:
    return result.error is not None and result.error.kind is ErrorKind.INFRASTRUCTURE
