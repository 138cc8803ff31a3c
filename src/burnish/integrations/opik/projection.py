"""Item results and trials made from what Opik clients sent, anew whenever more of it comes in.

What was sent is the truth, and this can be repeated: an experiment that is finished is made as a
whole, so what a crash kept from being made before is made then.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby

from burnish.app.optimize.client_lease import OpikLease, is_of_client
from burnish.app.wiring import Workspace
from burnish.domain import (
    Experiment,
    ExperimentStatus,
    ItemResult,
    Lease,
    StepCandidate,
    UsageError,
    exact_hash,
)
from burnish.domain.opik_records import OpikRun
from burnish.integrations.opik.results import result_of
from burnish.integrations.opik.run_status import save_standing
from burnish.optimization import events
from burnish.optimization.experiments.adapter import RawExperimentResults
from burnish.optimization.experiments.aggregator import normalise

_PART = 200


class OpikProjection:
    """Keeps our records level with what was sent."""

    def __init__(self, workspace: Workspace, lease: OpikLease) -> None:
        self._workspace = workspace
        self._lease = lease

    async def traces_changed(self, trace_ids: Iterable[str]) -> None:
        """Something about some traces came in."""
        affected = await self._workspace.opik.experiments_of(list(trace_ids))
        for experiment_id, item_ids in affected.items():
            await self.refresh(experiment_id, sorted(item_ids))

    async def refresh(self, experiment_id: str, item_ids: Sequence[str] | None = None) -> None:
        """Make the results of some items, or of all; without the experiment they wait for it."""
        try:
            experiment = await self._workspace.experiments.get_experiment(experiment_id)
        except UsageError:
            return
        if "opik" not in experiment.metadata:
            return
        of = experiment.optimization_id
        if of is None:
            async with self._lease.lock(experiment_id):
                await self._results(experiment_id, item_ids, "", None)
            return
        record = await self._workspace.optimizations.get_optimization(of)
        if is_of_client(record):
            objective = record.objective_name

            async def work(lease: Lease) -> None:
                stored = await self._results(experiment_id, item_ids, objective, lease)
                if stored.status.final:
                    await self._trial(lease, stored)

            await self._lease.write(of, work)

    async def _results(
        self,
        experiment_id: str,
        item_ids: Sequence[str] | None,
        objective: str,
        lease: Lease | None,
    ) -> Experiment:
        experiments = self._workspace.experiments
        # Read here and not before: whoever was first may have finished it meanwhile.
        experiment = await experiments.get_experiment(experiment_id)
        runs = await self._workspace.opik.runs(experiment_id, item_ids)
        final = experiment.status.final
        results = results_of(runs, objective, finished=final)
        for start in range(0, len(results), _PART):
            part = results[start : start + _PART]
            await experiments.save_results(experiment_id, part, lease=lease)
        if final:
            count = (await experiments.summarise(experiment_id)).runs
            if count != experiment.planned_items:
                await experiments.update_experiment(experiment_id, planned_items=count, lease=lease)
        return experiment

    async def _trial(self, lease: Lease, experiment: Experiment) -> None:
        repository = self._workspace.optimizations
        trials = await repository.list_trials(lease.job_id, mini_batches=True)
        trial = next((one for one in trials if one.experiment_id == experiment.id), None)
        if trial is None:
            return
        candidates = await repository.list_candidates(lease.job_id)
        candidate = next(one for one in candidates if one.id == trial.candidate_id)
        step = StepCandidate(candidate=candidate, experiment_id=experiment.id)
        raw = RawExperimentResults(
            status=experiment.status,
            summary=await self._workspace.experiments.summarise(experiment.id),
            error=_text(experiment.metadata.get("trial_error")),
        )
        ended = replace(normalise(step, raw), type=trial.type)
        if ended.status is ExperimentStatus.COMPLETED and not ended.summary.total_items:
            ended = replace(ended, objective_score=None)
        if ended != trial:
            # A trial that had ended before is told once more: its numbers are others now.
            again = lease.token if trial.status.final else None
            told = [events.trial_changed(ended, candidate.number, again=again)]
            await repository.save_trial(lease, ended, events=told)
        await save_standing(repository, lease, candidates)


def results_of(runs: Sequence[OpikRun], objective: str, *, finished: bool) -> list[ItemResult]:
    """Results of runs that are ordered by item and then by their own id: that makes the repeats."""
    found = []
    for item_id, group in groupby(runs, key=lambda one: one.item.item_id):
        # No cache looks for it, so it need only tell items apart.
        item_hash = exact_hash(item_id)
        for repeat, run in enumerate(group):
            result = result_of(
                run, repeat=repeat, item_hash=item_hash, objective=objective, finished=finished
            )
            if result is not None:
                found.append(result)
    return found


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
