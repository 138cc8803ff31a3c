"""Step planner: from proposals to what a step runs, checked, affordable and numbered."""

from __future__ import annotations

from collections.abc import Sequence

from burnish.domain import (
    CandidateProposal,
    ExperimentRepository,
    ReasonCode,
    Rejection,
    StepCandidate,
)
from burnish.optimization.budget_gate import BudgetGate
from burnish.optimization.checkpoint import Pending
from burnish.optimization.search_plan import SearchPlan, plan_step
from burnish.optimization.trial_index import TrialIndex
from burnish.optimization.validator import Accepted, CandidateValidator, Refused


class StepPlanner:
    """Decides which proposals of a step are run."""

    def __init__(
        self, plan: SearchPlan, gate: BudgetGate, experiments: ExperimentRepository
    ) -> None:
        self._plan = plan
        self._gate = gate
        self._experiments = experiments
        self._validator = CandidateValidator(
            baseline=plan.baseline,
            space=plan.space,
            item_ids=plan.search_items,
        )

    async def plan(
        self,
        proposals: Sequence[CandidateProposal],
        trial_index: TrialIndex,
        pending: Sequence[Pending],
        *,
        places: int,
        step: int,
    ) -> tuple[list[StepCandidate], list[Rejection]]:
        """What to run, and what not and why."""
        accepted, refused = await self._validator.validate(
            proposals,
            known_candidates=trial_index.candidates.keys(),
            is_seen=lambda digest, item_ids: trial_index.was_run(digest, item_ids, pending),
            limit=places,
        )
        affordable: list[Accepted] = []
        left = self._gate.evaluations_left()
        running = _running_items(pending, trial_index, self._plan.trial_items)
        for one in accepted:
            items = frozenset(one.item_ids or self._plan.trial_items)
            same = running.setdefault(one.configuration.hash, set())
            if same & items:
                refused.append(_runs_already(one, len(same & items)))
                continue
            cost = len(items) * (one.repeats or self._plan.repeats)
            if left is not None and cost > left:
                cost -= await self._ran_before(one, items, trial_index)
            if left is not None and cost > left:
                refused.append(_too_dear(one, cost, left))
                continue
            left = None if left is None else left - cost
            same |= items
            affordable.append(one)
        planned = plan_step(self._plan.optimization_id, affordable, trial_index.candidates)
        rejections = [_rejection(one, step) for one in sorted(refused, key=lambda one: one.index)]
        return planned, rejections

    async def _ran_before(
        self, one: Accepted, items: frozenset[str], trial_index: TrialIndex
    ) -> int:
        """How many of a proposal's runs its configuration has had, so that they cost nothing."""
        repeats = one.repeats or self._plan.repeats
        ran = {
            (result.item_id, result.repeat)
            for trial in trial_index.trials_of(one.configuration.hash)
            for result in await self._experiments.get_results(trial.experiment_id)
            if result.item_id in items and result.repeat < repeats
        }
        return len(ran)


def ran_out_of_budget(rejections: Sequence[Rejection]) -> bool:
    """Whether a proposal was refused only because it costs too much."""
    return any(one.reason_code == ReasonCode.BUDGET.value for one in rejections)


def _rejection(refused: Refused, step: int) -> Rejection:
    return Rejection(
        step_index=step,
        proposed_index=refused.index,
        reason_code=refused.reason.value,
        message=refused.message,
        configuration_hash=refused.configuration_hash,
    )


def _running_items(
    pending: Sequence[Pending], trial_index: TrialIndex, trial_items: Sequence[str]
) -> dict[str, set[str]]:
    """The items that configurations are running on now."""
    found: dict[str, set[str]] = {}
    for one in pending:
        digest = trial_index.candidates[one.candidate_id].configuration.hash
        found.setdefault(digest, set()).update(one.item_ids or trial_items)
    return found


def _runs_already(one: Accepted, shared: int) -> Refused:
    """Side by side both would pay for the shared items; one after the other, only the first."""
    return Refused(
        index=one.index,
        reason=ReasonCode.DUPLICATE,
        message=f"the same configuration is running on {shared} of its items just now",
        configuration_hash=one.configuration.hash,
    )


def _too_dear(one: Accepted, cost: int, left: int) -> Refused:
    return Refused(
        index=one.index,
        reason=ReasonCode.BUDGET,
        message=f"it needs {cost} evaluations and the budget has {left} left",
        configuration_hash=one.configuration.hash,
    )
