"""Confirmation of the winner on held-out items, and the budget that the search leaves for it."""

from __future__ import annotations

import asyncio
import bisect
import math
import random
from collections.abc import Mapping, Sequence
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
from burnish.optimization.experiments.adapter import ExperimentRequest, RunAdapter
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
    # How many items are held out, of which the budget may have left room for a part.
    of_items: int = 0
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
    adapter: RunAdapter
    aggregator: ResultAggregator
    experiments: ExperimentRepository
    repeats: int = 1
    _running: list[str] = field(default_factory=list, init=False)

    async def cancel(self, *, overdue: bool = False) -> None:
        """End the experiments that run; there will be no comparison."""
        for experiment in self._running:
            await self.adapter.cancel(experiment, overdue=overdue)

    async def run(
        self, baseline: Candidate, best: Candidate, item_ids: tuple[str, ...], *, of_items: int
    ) -> Confirmation | str:
        """The comparison on the items, which are some `of_items`, or in words why there is none."""
        if not item_ids:
            return "the budget left no room for it"
        candidates = [baseline] if best.id == baseline.id else [baseline, best]
        planned = [self._plan(one, item_ids) for one in candidates]
        self._running = [one.experiment_id for one in planned]
        await asyncio.gather(*(self._start(one, item_ids) for one in planned))
        trials: dict[str, TrialResult] = {}
        async for trial in self.aggregator.completions(planned):
            await self.materializer.remove(trial.mask_id)
            if trial.status is not ExperimentStatus.COMPLETED:
                return trial.error or trial.status.value
            trials[trial.experiment_id] = trial
        first, last = planned[0].experiment_id, planned[-1].experiment_id
        found = await self.compare(trials[first], trials[last], held_out=True)
        return found if isinstance(found, str) else replace(found, of_items=of_items)

    async def run_again(
        self, candidate: Candidate, item_ids: tuple[str, ...], *, repeats: int
    ) -> Sequence[ItemResult]:
        """Runs of some items, so many each in all; those that there were are not paid for again."""
        planned = StepCandidate(
            candidate=candidate,
            experiment_id=experiment_id(
                candidate.optimization_id, candidate.id, ("again", *item_ids)
            ),
            item_ids=item_ids,
            repeats=repeats,
        )
        self._running = [planned.experiment_id]
        await self._start(planned, item_ids, role="rerun")
        async for trial in self.aggregator.completions([planned]):
            await self.materializer.remove(trial.mask_id)
        return await self.experiments.get_results(planned.experiment_id)

    async def held_out_results(
        self, candidate: Candidate, item_ids: tuple[str, ...]
    ) -> Sequence[ItemResult]:
        """What a candidate answered in its comparison on these items."""
        return await self.experiments.get_results(self._plan(candidate, item_ids).experiment_id)

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

    async def _start(
        self, one: StepCandidate, item_ids: tuple[str, ...], *, role: str = "confirmation"
    ) -> None:
        candidate = one.candidate
        await self.materializer.materialize(candidate)
        await self.adapter.trigger(
            ExperimentRequest(
                optimization_id=candidate.optimization_id,
                candidate_id=candidate.id,
                mask_id=candidate.mask_id,
                evaluation_suite_id=self.suite_id,
                experiment_id=one.experiment_id,
                type=ExperimentType.REGULAR if one.repeats is None else ExperimentType.MINI_BATCH,
                item_ids=item_ids,
                repeats=one.repeats,
                # Side by side, so that what changes with time outside meets both alike.
                runs_with=tuple(other for other in self._running if other != one.experiment_id),
                execution_params={
                    "role": role,
                    "step_index": candidate.step_index,
                    "parent_candidate_ids": list(candidate.parent_candidate_ids),
                    "candidate_config_hash": candidate.configuration.hash,
                },
            )
        )


# The most of a limit that is kept back for all items; where they take more, a part is compared, and
# as much is kept of what the baseline and a trial leave.
LARGEST_SHARE = 0.3
_TRIALS_LEFT = 2
# Test items may take more than those that were measured: so many deviations of their sum more.
_DEVIATIONS = 2.0
# The winner may be a longer prompt than the best so far: so many times its tokens and dollars.
_GROWTH = {"max_tokens": 1.25, "max_cost_usd": 1.25}
_SPENT = ("max_calls", "max_tokens", "max_cost_usd")

# The mean and the variance of what one run takes, by the limit that it counts against.
Measured = Mapping[str, tuple[float, float]]


def kept_back(needed: float, limit: float, trial: float) -> float:
    """How much of a limit is kept back, where all items need so much and one trial takes so much."""
    room = max(limit - _TRIALS_LEFT * trial, 0.0)
    return needed if needed <= min(LARGEST_SHARE * limit, room) else LARGEST_SHARE * room


def drawn_part(item_ids: Sequence[str], many: int, *, seed: int) -> tuple[str, ...]:
    """So many of the items, drawn by the seed, in their order; of fewer items all."""
    if many >= len(item_ids):
        return tuple(item_ids)
    chosen = set(random.Random(f"confirmation:{seed}").sample(sorted(item_ids), many))  # noqa: S311
    return tuple(item for item in item_ids if item in chosen)


class ConfirmationReserve:
    """Keeps back what two candidates on the test items will take, so that the search leaves it.

    Evaluations are known from the start. Calls, tokens, dollars and time are estimated from the
    stored runs of the baseline and of the best so far, so a resumed run keeps back the same.
    """

    def __init__(
        self,
        budget: Budget,
        gate: BudgetGate,
        experiments: ExperimentRepository,
        *,
        items: int,
        trial_items: int,
        repeats: int,
        concurrency: int,
        reruns: int = 0,
    ) -> None:
        """`reruns` are runs that the winner's failing items may take before it is compared."""
        self._reruns = reruns
        self._limits = budget.to_json()
        self._measures = any(name in self._limits for name in (*_SPENT, "max_seconds"))
        self._gate = gate
        self._experiments = experiments
        self._items = items
        self._trial_runs = trial_items * repeats
        self._repeats = repeats
        self._concurrency = concurrency
        self._measured: dict[str, Measured] = {}

    async def keep(self, trial_index: TrialIndex, *, searching: bool = True) -> None:
        """Keep back what is known to be needed by now; after the search, for the comparison alone."""
        measured = await self._measure_both(trial_index) if self._measures else []
        if measured:
            self._gate.expected = {name: max(one[name][0] for one in measured) for name in _SPENT}
        trial = {"max_evaluations": float(self._trial_runs)}
        if measured:
            trial |= {name: self._trial_runs * one for name, (one, _) in measured[0].items()}
            trial["max_seconds"] /= min(self._concurrency, self._trial_runs) or 1
        reruns = self._reruns if searching else 0
        again = {name: reruns * one / max(self._trial_runs, 1) for name, one in trial.items()}
        self._gate.reserved = {
            name: kept_back(amount + again.get(name, 0.0), self._limits[name], trial[name])
            for name, amount in self._needed(measured, self._items, arms=2).items()
            if name in self._limits
        }

    async def fitting(self, trial_index: TrialIndex) -> int:
        """How many of the test items can be compared with what is left of the budget."""
        measured = await self._measure_both(trial_index) if self._measures else []
        best, baseline = trial_index.best(), trial_index.baseline()
        arms = 1 if best is baseline else 2
        left = self._gate.left()

        def fits(items: int) -> bool:
            needed = self._needed(measured, items, arms=arms)
            return all(amount <= left[name] for name, amount in needed.items() if name in left)

        # None of the amounts gets less with more items.
        return bisect.bisect_left(range(1, self._items + 1), x=True, key=lambda one: not fits(one))

    def release(self) -> None:
        """Let the confirmation have it."""
        self._gate.reserved, self._gate.refused = {}, None

    async def _measure_both(self, trial_index: TrialIndex) -> list[Measured]:
        """The baseline and the best so far, once they have a score."""
        baseline, best = trial_index.baseline(), trial_index.best()
        if baseline is None or best is None:
            return []
        return [await self._measure(one.experiment_id) for one in (baseline, best)]

    def _needed(self, measured: list[Measured], items: int, *, arms: int) -> dict[str, float]:
        """What the comparison on so many items takes, as far as is known, by limit."""
        runs = items * self._repeats
        needed = {"max_evaluations": float(arms * runs)}
        for name in (*_SPENT, "max_seconds") if measured and runs else ():
            (baseline, baseline_variance), (best, best_variance) = (one[name] for one in measured)
            both, variance = baseline, baseline_variance
            if arms > 1:
                both += best * _GROWTH.get(name, 1.0)
                variance += best_variance
            needed[name] = runs * both + _DEVIATIONS * math.sqrt(runs * variance)
        if "max_seconds" in needed:
            needed["max_seconds"] /= min(self._concurrency, arms * runs)
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
