"""Step runner: masks, triggers, waiting, and the record of each result of a step."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from burnish.domain import (
    Candidate,
    Clock,
    Event,
    ExperimentStatus,
    ExperimentType,
    Lease,
    OptimizationRepository,
    StepCandidate,
    TrialResult,
    UnavailableError,
)
from burnish.optimization import events
from burnish.optimization.budget_gate import BudgetGate
from burnish.optimization.checkpoint import Pending
from burnish.optimization.experiments.adapter import UNSCORED, ExperimentRequest, RunAdapter
from burnish.optimization.experiments.aggregator import ResultAggregator, trial_of
from burnish.optimization.experiments.masks import CandidateMaterializer


class BaselineFailed(UnavailableError):  # noqa: N818 - names what happened to the run
    """The baseline could not be scored, so there is nothing to improve on."""

    default_code = "baseline_failed"

    def __init__(self, trial: TrialResult) -> None:
        super().__init__(
            what="the optimization failed",
            why=f"its baseline ended as {trial.status.value}: {trial.error or 'no score'}",
            fix="mend the cause, which `burnish eval` shows too; `burnish resume` then runs what the "
            "baseline lacks and goes on",
        )


@dataclass(eq=False, kw_only=True)
class StepRunner:
    """Brings pending experiments to their end. Knows nothing of optimizers or proposals."""

    suite_id: str
    trial_items: tuple[str, ...]
    repository: OptimizationRepository
    materializer: CandidateMaterializer
    adapter: RunAdapter
    aggregator: ResultAggregator
    gate: BudgetGate
    clock: Clock
    lease: Lease
    # Experiments that were triggered, in this attempt or an earlier one.
    started: set[str] = field(default_factory=set, init=False)
    # Those of an earlier attempt that ended without a score and are run again in this one.
    _again: set[str] = field(default_factory=set, init=False)

    async def run(
        self,
        pending: Sequence[Pending],
        candidates: Mapping[str, Candidate],
        *,
        wait_for_all: bool,
        retry_errors: bool = False,
        progress: Callable[[Sequence[TrialResult]], Event],
    ) -> list[TrialResult]:
        """The results of all pending experiments, or of the first that ends.

        `progress` is the event that is told with each result, given all so far.
        With `retry_errors`, those that ended without a score in an earlier attempt are run again.
        """
        planned = {
            one.experiment_id: StepCandidate(
                candidate=candidates[one.candidate_id],
                experiment_id=one.experiment_id,
                item_ids=one.item_ids,
                repeats=one.repeats,
            )
            for one in pending
        }
        finished: list[TrialResult] = []
        watch = asyncio.create_task(self._cancel_when_time_is_up(pending))
        try:
            present = [one for one in pending if await self._is_present(one, retry_errors)]
            # Whoever goes on as soon as one has ended lets none wait for the others.
            trials = [one.experiment_id for one in present if one.item_ids is None and wait_for_all]
            await asyncio.gather(
                *(
                    self._start(one, planned[one.experiment_id], trials, retry_errors=retry_errors)
                    for one in present
                )
            )
            async for trial in self.aggregator.completions(list(planned.values())):
                finished.append(trial)
                told = progress(finished)
                await self._save(trial, planned[trial.experiment_id], told)
                if not wait_for_all:
                    break
        finally:
            watch.cancel()
        for trial in finished:
            await self.materializer.remove(trial.mask_id)
        return finished

    async def cancel(self, pending: Sequence[Pending], *, overdue: bool = False) -> None:
        """End pending experiments; their results so far stay."""
        for one in pending:
            await self.adapter.cancel(one.experiment_id, overdue=overdue)

    async def _is_present(self, one: Pending, retry_errors: bool) -> bool:
        """Whether it is to be started or goes on; what is gone will be called orphaned."""
        if one.experiment_id not in self.started:
            return True
        status = await self.adapter.get_status(one.experiment_id)
        if retry_errors and (status is None or status in UNSCORED):
            self._again.add(one.experiment_id)
        return status is not None or retry_errors

    async def _start(
        self, pending: Pending, one: StepCandidate, trials: Sequence[str], *, retry_errors: bool
    ) -> None:
        started = one.experiment_id in self.started
        candidate = one.candidate
        await self.materializer.materialize(candidate)
        await self.adapter.trigger(
            ExperimentRequest(
                optimization_id=candidate.optimization_id,
                candidate_id=candidate.id,
                mask_id=candidate.mask_id,
                evaluation_suite_id=self.suite_id,
                experiment_id=one.experiment_id,
                type=ExperimentType.TRIAL if one.item_ids is None else ExperimentType.MINI_BATCH,
                item_ids=one.item_ids or self.trial_items,
                execution_params={
                    "step_index": candidate.step_index,
                    "parent_candidate_ids": list(candidate.parent_candidate_ids),
                    "candidate_config_hash": candidate.configuration.hash,
                    "incumbent_experiment_id": pending.incumbent_experiment_id,
                },
                retry_errors=retry_errors,
                repeats=one.repeats,
                runs_with=tuple(other for other in trials if other != one.experiment_id),
            )
        )
        if not started or one.experiment_id in self._again:
            await self._save(trial_of(one, ExperimentStatus.RUNNING, None, None), one)
            self.started.add(one.experiment_id)

    async def _save(self, trial: TrialResult, one: StepCandidate, *told: Event) -> None:
        again = self.lease.token if one.experiment_id in self._again else None
        event = events.trial_changed(trial, one.candidate.number, again=again)
        await self.repository.save_trial(self.lease, trial, events=[event, *told])

    async def _cancel_when_time_is_up(self, pending: Sequence[Pending]) -> None:
        left = self.gate.seconds_left()
        if left is not None:
            await self.clock.sleep(left)
            await self.cancel(pending, overdue=True)
