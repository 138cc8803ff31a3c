"""The winner and the baseline, once, on items that the search never saw."""

from __future__ import annotations

from dataclasses import dataclass, field

from burnish.domain import (
    Candidate,
    ExperimentRepository,
    ExperimentStatus,
    ExperimentType,
    StepCandidate,
    TrialResult,
)
from burnish.evaluation.statistics import PairedComparison, paired_permutation_test
from burnish.optimization.experiments.adapter import ExperimentAdapter, ExperimentRequest
from burnish.optimization.experiments.aggregator import ResultAggregator
from burnish.optimization.experiments.masks import CandidateMaterializer
from burnish.optimization.objectives.front import Measures
from burnish.optimization.plan import experiment_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """How the winner compares with the baseline. `held_out` tells whether the items were unseen."""

    comparison: PairedComparison
    baseline_score: float
    best_score: float
    held_out: bool
    note: str = ""
    baseline_measures: Measures = field(default_factory=Measures)
    best_measures: Measures = field(default_factory=Measures)


class Confirmer:
    """Runs the held-out experiments."""

    def __init__(
        self,
        *,
        suite_id: str,
        materializer: CandidateMaterializer,
        adapter: ExperimentAdapter,
        aggregator: ResultAggregator,
        experiments: ExperimentRepository,
    ) -> None:
        self._suite_id = suite_id
        self._materializer = materializer
        self._adapter = adapter
        self._aggregator = aggregator
        self._experiments = experiments
        self._running: list[str] = []

    async def cancel(self) -> None:
        """End the experiments that run; there will be no comparison."""
        for experiment in self._running:
            await self._adapter.cancel(experiment)

    async def run(
        self, baseline: Candidate, best: Candidate, item_ids: tuple[str, ...]
    ) -> Confirmation | str:
        """The comparison on the items, or in words why there is none."""
        candidates = [baseline] if best.id == baseline.id else [baseline, best]
        planned = [self._plan(one, item_ids) for one in candidates]
        self._running = [one.experiment_id for one in planned]
        for one in planned:
            await self._start(one, item_ids)
        trials: dict[str, TrialResult] = {}
        async for trial in self._aggregator.completions(planned):
            await self._materializer.remove(trial.mask_id)
            if trial.status is not ExperimentStatus.COMPLETED:
                return trial.error or trial.status.value
            trials[trial.experiment_id] = trial
        first, last = planned[0].experiment_id, planned[-1].experiment_id
        return await self.compare(trials[first], trials[last], held_out=True)

    async def compare(
        self, baseline: TrialResult, best: TrialResult, *, held_out: bool
    ) -> Confirmation:
        """A paired test between two experiments on the items they share."""
        before = await self._experiments.item_scores(baseline.experiment_id)
        after = await self._experiments.item_scores(best.experiment_id)
        common = sorted(before.keys() & after.keys())
        old = [before[item] for item in common]
        new = [after[item] for item in common]
        return Confirmation(
            comparison=paired_permutation_test(old, new, seed=0),
            baseline_score=sum(old) / len(old),
            best_score=sum(new) / len(new),
            held_out=held_out,
            baseline_measures=Measures.of(baseline.summary),
            best_measures=Measures.of(best.summary),
        )

    def _plan(self, candidate: Candidate, item_ids: tuple[str, ...]) -> StepCandidate:
        return StepCandidate(
            candidate=candidate,
            experiment_id=experiment_id(
                candidate.optimization_id, candidate.id, ("confirmation", *item_ids)
            ),
            item_ids=item_ids,
        )

    async def _start(self, one: StepCandidate, item_ids: tuple[str, ...]) -> None:
        candidate = one.candidate
        await self._materializer.materialize(candidate)
        await self._adapter.trigger(
            ExperimentRequest(
                optimization_id=candidate.optimization_id,
                candidate_id=candidate.id,
                mask_id=candidate.mask_id,
                evaluation_suite_id=self._suite_id,
                experiment_id=one.experiment_id,
                type=ExperimentType.REGULAR,
                item_ids=item_ids,
                execution_params={
                    "role": "confirmation",
                    "step_index": candidate.step_index,
                    "parent_candidate_ids": list(candidate.parent_candidate_ids),
                    "candidate_config_hash": candidate.configuration.hash,
                },
            )
        )
