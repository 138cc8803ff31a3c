"""Step planner: from proposals to what a step runs, checked, affordable and numbered."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from burnish.domain import (
    Candidate,
    CandidateProposal,
    Configuration,
    ExperimentRepository,
    ReasonCode,
    Rejection,
    StepCandidate,
    UsageError,
    require_json,
)
from burnish.domain.wording import counted
from burnish.optimization.budget_gate import BudgetGate
from burnish.optimization.checkpoint import Pending
from burnish.optimization.search_plan import SearchPlan, plan_step
from burnish.optimization.trial_index import TrialIndex
from burnish.optimization.validator import Accepted, CandidateValidator, Refused

# Characters of a refused configuration: more is not for people to look at.
_MOST_KEPT = 100_000


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
        candidates = {
            **trial_index.candidates,
            **{one.candidate.id: one.candidate for one in planned},
        }
        rejections = [
            _rejection(one, proposals, candidates)
            for one in sorted(refused, key=lambda one: one.index)
        ]
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


def _rejection(
    refused: Refused, proposals: Sequence[CandidateProposal], candidates: Mapping[str, Candidate]
) -> Rejection:
    """What is kept of a refusal. One that is for all past the limit is of no single proposal."""
    past = refused.reason is ReasonCode.TOO_MANY_CANDIDATES
    proposal = {} if past else _kept(proposals[refused.index])
    parents = proposal.get("parent_candidate_ids") or ()
    steps = [candidates[one].step_index for one in parents if one in candidates]
    if refused.reason is ReasonCode.DUPLICATE:
        same = (
            one.id
            for one in candidates.values()
            if one.configuration.hash == refused.configuration_hash
        )
        proposal["duplicate_of"] = next(same, None)
    return Rejection(
        step_index=max(steps, default=0) + 1,
        proposed_index=refused.index,
        reason_code=refused.reason.value,
        message=refused.message,
        configuration_hash=refused.configuration_hash,
        proposal=proposal or None,
    )


def _kept(proposal: CandidateProposal) -> dict[str, Any]:
    """A proposal as JSON, without what is none and what is too long to keep."""
    given: Any = proposal.configuration
    parts = {
        "configuration": given.to_json() if isinstance(given, Configuration) else given,
        "rationale": proposal.rationale,
        "parent_candidate_ids": proposal.parent_candidate_ids,
    }
    kept: dict[str, Any] = {}
    for name, value in parts.items():
        try:
            plain = require_json(value)
            if len(json.dumps(plain)) <= _MOST_KEPT:
                kept[name] = plain
        except (UsageError, RecursionError):
            continue
    return kept


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
        message=f"it needs {counted(cost, 'evaluation')} and the budget has {left} left",
        configuration_hash=one.configuration.hash,
    )
