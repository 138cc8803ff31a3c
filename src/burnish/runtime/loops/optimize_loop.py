"""Optimize loop: optimization requests in, reports out; the work is the orchestrator's."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID, uuid4

from burnish.domain import (
    DEFAULT_TAG,
    Agent,
    Budget,
    Clock,
    Item,
    Json,
    UnavailableError,
    UsageError,
)
from burnish.domain.mailboxes import Mailbox
from burnish.evaluation.item_runner import describe
from burnish.optimizers.compress.coverage import UntestedLine
from burnish.optimizers.compress.report import (
    CompressionOutcome,
    Modification,
    RejectedModification,
)
from burnish.optimizers.compress.strategies import CompressStrategy
from burnish.overrides import PromptDescriptor, PromptOverridesStore
from burnish.runtime.loops import reading
from burnish.runtime.loops.mailbox_loop import MailboxLoop
from burnish.runtime.loops.main_loop import now
from burnish.runtime.loops.message_handler import Delivery, GivenBack, RetryRules

_log = logging.getLogger(__name__)
OPTIMIZE_REQUESTS = "optimize-requests"
# How long an optimization may take to leave its state and its lease in order.
_LEAVE_SECONDS = 10.0
# A request that takes hours meets many restarts of workers; none of them is its fault.
MAX_OPTIMIZE_DELIVERIES = 50
# A worker runs few optimizations at a time, so one that never ends keeps others waiting.
MOST_EVAL_RUNS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizeRequest(reading.JsonFields):
    """A prompt to make shorter without failing what it passes.

    The prompt is the worker's own: `descriptor` says which, and which text of it is meant. Rows
    travel in `dataset` as long as they fit a message; `dataset_id` names rows that the workers'
    database has; with neither the worker's own suite is used. `settings` are those of the compress
    optimizer. A request that is sent again with the same `request_id` is the same optimization.
    """

    descriptor: PromptDescriptor
    dataset: tuple[Item, ...] = ()
    dataset_id: str | None = None
    baseline_tag: str = DEFAULT_TAG
    eval_runs: int = 3
    flags: Mapping[str, bool] = field(default_factory=dict)
    settings: Mapping[str, Json] = field(default_factory=dict)
    budget: Budget | None = None
    seed: int = 0
    request_id: UUID = field(default_factory=uuid4)
    created_at: datetime = field(default_factory=now)

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> OptimizeRequest:
        """From the form that travels."""
        flags = reading.of_type(value, "flags", dict)
        if not all(isinstance(state, bool) for state in flags.values()):
            raise TypeError("flags are true or false")
        return cls(
            descriptor=PromptDescriptor.from_json(value["descriptor"]),
            dataset=tuple(map(reading.item, value["dataset"])),
            dataset_id=reading.optional(value, "dataset_id", reading.text),
            baseline_tag=reading.of_type(value, "baseline_tag", str),
            eval_runs=reading.of_type(value, "eval_runs", int),
            flags=flags,
            settings=reading.of_type(value, "settings", dict),
            budget=reading.optional(value, "budget", reading.budget),
            seed=reading.of_type(value, "seed", int),
            request_id=UUID(value["request_id"]),
            created_at=reading.moment(value["created_at"]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizationReport(CompressionOutcome):
    """What became of a prompt. `experiment_id` is the optimization's id in the database.

    The `original_hash` of a modification is that of the prompt's own text, as an override needs it,
    also where the baseline tag had replaced that text already. `baseline_tag` is that tag, and None
    where the baseline was the prompt itself; `baseline_revision` is what the tag was at when the
    search began: `expected` of whoever writes to it. `usage` is what it cost, by purpose.
    """

    experiment_id: str
    prompt_ns: str
    prompt_key: str
    tokens_before: int = 0
    tokens_after: int = 0
    baseline_tag: str | None = None
    baseline_revision: str | None = None
    usage: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The form that travels."""
        return {
            "experiment_id": self.experiment_id,
            "prompt_ns": self.prompt_ns,
            "prompt_key": self.prompt_key,
            "baseline_pass_rate": self.baseline_pass_rate,
            "modifications": [one.to_json() for one in self.modifications],
            "rejected": [one.to_json() for one in self.rejected],
            "candidate_pass_rate": self.candidate_pass_rate,
            "tokens_before": self.tokens_before,
            "tokens_after": self.tokens_after,
            "regressions": list(self.regressions),
            "evaluations": self.evaluations,
            "stop_message": self.stop_message,
            "held_out": self.held_out,
            "untested": [one.to_json() for one in self.untested],
            "baseline_tag": self.baseline_tag,
            "baseline_revision": self.baseline_revision,
            "usage": dict(self.usage),
        }

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> OptimizationReport:
        """From the form that travels."""
        return cls(
            experiment_id=reading.of_type(value, "experiment_id", str),
            prompt_ns=reading.of_type(value, "prompt_ns", str),
            prompt_key=reading.of_type(value, "prompt_key", str),
            baseline_pass_rate=reading.number(value["baseline_pass_rate"]),
            modifications=tuple(map(Modification.of, value["modifications"])),
            rejected=tuple(map(RejectedModification.of, value["rejected"])),
            candidate_pass_rate=reading.number(value["candidate_pass_rate"]),
            tokens_before=reading.of_type(value, "tokens_before", int),
            tokens_after=reading.of_type(value, "tokens_after", int),
            regressions=tuple(map(reading.text, value["regressions"])),
            evaluations=reading.of_type(value, "evaluations", int),
            stop_message=reading.optional(value, "stop_message", reading.text),
            held_out=value.get("held_out"),
            untested=tuple(map(UntestedLine.of, value.get("untested", ()))),
            baseline_tag=value.get("baseline_tag"),
            baseline_revision=value.get("baseline_revision"),
            usage=value.get("usage", {}),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizeResult(reading.JsonFields):
    """The answer to a request; with an `error` the report is empty."""

    request_id: UUID
    report: OptimizationReport
    completed_at: datetime = field(default_factory=now)
    error: str | None = None

    @classmethod
    def failed(cls, request: OptimizeRequest, error: str) -> OptimizeResult:
        """The answer to a request that could not be served."""
        report = OptimizationReport(
            experiment_id="failed",
            prompt_ns=request.descriptor.namespace,
            prompt_key=request.descriptor.key,
            baseline_pass_rate=0.0,
        )
        return cls(request_id=request.request_id, report=report, error=error)

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> OptimizeResult:
        """From the form that travels."""
        return cls(
            request_id=UUID(value["request_id"]),
            report=OptimizationReport.of(value["report"]),
            completed_at=reading.moment(value["completed_at"]),
            error=reading.optional(value, "error", reading.text),
        )


reading.declare(OptimizeRequest, "burnish.optimize-request")
reading.declare(OptimizeResult, "burnish.optimize-result")


class RequestOptimizer(Protocol):
    """Runs the optimization that a request stands for, or goes on with it.

    The same request gives the same optimization, whoever ran it before and however far. Cancelling
    it leaves a state that can be gone on with at once. UnavailableError means: try again later.
    """

    async def optimize(self, request: OptimizeRequest) -> OptimizeResult:
        """Run it to its end."""
        ...


class OptimizeLoop(MailboxLoop[OptimizeRequest, OptimizeResult]):
    """Serves optimization requests. One that is stopped in the middle, by a shutdown or by the death
    of its worker, is gone on with by the next worker that takes it.

    Whatever cannot succeed by trying again is answered with an `error`.

    With `strategy`, `adapter` (the agent, which is also the main loop's), `overrides_store` and
    `eval_requests` it compresses the agent's prompt over these mailboxes alone. An `optimizer` of
    your own takes the place of the four.
    """

    request_type = OptimizeRequest

    def __init__(
        self,
        *,
        requests: Mailbox[OptimizeRequest, OptimizeResult],
        strategy: CompressStrategy | None = None,
        adapter: Agent | None = None,
        overrides_store: PromptOverridesStore | None = None,
        eval_requests: Mailbox[Any, Any] | None = None,
        optimizer: RequestOptimizer | None = None,
        concurrency: int = 1,
        max_deliveries: int = MAX_OPTIMIZE_DELIVERIES,
        rules: RetryRules | None = None,
        clock: Clock | None = None,
        name: str = "optimize",
    ) -> None:
        super().__init__(
            name=name,
            requests=requests,
            concurrency=concurrency,
            max_deliveries=max_deliveries,
            rules=rules,
            clock=clock,
        )
        if optimizer is None:
            # It is made of the messages above.
            from burnish.runtime.loops.mailbox_compression import (  # noqa: PLC0415
                MailboxCompression,
            )

            if None in (strategy, adapter, overrides_store, eval_requests):
                raise UsageError(
                    what="the optimize loop cannot be made",
                    why="it has neither an optimizer nor all that a compression needs",
                    fix="give strategy, adapter, overrides_store and eval_requests, or optimizer",
                    code="invalid_loop",
                )
            assert strategy and adapter and overrides_store and eval_requests
            optimizer = MailboxCompression(
                strategy=strategy,
                agent=adapter,
                overrides_store=overrides_store,
                eval_requests=eval_requests,
            )
        self._optimizer = optimizer

    async def handle(self, request: OptimizeRequest, delivery: Delivery) -> OptimizeResult:
        """Run it; when the worker stops, give it back at once instead of using up the grace."""
        if not 1 <= request.eval_runs <= MOST_EVAL_RUNS:
            raise UsageError(
                what="the request cannot be served",
                why=f"its eval_runs is {request.eval_runs}, and may be 1 to {MOST_EVAL_RUNS}",
                fix="set eval_runs of the OptimizeRequest; 3 is the default",
                code="invalid_request",
            )
        running = asyncio.ensure_future(self._optimizer.optimize(request))
        stopping = asyncio.ensure_future(delivery.stopping.wait())
        try:
            await asyncio.wait({running, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not running.done():
                await _end(running)
                if not running.done() or running.cancelled():
                    raise GivenBack
            return running.result()
        except GivenBack:
            raise
        except Exception as error:
            if isinstance(error, UnavailableError) and error.code != "other_database":
                raise
            # It would fail the same way on any worker.
            _log.warning("optimization %s failed: %s", request.request_id, describe(error))
            return self.failed(request, error)
        finally:
            stopping.cancel()
            if not running.done():
                await _end(running)

    def failed(self, request: OptimizeRequest, error: Exception) -> OptimizeResult:
        """An empty report that says why."""
        return OptimizeResult.failed(request, describe(error))


async def _end(running: asyncio.Future[OptimizeResult]) -> None:
    running.cancel()
    await asyncio.wait({running}, timeout=_LEAVE_SECONDS)
