"""Confirmation of the winner on held-out items, and the budget that the search leaves for it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from statistics import fmean, pvariance

from burnish.domain import (
    Budget,
    Candidate,
    ErrorKind,
    ExperimentRepository,
    ExperimentStatus,
    ExperimentType,
    ItemResult,
    StepCandidate,
    TrialResult,
)
from burnish.evaluation.statistics import PairedComparison, paired_permutation_test
from burnish.optimization.budget_gate import BudgetGate
from burnish.optimization.experiments.adapter import ExperimentAdapter, ExperimentRequest
from burnish.optimization.experiments.aggregator import ResultAggregator
from burnish.optimization.experiments.masks import CandidateMaterializer
from burnish.optimization.objective import Measures
from burnish.optimization.search_plan import experiment_id
from burnish.optimization.trial_index import TrialIndex


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """How the winner compares with the baseline. `held_out` tells whether the items were unseen."""

    comparison: PairedComparison
    baseline_score: float
    best_score: float
    held_out: bool
    # Pairs that were left out: one side has no answer for reasons outside the agent.
    missing: int = 0
    baseline_measures: Measures = field(default_factory=Measures)
    best_measures: Measures = field(default_factory=Measures)


def compare_scores(
    before: Mapping[str, float], after: Mapping[str, float], *, planned: int, held_out: bool
) -> Confirmation | str:
    """A paired test on the items that both sides answered, of so many that were to be compared."""
    common = sorted(before.keys() & after.keys())
    if not common:
        return "no item was answered by both"
    old = [before[item] for item in common]
    new = [after[item] for item in common]
    return Confirmation(
        comparison=paired_permutation_test(old, new, seed=0),
        baseline_score=sum(old) / len(old),
        best_score=sum(new) / len(new),
        held_out=held_out,
        missing=max(planned, len(before.keys() | after.keys())) - len(common),
    )


@dataclass(eq=False, kw_only=True)
class Confirmer:
    """Runs the held-out experiments."""

    suite_id: str
    materializer: CandidateMaterializer
    adapter: ExperimentAdapter
    aggregator: ResultAggregator
    experiments: ExperimentRepository
    repeats: int = 1
    _running: list[str] = field(default_factory=list, init=False)

    async def cancel(self) -> None:
        """End the experiments that run; there will be no comparison."""
        for experiment in self._running:
            await self.adapter.cancel(experiment)

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
        async for trial in self.aggregator.completions(planned):
            await self.materializer.remove(trial.mask_id)
            if trial.status is not ExperimentStatus.COMPLETED:
                return trial.error or trial.status.value
            trials[trial.experiment_id] = trial
        first, last = planned[0].experiment_id, planned[-1].experiment_id
        return await self.compare(trials[first], trials[last], held_out=True)

    async def compare(
        self, baseline: TrialResult, best: TrialResult, *, held_out: bool
    ) -> Confirmation | str:
        """A paired test between two experiments on the items that both answered."""
        before = await self.experiments.item_scores(baseline.experiment_id)
        after = await self.experiments.item_scores(best.experiment_id)
        planned = max(one.summary.total_items for one in (baseline, best)) // self.repeats
        found = compare_scores(before, after, planned=planned, held_out=held_out)
        if isinstance(found, str):
            return found
        return replace(
            found,
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
        await self.materializer.materialize(candidate)
        await self.adapter.trigger(
            ExperimentRequest(
                optimization_id=candidate.optimization_id,
                candidate_id=candidate.id,
                mask_id=candidate.mask_id,
                evaluation_suite_id=self.suite_id,
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


# A confirmation that would take more of a limit than this gets only what the search leaves of it.
LARGEST_SHARE = 0.3
# Test items may take more than those that were measured: so many deviations of their sum more.
_DEVIATIONS = 2.0
# The winner may be a longer prompt than the best so far: so many times its tokens and dollars.
_GROWTH = {"max_tokens": 1.25, "max_cost_usd": 1.25}
_SPENT = ("max_calls", "max_tokens", "max_cost_usd")

# The mean and the variance of what one run takes, by the limit that it counts against.
Measured = Mapping[str, tuple[float, float]]


class ConfirmationReserve:
    """Keeps back what two candidates on all test items will take, so that the search leaves it.

    Evaluations are known from the start. Calls, tokens, dollars and time are estimated from the
    stored runs of the baseline and of the best so far, so a resumed run keeps back the same.
    """

    def __init__(
        self,
        budget: Budget,
        gate: BudgetGate,
        experiments: ExperimentRepository,
        *,
        runs: int,
        concurrency: int,
    ) -> None:
        self._limits = budget.to_json()
        self._measures = any(name in self._limits for name in (*_SPENT, "max_seconds"))
        self._gate = gate
        self._experiments = experiments
        self._runs = runs
        self._concurrency = min(concurrency, 2 * runs)
        self._measured: dict[str, Measured] = {}

    async def keep(self, trial_index: TrialIndex) -> None:
        """Keep back what is known to be needed by now."""
        measured = await self._measure_both(trial_index) if self._measures else []
        self._gate.expected = {
            name: max(one[name][0] for one in measured) for name in _SPENT if measured
        }
        needed = {"max_evaluations": 2.0 * self._runs, **self._estimate(measured)}
        self._gate.reserved = {
            name: amount
            for name, amount in needed.items()
            if name in self._limits and amount <= LARGEST_SHARE * self._limits[name]
        }

    def release(self) -> None:
        """Let the confirmation have it."""
        self._gate.reserved, self._gate.refused = {}, None

    async def _measure_both(self, trial_index: TrialIndex) -> list[Measured]:
        """The baseline and the best so far, once they have a score."""
        baseline, best = trial_index.baseline(), trial_index.best()
        if baseline is None or best is None:
            return []
        return [await self._measure(one.experiment_id) for one in (baseline, best)]

    def _estimate(self, measured: list[Measured]) -> dict[str, float]:
        if not measured or not self._runs:
            return {}
        needed = {}
        for name in (*_SPENT, "max_seconds"):
            (baseline, baseline_variance), (best, best_variance) = (one[name] for one in measured)
            spread = math.sqrt(self._runs * (baseline_variance + best_variance))
            both = baseline + best * _GROWTH.get(name, 1.0)
            needed[name] = self._runs * both + _DEVIATIONS * spread
        needed["max_seconds"] /= self._concurrency
        return needed

    async def _measure(self, experiment_id: str) -> Measured:
        """Once an experiment: it has ended, so it stays the same."""
        if experiment_id not in self._measured:
            results = self._experiments.stream_results(experiment_id)
            runs = [_taken(one) async for one in results if _tells(one)]
            self._measured[experiment_id] = {
                name: (fmean(amounts), pvariance(amounts)) if amounts else (0.0, 0.0)
                for name in (*_SPENT, "max_seconds")
                for amounts in [[run[name] for run in runs]]
            }
        return self._measured[experiment_id]


def _tells(result: ItemResult) -> bool:
    return result.error is None or result.error.kind is not ErrorKind.INFRASTRUCTURE


def _taken(result: ItemResult) -> dict[str, float]:
    """What a run takes when it is paid for, whether it was this time or not."""
    usage = result.spending.total + result.reused.total
    return {**Budget.amounts(usage), "max_seconds": result.latency_ms / 1000}
