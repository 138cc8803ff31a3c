"""Step runner: masks, triggers, waiting, and the record of each result of a step."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from burnish.domain import (
    Candidate,
    Clock,
    ExperimentStatus,
    ExperimentType,
    Lease,
    OptimizationRepository,
    StepCandidate,
    TrialResult,
)
from burnish.optimization import events
from burnish.optimization.budget_gate import BudgetGate
from burnish.optimization.checkpoint import Pending
from burnish.optimization.experiments.adapter import UNSCORED, ExperimentAdapter, ExperimentRequest
from burnish.optimization.experiments.aggregator import ResultAggregator, trial_of
from burnish.optimization.experiments.masks import CandidateMaterializer


class StepRunner:
    """Brings pending experiments to their end. Knows nothing of optimizers or proposals."""

    def __init__(
        self,
        *,
        suite_id: str,
        trial_items: tuple[str, ...],
        repository: OptimizationRepository,
        materializer: CandidateMaterializer,
        adapter: ExperimentAdapter,
        aggregator: ResultAggregator,
        gate: BudgetGate,
        clock: Clock,
        lease: Lease,
    ) -> None:
        self._suite_id = suite_id
        self._trial_items = trial_items
        self._repository = repository
        self._materializer = materializer
        self._adapter = adapter
        self._aggregator = aggregator
        self._gate = gate
        self._clock = clock
        self._lease = lease
        # Experiments that were triggered, in this attempt or an earlier one.
        self.started: set[str] = set()
        # Those of an earlier attempt that ended without a score and are run again in this one.
        self._again: set[str] = set()

    async def run(
        self,
        pending: Sequence[Pending],
        candidates: Mapping[str, Candidate],
        *,
        wait_for_all: bool,
        retry_errors: bool = False,
    ) -> list[TrialResult]:
        """The results of all pending experiments, or of the first that ends.

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
            await asyncio.gather(
                *(
                    self._start(one, planned[one.experiment_id], retry_errors=retry_errors)
                    for one in pending
                )
            )
            async for trial in self._aggregator.completions(list(planned.values())):
                await self._save(trial, planned[trial.experiment_id])
                finished.append(trial)
                if not wait_for_all:
                    break
        finally:
            watch.cancel()
        for trial in finished:
            await self._materializer.remove(trial.mask_id)
        return finished

    async def cancel(self, pending: Sequence[Pending]) -> None:
        """End pending experiments; their results so far stay."""
        for one in pending:
            await self._adapter.cancel(one.experiment_id)

    async def _start(self, pending: Pending, one: StepCandidate, *, retry_errors: bool) -> None:
        started = one.experiment_id in self.started
        if started:
            status = await self._adapter.get_status(one.experiment_id)
            if status is None:
                return  # It was started and is gone: the aggregator will call it orphaned.
            if retry_errors and status in UNSCORED:
                self._again.add(one.experiment_id)
        candidate = one.candidate
        await self._materializer.materialize(candidate)
        await self._adapter.trigger(
            ExperimentRequest(
                optimization_id=candidate.optimization_id,
                candidate_id=candidate.id,
                mask_id=candidate.mask_id,
                evaluation_suite_id=self._suite_id,
                experiment_id=one.experiment_id,
                type=ExperimentType.TRIAL if one.item_ids is None else ExperimentType.MINI_BATCH,
                item_ids=one.item_ids or self._trial_items,
                execution_params={
                    "step_index": candidate.step_index,
                    "parent_candidate_ids": list(candidate.parent_candidate_ids),
                    "candidate_config_hash": candidate.configuration.hash,
                    "incumbent_experiment_id": pending.incumbent_experiment_id,
                },
                retry_errors=retry_errors,
                repeats=one.repeats,
            )
        )
        if not started or one.experiment_id in self._again:
            await self._save(trial_of(one, ExperimentStatus.RUNNING, None, None), one)
            self.started.add(one.experiment_id)

    async def _save(self, trial: TrialResult, one: StepCandidate) -> None:
        again = self._lease.token if one.experiment_id in self._again else None
        event = events.trial_changed(trial, one.candidate.number, again=again)
        await self._repository.save_trial(self._lease, trial, events=[event])

    async def _cancel_when_time_is_up(self, pending: Sequence[Pending]) -> None:
        left = self._gate.seconds_left()
        if left is not None:
            await self._clock.sleep(left)
            await self.cancel(pending)
