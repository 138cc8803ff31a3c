"""Orchestrator of an optimization: runs it from baseline to result, one durable step at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from burnish.domain import (
    BudgetReached,
    ExperimentRepository,
    ExperimentStatus,
    Item,
    Json,
    Lease,
    OptimizationRepository,
    OptimizerState,
    Rejection,
    StepCandidate,
    StopReason,
    TrialResult,
)
from burnish.optimization import events
from burnish.optimization.budget_gate import BudgetGate
from burnish.optimization.checkpoint import Checkpoint, Pending, Phase, ProgressPoint
from burnish.optimization.confirmation import ConfirmationReserve
from burnish.optimization.objective import Measures
from burnish.optimization.optimizer_calls import OptimizerCalls
from burnish.optimization.search_plan import SearchPlan, baseline_candidate, experiment_id
from burnish.optimization.step_planner import StepPlanner, ran_out_of_budget
from burnish.optimization.step_runner import BaselineFailed, StepRunner
from burnish.optimization.trial_index import History, TrialIndex
from burnish.optimization.winner_choice import ChoiceCheck

# An optimizer that proposes nothing usable this often in a row has run dry.
_MAX_EMPTY_STEPS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Components:
    """The components that the orchestrator drives; they know nothing of each other."""

    repository: OptimizationRepository
    experiments: ExperimentRepository
    optimizer: OptimizerCalls
    planner: StepPlanner
    steps: StepRunner
    gate: BudgetGate
    reserve: ConfirmationReserve
    items: Mapping[str, Item]


class Orchestrator:
    """Runs the baseline and the search. Every write happens under the lease it was given."""

    def __init__(
        self, plan: SearchPlan, components: Components, lease: Lease, checkpoint: Checkpoint
    ) -> None:
        self._plan = plan
        self._components = components
        self._lease = lease
        self.checkpoint = checkpoint
        self.trial_index = TrialIndex(plan.optimization_id, plan.objective)
        self._choice_check = ChoiceCheck(plan.trial_items, keep_passing=plan.keep_passing)
        self.stop_asked = False

    async def load(self) -> None:
        """Read what an earlier attempt left."""
        repository, identity = self._components.repository, self._plan.optimization_id
        self.trial_index.add_candidates(await repository.list_candidates(identity))
        pending = {one.experiment_id for one in self.checkpoint.pending}
        trials = await repository.list_trials(identity, mini_batches=True)
        self._components.steps.started.update(trial.experiment_id for trial in trials)
        self.trial_index.observe(trial for trial in trials if trial.experiment_id not in pending)
        await self._heed_choice()

    async def search(self) -> None:
        """Go on until somebody has had enough; the checkpoint then says who and why."""
        await self._components.reserve.keep(self.trial_index)
        if self.checkpoint.phase is Phase.BASELINE:
            await self._run_baseline()
        while self.checkpoint.phase is Phase.SEARCH:
            await self._components.reserve.keep(self.trial_index)
            await self._step()

    async def ask_to_stop(self) -> None:
        """End the running experiments and then the search, as cancelled."""
        self.stop_asked = True
        await self._components.steps.cancel(self.checkpoint.pending)

    async def pass_over_winner(self) -> TrialResult | None:
        """Let go a winner that held-out items speak against; the next is the optimizer's choice.

        None where an optimizer leaves that to people: only who confirms regressions itself looks
        for the best that has none.
        """
        best, baseline = self.trial_index.best(), self.trial_index.baseline()
        if best is None or baseline is None or not self._components.optimizer.choice_stands:
            return None
        if best.candidate_id == baseline.candidate_id:
            return None
        self.trial_index.pass_over(best.candidate_id)
        return await self.choose_again()

    async def choose_again(self) -> TrialResult | None:
        """The winner, after one that was is it no more."""
        await self._heed_choice()
        await self._save()
        return self.trial_index.best()

    async def report(self) -> Mapping[str, Json] | None:
        """What the search learnt, by the optimizer's own word."""
        best, state = self.trial_index.best(), self.checkpoint.state
        if best is None or state is None:
            return None
        return await self._components.optimizer.report(state, self.history(), best.candidate_id)

    def counters(self, ended: Sequence[TrialResult] = ()) -> dict[str, int]:
        """What progress shows; `ended` are those of the running step that have."""
        over = {one.experiment_id for one in ended}
        running = [
            ExperimentStatus.RUNNING
            for one in self.checkpoint.pending
            if one.item_ids is None
            and one.experiment_id not in over
            and self.trial_index.candidates[one.candidate_id].number
        ]
        return {
            "proposed": self.checkpoint.proposed,
            **events.tally([*self.trial_index.statuses(ended), *running]),
            "rejected": self.checkpoint.rejected,
            "evaluations": self._components.gate.evaluations,
        }

    async def _run_baseline(self) -> None:
        baseline = baseline_candidate(self._plan.optimization_id, self._plan.baseline)
        if baseline.id not in self.trial_index.candidates:
            planned = experiment_id(self._plan.optimization_id, baseline.id, None)
            first = StepCandidate(candidate=baseline, experiment_id=planned)
            await self._plan_step([first], [], proposed=0)
        if self.checkpoint.pending:
            await self._finish_pending(wait_for_all=True)
        trial = self.trial_index.baseline()
        if trial is None and self.stop_asked:
            self._stop(StopReason.CANCELLED, "somebody asked to cancel it")
            self.checkpoint = replace(self.checkpoint, phase=Phase.CONFIRM)
            return
        if trial is None:
            raise BaselineFailed(next(iter(self.trial_index.trials.values())))
        self._plan.objective.require(Measures.of(trial.summary))
        left = self._components.gate.evaluations_left()
        context = self._plan.context(trial, evaluations_left=left)
        state = await self._components.optimizer.initialize(context)
        self.checkpoint = replace(
            self.checkpoint,
            phase=Phase.SEARCH,
            step=1,
            state=state,
            progress=(self._point(trial),),
        )
        await self._save(new_best=trial)

    # --- one step -----------------------------------------------------------------------------

    async def _step(self) -> None:
        """Fill free places with new candidates, then observe what ended."""
        await self._look_for_reasons_to_stop()
        if self.checkpoint.stop_reason is None and self._free_places():
            await self._propose()
        if self.checkpoint.pending:
            await self._finish_pending(wait_for_all=not self._plan.asynchronous)
        elif self.checkpoint.stop_reason is not None:
            items = await self._components.reserve.fitting(self.trial_index)
            self.checkpoint = replace(self.checkpoint, phase=Phase.CONFIRM, confirmed_items=items)
            await self._save()

    def _free_places(self) -> int:
        pending, places = self.checkpoint.pending, self._plan.max_candidates_per_step
        if self._plan.asynchronous:
            return max(places - len(pending), 0)
        return 0 if pending else places

    async def _look_for_reasons_to_stop(self) -> None:
        if self.checkpoint.stop_reason is not None:
            return
        if self.stop_asked:
            self._stop(StopReason.CANCELLED, "somebody asked to cancel it")
            return
        trials = self.trial_index.trial_count(self.checkpoint.pending)
        limit = self._components.gate.reached(trials=trials) or self._components.gate.refused
        if limit is not None:
            self._stop_at(limit)
        elif not self.checkpoint.pending:
            decision = await self._components.optimizer.should_stop(self._state(), self.history())
            if decision.should_stop:
                self._stop(decision.reason or StopReason.ALGORITHM_SPECIFIC, decision.message)

    async def _propose(self) -> None:
        places = self._free_places()
        if self._plan.max_trials is not None:
            trials = self.trial_index.trial_count(self.checkpoint.pending)
            places = min(places, self._plan.max_trials - trials)
        try:
            proposed = await self._components.optimizer.propose(
                self._state(), self.history(), places
            )
        except BudgetReached as reached:
            # The optimizer's own calls spent the rest; what is pending still ends.
            self._stop_at(reached.limit)
            return
        proposals, learnt = proposed.proposals, proposed.state != self._state()
        self.checkpoint = replace(self.checkpoint, state=proposed.state)
        planned, rejections = await self._components.planner.plan(
            proposals,
            self.trial_index,
            self.checkpoint.pending,
            places=places,
        )
        empty = 0 if planned else self.checkpoint.empty_steps + 1
        self.checkpoint = replace(self.checkpoint, empty_steps=empty)
        await self._plan_step(planned, rejections, proposed=len(proposals))
        if not self.checkpoint.pending:
            await self._move_on(proposals, rejections, learnt=learnt)

    async def _move_on(
        self, proposals: Sequence[object], rejections: Sequence[Rejection], *, learnt: bool
    ) -> None:
        """Nothing came of a step: stop, or let the optimizer know so that it tries otherwise.

        One that learnt something while it found nothing to propose goes on with that.
        """
        if ran_out_of_budget(rejections) or (
            not proposals and not learnt and self._is_nearly_spent()
        ):
            self._stop(StopReason.BUDGET, "what is left of the budget is less than one trial")
        elif not proposals and not learnt and self._is_too_small():
            why = f"a candidate takes up to {2 * self._evaluations_a_trial} evaluations"
            self._stop(StopReason.BUDGET, f"the budget is too small for this optimizer: {why}")
        elif not (proposals or learnt) or (
            proposals and self.checkpoint.empty_steps >= _MAX_EMPTY_STEPS
        ):
            self._stop(StopReason.NO_CANDIDATES, "the optimizer has nothing new to propose")
        else:
            state = await self._components.optimizer.observe(self._state(), [])
            self.checkpoint = replace(self.checkpoint, state=state)
        await self._save()

    async def _plan_step(
        self, planned: Sequence[StepCandidate], rejections: Sequence[Rejection], *, proposed: int
    ) -> None:
        """Make the step durable before anything of it is triggered."""
        best = self.trial_index.best()
        added = tuple(
            Pending(
                candidate_id=one.candidate.id,
                experiment_id=one.experiment_id,
                item_ids=one.item_ids,
                incumbent_experiment_id=None if best is None else best.experiment_id,
                repeats=one.repeats,
            )
            for one in planned
        )
        self.checkpoint = replace(
            self.checkpoint,
            step=self.checkpoint.step + 1,
            pending=self.checkpoint.pending + added,
            proposed=self.checkpoint.proposed + proposed,
            rejected=self.checkpoint.rejected + len(rejections),
            elapsed_seconds=self._components.gate.elapsed_seconds,
            own_spending=self._own_spending(),
        )
        self.trial_index.add_candidates(one.candidate for one in planned)
        await self._components.repository.save_step(
            self._lease,
            candidates=planned,
            rejections=rejections,
            checkpoint=self.checkpoint.to_json(),
            events=[events.progress_changed(self.counters())],
        )

    # --- observing ----------------------------------------------------------------------------

    async def _finish_pending(self, *, wait_for_all: bool) -> None:
        """Run what is pending, and observe all of it or what has ended first."""
        if self.stop_asked:  # While they were made, so nobody ended them.
            await self._components.steps.cancel(self.checkpoint.pending)
        finished = await self._components.steps.run(
            self.checkpoint.pending,
            self.trial_index.candidates,
            wait_for_all=wait_for_all,
            # Nothing was built on the baseline yet, so an outage at the start is made up for.
            retry_errors=self.checkpoint.phase is Phase.BASELINE,
            progress=lambda ended: events.progress_changed(self.counters(ended)),
        )
        before = self.trial_index.best()
        self.trial_index.observe(finished)
        ended = {trial.experiment_id for trial in finished}
        still = tuple(one for one in self.checkpoint.pending if one.experiment_id not in ended)
        self.checkpoint = replace(self.checkpoint, pending=still)
        if self.checkpoint.phase is Phase.BASELINE:
            return
        seen = self.trial_index.as_seen(self.trial_index.in_order(finished))
        state = await self._components.optimizer.observe(self._state(), seen)
        self.checkpoint = replace(self.checkpoint, state=state)
        await self._heed_choice()
        after = self.trial_index.best()
        if after is None or (before is not None and after.experiment_id == before.experiment_id):
            await self._save()
            return
        progress = (*self.checkpoint.progress, self._point(after))
        self.checkpoint = replace(self.checkpoint, progress=progress)
        await self._save(new_best=after)

    async def _heed_choice(self) -> None:
        """Let an optimizer choose the winner itself, where the run's evidence is not against it.

        With an objective a worse score may be the better choice.
        """
        if self.checkpoint.state is None:
            return
        index, history = self.trial_index, self.history()
        await self._choice_check.turn_down_broken(index, history)
        choice = await self._components.optimizer.choice(self.checkpoint.state, history)
        index.choice, index.refusal = choice, None
        rivals, baseline = index.by_score(), index.baseline()
        tried = any(one.candidate_id == choice for one in rivals)
        stands = self._components.optimizer.choice_stands or self._plan.objective.measures
        if choice is None or baseline is None or not tried or stands:
            return
        index.refusal = await self._choice_check.refusal(
            choice, baseline.candidate_id, rivals, history
        )
        if index.refusal is not None:
            index.choice = None

    def _point(self, trial: TrialResult) -> ProgressPoint:
        return ProgressPoint(
            evaluations=self._components.gate.evaluations,
            best_candidate_id=trial.candidate_id,
            best_score=trial.objective_score or 0.0,
        )

    def _state(self) -> OptimizerState:
        assert self.checkpoint.state is not None
        return self.checkpoint.state

    def history(self) -> History:
        """What is known by now."""
        return self.trial_index.history(
            self._components.experiments,
            self._components.items,
            evaluations_left=self._components.gate.evaluations_left(),
        )

    def _is_nearly_spent(self) -> bool:
        left = self._components.gate.evaluations_left()
        return left is not None and left < self._evaluations_a_trial

    def _is_too_small(self) -> bool:
        """Whether nothing was proposed because a look at a candidate and its trial do not fit."""
        left = self._components.gate.evaluations_left()
        tried = len(self.trial_index.candidates) > 1
        return not tried and left is not None and left < 2 * self._evaluations_a_trial

    @property
    def _evaluations_a_trial(self) -> int:
        return len(self._plan.trial_items) * self._plan.repeats

    def _own_spending(self) -> dict[str, Any]:
        return self._components.gate.counted_own(self._plan.optimization_id)

    def _stop_at(self, limit: str) -> None:
        reason = StopReason.TIMEOUT if limit == "max_seconds" else StopReason.BUDGET
        self._stop(reason, f"the budget's {limit} is reached")

    def _stop(self, reason: StopReason, message: str | None) -> None:
        self.checkpoint = self.checkpoint.stopped(reason, message)

    async def _save(self, *, new_best: TrialResult | None = None) -> None:
        self.checkpoint = replace(
            self.checkpoint,
            elapsed_seconds=self._components.gate.elapsed_seconds,
            own_spending=self._own_spending(),
        )
        best, baseline = self.trial_index.best(), self.trial_index.baseline()
        told = [events.progress_changed(self.counters())]
        if new_best is not None:
            times = [point.best_candidate_id for point in self.checkpoint.progress].count(
                new_best.candidate_id
            )
            score = new_best.objective_score or 0.0
            told.append(events.best_changed(new_best.candidate_id, score, times=times))
        await self._components.repository.save_checkpoint(
            self._lease,
            self.checkpoint.to_json(),
            best_candidate_id=None if best is None else best.candidate_id,
            best_score=None if best is None else best.objective_score,
            baseline_score=None if baseline is None else baseline.objective_score,
            events=told,
        )
