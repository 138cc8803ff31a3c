"""The active controller: runs an optimization from baseline to result, one durable step at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from burnish.domain import (
    Candidate,
    CandidateProposal,
    Configuration,
    ExperimentRepository,
    ExperimentStatus,
    ExperimentType,
    Item,
    Lease,
    OptimizationRepository,
    ReasonCode,
    Rejection,
    RunContext,
    SearchSpace,
    StepCandidate,
    StopReason,
    TrialResult,
    UnavailableError,
)
from burnish.optimization import events
from burnish.optimization.budget_gate import BudgetGate
from burnish.optimization.checkpoint import (
    Checkpoint,
    Pending,
    Phase,
    ProgressPoint,
)
from burnish.optimization.history import History
from burnish.optimization.optimizer_calls import OptimizerCalls
from burnish.optimization.plan import baseline_candidate, experiment_id, plan_step
from burnish.optimization.standing import best_trial
from burnish.optimization.step_runner import StepRunner
from burnish.optimization.validator import Accepted, CandidateValidator, Refused

# An optimizer that proposes nothing usable this often in a row has run dry.
_MAX_EMPTY_STEPS = 3
_SCORED = (ExperimentStatus.COMPLETED, ExperimentStatus.PRUNED)


class BaselineFailed(UnavailableError):  # noqa: N818 - names what happened to the run
    """The baseline could not be scored, so there is nothing to improve on."""

    default_code = "baseline_failed"

    def __init__(self, trial: TrialResult) -> None:
        super().__init__(
            what="the optimization failed",
            why=f"its baseline ended as {trial.status.value}: {trial.error or 'no score'}",
            fix="run `burnish eval` until the baseline works, then `burnish resume`",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPlan:
    """What is fixed for one optimization."""

    optimization_id: str
    suite_id: str
    objective_name: str
    baseline: Configuration
    space: SearchSpace
    splits: Mapping[str, tuple[str, ...]]
    seed: int
    labels: tuple[str, ...] = ()
    max_candidates_per_step: int = 4
    max_trials: int | None = None
    asynchronous: bool = False
    repeats: int = 1

    @property
    def trial_items(self) -> tuple[str, ...]:
        """The items that a trial runs on."""
        return self.splits["validation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The components that the orchestrator drives; they know nothing of each other."""

    repository: OptimizationRepository
    experiments: ExperimentRepository
    optimizer: OptimizerCalls
    validator: CandidateValidator
    steps: StepRunner
    gate: BudgetGate
    items: Mapping[str, Item]


class Orchestrator:
    """Runs the baseline and the search. Every write happens under the lease it was given."""

    def __init__(
        self, plan: SearchPlan, parts: Parts, lease: Lease, checkpoint: Checkpoint
    ) -> None:
        self._plan = plan
        self._parts = parts
        self._lease = lease
        self.checkpoint = checkpoint
        self.candidates: dict[str, Candidate] = {}
        self.trials: dict[str, TrialResult] = {}
        self._by_hash: dict[str, Candidate] = {}
        self._stop_asked = asyncio.Event()

    async def load(self) -> None:
        """Read what an earlier sitting left."""
        repository = self._parts.repository
        self._add_candidates(await repository.list_candidates(self._plan.optimization_id))
        pending = {one.experiment_id for one in self.checkpoint.pending}
        for trial in await repository.list_trials(self._plan.optimization_id, mini_batches=True):
            self._parts.steps.started.add(trial.experiment_id)
            if trial.experiment_id not in pending:
                self.trials[trial.experiment_id] = trial

    async def search(self) -> None:
        """Go on until somebody has had enough; the checkpoint then says who and why."""
        if self.checkpoint.phase is Phase.BASELINE:
            await self._run_baseline()
        while self.checkpoint.phase is Phase.SEARCH:
            await self._step()

    async def ask_to_stop(self) -> None:
        """End the running experiments and then the search, as cancelled."""
        self._stop_asked.set()
        await self._parts.steps.cancel(self.checkpoint.pending)

    def best(self) -> TrialResult | None:
        """The best trial so far."""
        return best_trial(list(self.trials.values()), self.candidates)

    def counters(self) -> dict[str, int]:
        """What progress shows."""
        results = self.trials.values()
        done = [t for t in results if t.type is ExperimentType.TRIAL]
        failed = sum(1 for t in done if t.status not in _SCORED)
        return {
            "proposed": self.checkpoint.proposed,
            "running": len(self.checkpoint.pending),
            "completed": len(done) - failed,
            "failed": failed,
            "rejected": self.checkpoint.rejected,
            "evaluations": self._parts.gate.evaluations,
        }

    # --- the baseline -------------------------------------------------------------------------

    async def _run_baseline(self) -> None:
        baseline = baseline_candidate(self._plan.optimization_id, self._plan.baseline)
        if not self.checkpoint.pending and baseline.id not in self.candidates:
            planned = experiment_id(self._plan.optimization_id, baseline.id, None)
            first = StepCandidate(candidate=baseline, experiment_id=planned)
            await self._plan_and_save([first], [], proposed=0)
        if self.checkpoint.pending:
            await self._finish_pending(wait_for_all=True)
        trial = self.best()
        if trial is None:
            result = next(iter(self.trials.values()))
            raise BaselineFailed(result)
        state = await self._parts.optimizer.initialize(self._context(trial))
        score = trial.objective_score or 0.0
        point = ProgressPoint(
            evaluations=self._parts.gate.evaluations,
            best_candidate_id=baseline.id,
            best_score=score,
        )
        self.checkpoint = replace(
            self.checkpoint, phase=Phase.SEARCH, step=1, state=state, progress=(point,)
        )
        await self._save(new_best=trial)

    def _context(self, baseline: TrialResult) -> RunContext:
        plan = self._plan
        return RunContext(
            optimization_id=plan.optimization_id,
            evaluation_suite_id=plan.suite_id,
            objective_name=plan.objective_name,
            baseline_candidate_id=baseline.candidate_id,
            baseline_score=baseline.objective_score or 0.0,
            max_candidates_per_step=plan.max_candidates_per_step,
            baseline=plan.baseline,
            space=plan.space,
            splits=plan.splits,
            seed=plan.seed,
            labels=plan.labels,
            placeholders=plan.baseline.placeholders,
        )

    # --- one step -----------------------------------------------------------------------------

    async def _step(self) -> None:
        """Fill free places with new candidates, then observe what ended."""
        await self._look_for_reasons_to_stop()
        if self.checkpoint.stop_reason is None and self._free_places():
            await self._propose()
        if self.checkpoint.pending:
            await self._finish_pending(wait_for_all=not self._plan.asynchronous)
        elif self.checkpoint.stop_reason is not None:
            await self._end_search()

    def _free_places(self) -> int:
        if self._plan.asynchronous:
            return max(self._plan.max_candidates_per_step - len(self.checkpoint.pending), 0)
        return 0 if self.checkpoint.pending else self._plan.max_candidates_per_step

    async def _look_for_reasons_to_stop(self) -> None:
        if self.checkpoint.stop_reason is not None:
            return
        if self._stop_asked.is_set():
            self._stop(StopReason.CANCELLED, "somebody asked to cancel it")
            return
        limit = self._parts.gate.reached(trials=self._trial_count())
        if limit is not None:
            reason = StopReason.TIMEOUT if limit == "max_seconds" else StopReason.BUDGET
            self._stop(reason, f"the budget's {limit} is reached")
            return
        if not self.checkpoint.pending:
            state = self.checkpoint.state
            assert state is not None
            decision = await self._parts.optimizer.should_stop(state, self._history())
            if decision.should_stop:
                self._stop(decision.reason or StopReason.ALGORITHM_SPECIFIC, decision.message)

    async def _propose(self) -> None:
        state = self.checkpoint.state
        assert state is not None
        places = self._free_places()
        if self._plan.max_trials is not None:
            places = min(places, self._plan.max_trials - self._trial_count())
        proposals = await self._parts.optimizer.propose(state, self._history(), places)
        planned, refused = self._admit(proposals, places)
        rejections = [_rejection(one, self.checkpoint.step) for one in refused]
        empty = 0 if planned else self.checkpoint.empty_steps + 1
        self.checkpoint = replace(self.checkpoint, empty_steps=empty)
        await self._plan_and_save(planned, rejections, proposed=len(proposals))
        if planned or self.checkpoint.pending:
            return
        if any(one.reason.value == "budget" for one in refused):
            self._stop(StopReason.BUDGET, "what is left of the budget is less than one trial")
        elif not proposals or empty >= _MAX_EMPTY_STEPS:
            self._stop(StopReason.NO_CANDIDATES, "the optimizer has nothing new to propose")
        else:
            # Let the optimizer know that nothing came of it, so that it moves on.
            state = await self._parts.optimizer.observe(state, [])
            self.checkpoint = replace(self.checkpoint, state=state)
        await self._save()

    def _admit(
        self, proposals: Sequence[CandidateProposal], places: int
    ) -> tuple[list[StepCandidate], list[Refused]]:
        accepted, refused = self._parts.validator.validate(
            proposals,
            known_candidates=self.candidates.keys(),
            is_seen=self._is_seen,
            limit=places,
        )
        affordable: list[Accepted] = []
        left = self._parts.gate.evaluations_left()
        for one in accepted:
            cost = len(one.item_ids or self._plan.trial_items) * self._plan.repeats
            if left is not None and cost > left:
                refused.append(_too_dear(one, cost, left))
                continue
            left = None if left is None else left - cost
            affordable.append(one)
        refused.sort(key=lambda one: one.index)
        return plan_step(self._plan.optimization_id, affordable, self.candidates), refused

    def _is_seen(self, configuration_hash: str, item_ids: tuple[str, ...] | None) -> bool:
        candidate = self._by_hash.get(configuration_hash)
        if candidate is None:
            return False
        planned = experiment_id(self._plan.optimization_id, candidate.id, item_ids)
        return planned in self.trials or any(
            one.experiment_id == planned for one in self.checkpoint.pending
        )

    async def _plan_and_save(
        self, planned: Sequence[StepCandidate], rejections: Sequence[Rejection], *, proposed: int
    ) -> None:
        """Make the step durable before anything of it is triggered."""
        best = self.best()
        incumbent = best.experiment_id if best is not None else None
        added = tuple(
            Pending(
                candidate_id=one.candidate.id,
                experiment_id=one.experiment_id,
                item_ids=one.item_ids,
                incumbent_experiment_id=incumbent,
            )
            for one in planned
        )
        self.checkpoint = replace(
            self.checkpoint,
            step=self.checkpoint.step + 1,
            pending=self.checkpoint.pending + added,
            proposed=self.checkpoint.proposed + proposed,
            rejected=self.checkpoint.rejected + len(rejections),
            elapsed_seconds=self._parts.gate.elapsed_seconds,
        )
        self._add_candidates(one.candidate for one in planned)
        await self._parts.repository.save_step(
            self._lease,
            candidates=planned,
            rejections=rejections,
            checkpoint=self.checkpoint.to_json(),
            events=[events.progress_changed(self.counters())],
        )

    # --- observing ----------------------------------------------------------------------------

    async def _finish_pending(self, *, wait_for_all: bool) -> None:
        """Run what is pending, and observe all of it or what has ended first."""
        finished = await self._parts.steps.run(
            self.checkpoint.pending, self.candidates, wait_for_all=wait_for_all
        )
        await self._observe(finished, {trial.experiment_id for trial in finished})

    async def _observe(self, finished: Sequence[TrialResult], ended: set[str]) -> None:
        before = self.best()
        # In the order of candidates, not of the clock: a resumed run must observe alike.
        ordered = sorted(
            finished, key=lambda one: (self.candidates[one.candidate_id].number, one.experiment_id)
        )
        self.trials.update({trial.experiment_id: trial for trial in ordered})
        still = tuple(p for p in self.checkpoint.pending if p.experiment_id not in ended)
        self.checkpoint = replace(self.checkpoint, pending=still)
        if self.checkpoint.phase is Phase.BASELINE:
            return
        state = self.checkpoint.state
        assert state is not None
        state = await self._parts.optimizer.observe(state, ordered)
        self.checkpoint = replace(self.checkpoint, state=state)
        after = self.best()
        improved = after is not None and (
            before is None or after.experiment_id != before.experiment_id
        )
        if improved and after is not None:
            point = ProgressPoint(
                evaluations=self._parts.gate.evaluations,
                best_candidate_id=after.candidate_id,
                best_score=after.objective_score or 0.0,
            )
            self.checkpoint = replace(self.checkpoint, progress=(*self.checkpoint.progress, point))
        await self._save(new_best=after if improved else None)

    # --- small things -------------------------------------------------------------------------

    async def _end_search(self) -> None:
        self.checkpoint = replace(self.checkpoint, phase=Phase.CONFIRM)
        await self._save()

    def _stop(self, reason: StopReason, message: str | None) -> None:
        self.checkpoint = self.checkpoint.stopped(reason, message)

    async def _save(self, *, new_best: TrialResult | None = None) -> None:
        self.checkpoint = replace(self.checkpoint, elapsed_seconds=self._parts.gate.elapsed_seconds)
        best = self.best()
        baseline = next(
            (t for t in self.trials.values() if t.counts and self._is_baseline(t)), None
        )
        told = [events.progress_changed(self.counters())]
        if new_best is not None:
            told.append(events.best_changed(new_best.candidate_id, new_best.objective_score or 0.0))
        await self._parts.repository.save_checkpoint(
            self._lease,
            self.checkpoint.to_json(),
            best_candidate_id=None if best is None else best.candidate_id,
            best_score=None if best is None else best.objective_score,
            baseline_score=None if baseline is None else baseline.objective_score,
            events=told,
        )

    def _is_baseline(self, trial: TrialResult) -> bool:
        return self.candidates[trial.candidate_id].number == 0

    def _trial_count(self) -> int:
        """Trials that ran or are running; neither the baseline nor mini-batches are trials."""
        running = sum(1 for one in self.checkpoint.pending if one.item_ids is None)
        ended = sum(
            1
            for trial in self.trials.values()
            if trial.type is ExperimentType.TRIAL and not self._is_baseline(trial)
        )
        return running + ended

    def _history(self) -> History:
        order = sorted(
            self.trials.values(),
            key=lambda one: (self.candidates[one.candidate_id].number, one.experiment_id),
        )
        return History(
            experiments=self._parts.experiments,
            items=self._parts.items,
            candidates=self.candidates,
            results=order,
        )

    def _add_candidates(self, candidates: Iterable[Candidate]) -> None:
        for one in candidates:
            self.candidates.setdefault(one.id, one)
            self._by_hash.setdefault(one.configuration.hash, one)


def _rejection(refused: Refused, step: int) -> Rejection:
    return Rejection(
        step_index=step,
        proposed_index=refused.index,
        reason_code=refused.reason.value,
        message=refused.message,
        configuration_hash=refused.configuration_hash,
    )


def _too_dear(one: Accepted, cost: int, left: int) -> Refused:
    return Refused(
        index=one.index,
        reason=ReasonCode.BUDGET,
        message=f"it needs {cost} evaluations and the budget has {left} left",
        configuration_hash=one.configuration.hash,
    )
