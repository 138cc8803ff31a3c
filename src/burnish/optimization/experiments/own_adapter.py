"""Adapter of your own: experiments that somebody else's code runs, block by block."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from burnish.domain import (
    BurnishError,
    Clock,
    ExperimentRepository,
    ExperimentStatus,
    Item,
    ItemResult,
    Lease,
    SystemClock,
    UnavailableError,
    UsageError,
    text_hash,
)
from burnish.domain.wording import counted
from burnish.evaluation.work_source import Run, runs_of
from burnish.optimization.budget_gate import BudgetGate
from burnish.optimization.experiments.adapter import (
    UNSCORED,
    Block,
    ExperimentAdapter,
    ExperimentEnded,
    ExperimentRequest,
    NewsSource,
    RawExperimentResults,
    RunnerLost,
    TriggeredExperiment,
)
from burnish.optimization.experiments.block_adapter import BlockExperimentAdapter, ExperimentInputs
from burnish.optimization.experiments.masks import CandidateMaterializer
from burnish.optimization.extensions import ExtensionCalls, ExtensionFailed
from burnish.support.retry import RetryPolicy, retry

# How often an adapter without news is asked: often at first, for experiments that are soon over.
_LOOKS = RetryPolicy(first_wait_seconds=0.02, longest_wait_seconds=2.0)
_RETRIES = RetryPolicy(max_attempts=5, first_wait_seconds=0.2, longest_wait_seconds=5.0)
_NEWS_SECONDS = 2.0
_OWN_METADATA = ("candidate_id", "mask_id", "refine")


class OwnBlocks:
    """A BlockRunner that asks an ExperimentAdapter, and stores what that brings back."""

    def __init__(
        self,
        adapter: ExperimentAdapter,
        experiments: ExperimentRepository,
        lease: Lease,
        clock: Clock | None = None,
    ) -> None:
        self._calls = ExtensionCalls(adapter, "adapter")
        self._listens = isinstance(adapter, NewsSource)
        self._experiments = experiments
        self._lease = lease
        self._clock = clock or SystemClock()
        self._running: dict[str, str] = {}

    async def run(self, block: Block) -> None:
        """Have a block evaluated, and keep its results."""
        runs = list(runs_of(block.items, block.suite.policy.repeats, block.skip))
        if not runs:
            return
        for item, repeat in runs:
            block.options.gate.admit(item, repeat)
        request = request_of(block)
        with contextlib.ExitStack() as under_way:
            for _ in runs:
                under_way.enter_context(block.options.gate.running())
            raw = await self._brought_back(block.experiment.id, request)
        results = self._checked(raw, runs)
        await self._experiments.save_results(block.experiment.id, results, lease=self._lease)
        for result in results:
            block.options.gate.record(result)
            block.progress.add(result)
            if block.options.on_result is not None:
                block.options.on_result(result)

    async def cancel(self, experiment_id: str) -> None:
        """Tell the adapter that nobody wants an experiment any more."""
        running = self._running.get(experiment_id)
        if running is not None:
            await self._call("cancel", running)

    async def close(self) -> None:
        """What runs there goes on, and is found again on resume."""
        self._calls.close()

    async def _brought_back(
        self, experiment_id: str, request: ExperimentRequest
    ) -> RawExperimentResults:
        self._running[experiment_id] = request.experiment_id
        try:
            triggered = await self._call("trigger", request)
            self._require_trigger(triggered, request)
            await self._wait(request.experiment_id)
            raw = await self._call("get_results", request.experiment_id)
        finally:
            self._running.pop(experiment_id, None)
        if not isinstance(raw, RawExperimentResults):
            raise self._calls.failed("get_results", f"it returned a {type(raw).__name__}")
        if raw.status not in (ExperimentStatus.COMPLETED, *UNSCORED):
            raise self._calls.failed("get_results", f"its status is {raw.status.value}")
        if raw.status is not ExperimentStatus.COMPLETED:
            raise ExperimentEnded(raw.status, raw.error or f"it ended as {raw.status.value}")
        return raw

    async def _wait(self, experiment_id: str) -> None:
        """Until the adapter says that an experiment is over."""
        looks = 0
        while not (await self._status(experiment_id)).final:
            looks += 1
            if self._listens:
                await self._calls.call("wait_for_news", _NEWS_SECONDS)
            else:
                await self._clock.sleep(_LOOKS.backoff_seconds(looks))

    async def _status(self, experiment_id: str) -> ExperimentStatus:
        answer = await self._call("get_status", experiment_id)
        if answer is None:
            raise ExperimentEnded(ExperimentStatus.FAILED, "orphaned_experiment")
        try:
            return ExperimentStatus(answer)
        except ValueError as error:
            known = ", ".join(ExperimentStatus)
            why = f"it returned {answer!r}, which is none of {known}"
            raise self._calls.failed("get_status", why) from error

    async def _call(self, method: str, *arguments: Any) -> Any:
        """What may pass is tried again; then the run stops and can be resumed."""
        return await retry(
            lambda _: self._calls.call(method, *arguments),
            policy=_RETRIES,
            passing=lambda error: isinstance(error, UnavailableError),
            clock=self._clock,
            give_up=_lost,
        )

    def _require_trigger(self, answer: Any, request: ExperimentRequest) -> None:
        if answer is None:
            return
        if not isinstance(answer, TriggeredExperiment):
            raise self._calls.failed("trigger", f"it returned a {type(answer).__name__}")
        if answer.experiment_id != request.experiment_id:
            why = f"it started {answer.experiment_id!r} in place of {request.experiment_id!r}"
            raise self._calls.failed("trigger", why)

    def _checked(self, raw: RawExperimentResults, runs: Sequence[Run]) -> list[ItemResult]:
        """One result for each run, or what is wrong with them."""
        wanted: dict[tuple[str, int], Item] = {(item.id, repeat): item for item, repeat in runs}
        found: dict[tuple[str, int], ItemResult] = {}
        for result in raw.results:
            problem = _problem(result)
            if problem is not None:
                raise self._calls.failed("get_results", problem)
            key = (result.item_id, result.repeat)
            if key in wanted:
                found[key] = replace(result, item_hash=wanted[key].hash)
        missing = [key for key in wanted if key not in found]
        if missing:
            item, repeat = missing[0]
            lacking = f"{len(missing)} of {counted(len(wanted), 'run')}"
            why = f"its results lack {lacking}, such as item {item!r}"
            raise self._calls.failed("get_results", f"{why}, repeat {repeat}")
        return list(found.values())


def request_of(block: Block) -> ExperimentRequest:
    """What a block asks for. A part of an experiment, as in a race, has an id of its own."""
    experiment, repeats = block.experiment, block.suite.policy.repeats
    identity, ids = experiment.id, tuple(item.id for item in block.items)
    if experiment.planned_items != len(ids) * repeats:
        identity = f"{identity}.{text_hash(chr(31).join(ids))[:12]}"
    metadata = experiment.metadata
    return ExperimentRequest(
        optimization_id=experiment.optimization_id or "",
        candidate_id=metadata["candidate_id"],
        mask_id=block.mask_id,
        evaluation_suite_id=experiment.suite_name,
        experiment_id=identity,
        type=experiment.type,
        item_ids=ids,
        execution_params={k: v for k, v in metadata.items() if k not in _OWN_METADATA},
        retry_errors=bool(block.stale),
        repeats=repeats,
        configuration=experiment.configuration,
        items=tuple(block.items),
        agent_name=experiment.agent_name,
    )


def _problem(result: Any) -> str | None:
    if not isinstance(result, ItemResult):
        return f"its results hold a {type(result).__name__}, not an ItemResult"
    score: Any = result.score
    if isinstance(score, bool) or not isinstance(score, (int, float)) or not math.isfinite(score):
        return f"the score of item {result.item_id!r} is {score!r}, not a finite number"
    return None


def _lost(error: Exception, ended: str) -> Exception:
    assert isinstance(error, BurnishError)
    return RunnerLost(what=error.what, why=f"{error.why} ({ended})", fix=error.fix, code=error.code)


class OwnExperimentAdapter(BlockExperimentAdapter):
    """The adapter of a run whose experiments somebody else's adapter runs.

    Records, racing, budget and idempotency are those of every run.
    """

    def __init__(
        self,
        adapter: ExperimentAdapter,
        inputs: ExperimentInputs,
        experiments: ExperimentRepository,
        materializer: CandidateMaterializer,
        gate: BudgetGate,
        lease: Lease,
    ) -> None:
        self._own = OwnBlocks(adapter, experiments, lease)
        super().__init__(inputs, experiments, materializer, gate, lease, self._own)

    async def cancel(self, experiment_id: str, *, overdue: bool = False) -> None:
        """End it here and there; an adapter that cannot is left alone."""
        with contextlib.suppress(UnavailableError, ExtensionFailed, UsageError):
            await self._own.cancel(experiment_id)
        await super().cancel(experiment_id, overdue=overdue)
