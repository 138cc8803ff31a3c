"""Attempt at an optimization: what happens between taking the lease and giving it back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from burnish.domain import (
    Agent,
    Budget,
    Clock,
    ExperimentRepository,
    Item,
    Lease,
    ModelUser,
    OptimizationRepository,
    OptimizationStatus,
    Optimizer,
    OverlayStore,
    Spending,
    StopReason,
    SystemClock,
)
from burnish.evaluation.broken_items import RERUNS, BrokenItems
from burnish.evaluation.runner import RunOptions
from burnish.evaluation.suite import Suite
from burnish.models import as_model
from burnish.models.traffic import Traffic, counting
from burnish.optimization import events
from burnish.optimization.budget_gate import BudgetGate, ModelOpener, OwnModels
from burnish.optimization.checkpoint import Checkpoint, Phase
from burnish.optimization.confirmation import (
    Confirmation,
    ConfirmationReserve,
    Confirmer,
    drawn_part,
)
from burnish.optimization.experiments.aggregator import ResultAggregator
from burnish.optimization.experiments.block_adapter import BlockExperimentAdapter, ExperimentInputs
from burnish.optimization.experiments.local_adapter import LocalExperimentAdapter
from burnish.optimization.experiments.masks import CandidateMaterializer
from burnish.optimization.held_out_looks import fingerprint_of, look_at
from burnish.optimization.optimizer_calls import OptimizerCalls
from burnish.optimization.orchestrator import Components, Orchestrator
from burnish.optimization.outcome import evidence_document, outcome_document
from burnish.optimization.passing_check import AT_ONCE, PassingCheck
from burnish.optimization.racing import Racing
from burnish.optimization.search_plan import SearchPlan
from burnish.optimization.step_planner import StepPlanner
from burnish.optimization.step_runner import StepRunner

T = TypeVar("T")
MakeAdapter = Callable[
    [ExperimentInputs, ExperimentRepository, CandidateMaterializer, BudgetGate, Lease],
    BlockExperimentAdapter,
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """How an optimization is run."""

    budget: Budget = field(default_factory=Budget)
    options: RunOptions = field(default_factory=RunOptions)
    racing: Racing = field(default_factory=Racing)
    optimizer_timeout_seconds: float = 600.0
    # What one evaluation likely takes, by limit, until the baseline has shown it.
    expected: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """Where an optimization is kept."""

    optimizations: OptimizationRepository
    experiments: ExperimentRepository
    overlays: OverlayStore


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInputs:
    """Everything that one optimization runs with."""

    plan: SearchPlan
    settings: RunSettings
    stores: Stores
    agent: Agent
    suite: Suite
    optimizer: Optimizer
    items: Mapping[str, Item]
    dataset_id: str | None = None
    open_model: ModelOpener = as_model
    # Where experiments are run.
    make_adapter: MakeAdapter = LocalExperimentAdapter
    clock: Clock = field(default_factory=SystemClock)


class Attempt:
    """One run of the program over an optimization: from the last checkpoint to the end."""

    def __init__(self, inputs: RunInputs, lease: Lease, checkpoint: Checkpoint) -> None:
        self.traffic = Traffic(run_id=inputs.plan.optimization_id)
        self._inputs = inputs
        self._lease = lease
        plan, stores = inputs.plan, inputs.stores
        self.gate = BudgetGate(
            inputs.settings.budget, inputs.clock, elapsed_seconds=checkpoint.elapsed_seconds
        )
        self.gate.expected = inputs.settings.expected
        self._materializer = CandidateMaterializer(
            stores.overlays, agent_name=inputs.agent.name, baseline=plan.baseline, lease=lease
        )
        self._adapter = self._make_adapter()
        self._reserve = ConfirmationReserve(
            inputs.settings.budget,
            self.gate,
            stores.experiments,
            items=len(plan.splits.get("test", ())),
            trial_items=len(plan.trial_items),
            repeats=plan.repeats,
            concurrency=inputs.settings.options.concurrency,
            reruns=AT_ONCE * RERUNS if plan.keep_passing else 0,
        )
        if isinstance(inputs.optimizer, ModelUser):
            inputs.optimizer.connect(OwnModels(inputs.open_model, self.gate))
        self._calls = OptimizerCalls(
            inputs.optimizer,
            timeout_seconds=inputs.settings.optimizer_timeout_seconds,
            is_asking=lambda: self.gate.is_asking,
        )
        aggregator = ResultAggregator(self._adapter, inputs.clock, note=self._note_error)
        self.orchestrator = Orchestrator(plan, self._make_components(aggregator), lease, checkpoint)
        self._confirmer = Confirmer(
            suite_id=plan.suite_id,
            materializer=self._materializer,
            adapter=self._adapter,
            aggregator=aggregator,
            experiments=stores.experiments,
            repeats=plan.repeats,
        )
        self._passing = PassingCheck(self._confirmer, repeats=plan.repeats)

    def _make_adapter(self) -> BlockExperimentAdapter:
        inputs = self._inputs
        experiment_inputs = ExperimentInputs(
            agent=inputs.agent,
            suite=inputs.suite,
            items=inputs.items,
            dataset_id=inputs.dataset_id,
            options=inputs.settings.options,
            racing=inputs.settings.racing,
            seed=inputs.plan.seed,
        )
        return inputs.make_adapter(
            experiment_inputs, inputs.stores.experiments, self._materializer, self.gate, self._lease
        )

    def _make_components(self, aggregator: ResultAggregator) -> Components:
        """What the orchestrator drives."""
        inputs = self._inputs
        plan, stores = inputs.plan, inputs.stores
        steps = StepRunner(
            suite_id=plan.suite_id,
            trial_items=plan.trial_items,
            repository=stores.optimizations,
            materializer=self._materializer,
            adapter=self._adapter,
            aggregator=aggregator,
            gate=self.gate,
            clock=inputs.clock,
            lease=self._lease,
        )
        return Components(
            repository=stores.optimizations,
            experiments=stores.experiments,
            optimizer=self._calls,
            planner=StepPlanner(plan, self.gate, inputs.stores.experiments),
            steps=steps,
            gate=self.gate,
            reserve=self._reserve,
            items={one: inputs.items[one] for one in plan.search_items},
        )

    async def _note_error(self, experiment_id: str, message: str) -> None:
        await self._inputs.stores.experiments.update_experiment(
            experiment_id, metadata={"trial_error": message}, lease=self._lease
        )

    async def run(self, was: OptimizationStatus) -> None:
        """Search, confirm, finish. Only where its status moves from what it `was` that is told."""
        await self._restore()
        running, token = OptimizationStatus.RUNNING, self._lease.token
        moves = [] if was is running else [events.status_changed(running, attempt=token)]
        if was is OptimizationStatus.INITIALIZED:
            moves.insert(0, events.status_changed(was, attempt=token))
        await self._inputs.stores.optimizations.save_status(self._lease, running, events=moves)
        with counting(self.traffic):
            await self.orchestrator.search()
            if self._inputs.plan.keep_passing:
                await self._in_time(self._turn_down_broken())
            self._reserve.release()
            confirmation = await self._confirm()
            if self._inputs.plan.keep_passing and isinstance(confirmation, Confirmation):
                await self._in_time(self._look_at_held_out(confirmation))
        await self._materializer.sweep(self._inputs.plan.optimization_id)
        await self._finish(confirmation)

    async def ask_to_stop(self) -> None:
        """End whatever runs now, the search or the confirmation, as cancelled."""
        await self.orchestrator.ask_to_stop()
        await self._confirmer.cancel()

    async def close(self) -> None:
        """Stop what runs without ending it, and let threads go."""
        await self._adapter.close()
        self._calls.close()

    async def _restore(self) -> None:
        """Count again what earlier attempts spent; the database knows it exactly."""
        optimization_id = self._inputs.plan.optimization_id
        await self.orchestrator.load()
        experiments = self._inputs.stores.experiments
        self._adapter.seen.update(await experiments.evaluated(optimization_id))
        self.gate.evaluations = len(self._adapter.seen)
        self.gate.spending = await experiments.spending_of(optimization_id)
        self.gate.spend_own(Spending.of(self.orchestrator.checkpoint.own_spending))
        self.gate.counted_own(optimization_id)

    async def _turn_down_broken(self) -> None:
        """Have nothing win that breaks what the baseline passes, once its failing items ran again."""
        orchestrator, index = self.orchestrator, self.orchestrator.trial_index
        evaluations, index.kept = self.gate.evaluations, BrokenItems()
        await self._reserve.keep(index, searching=False)
        best, baseline = index.best(), index.baseline()
        while best is not None and baseline is not None and not orchestrator.stop_asked:
            if best.candidate_id == baseline.candidate_id:
                break
            history = orchestrator.history()
            found = await self._passing.check(
                index.candidates[best.candidate_id],
                await history.load_item_results(baseline.candidate_id),
                await history.load_item_results(best.candidate_id),
            )
            if found.passed:
                index.kept = found
                break
            index.turn_down(best.candidate_id, found)
            best = await orchestrator.choose_again()
        if self.gate.evaluations > evaluations:
            # Not where an earlier attempt did it: its comparison may have begun.
            items = await self._reserve.fitting(index)
            orchestrator.checkpoint = replace(orchestrator.checkpoint, confirmed_items=items)
            await orchestrator.choose_again()

    async def _look_at_held_out(self, confirmation: Confirmation) -> None:
        """What the winner breaks among the held-out items: nothing else is chosen by that."""
        index, part = self.orchestrator.trial_index, self._confirmed_part()
        best, baseline = index.best(), index.baseline()
        if not confirmation.held_out or best is None or baseline is None or best is baseline:
            return
        winner = index.candidates[best.candidate_id]
        first = index.candidates[baseline.candidate_id]
        found = await self._passing.check(
            winner,
            await self._confirmer.held_out_results(first, part),
            await self._confirmer.held_out_results(winner, part),
        )
        kept = index.kept or BrokenItems()
        index.kept = BrokenItems((*kept.changes, *found.changes))

    async def _in_time(self, work: Coroutine[Any, Any, T]) -> T:
        watch = asyncio.create_task(self._end_confirmation_in_time())
        try:
            return await work
        finally:
            watch.cancel()

    async def _confirm(self) -> Confirmation | str | None:
        """The comparison of the winner, or of the last one that was passed over for its sake.

        What takes the place of a winner that is shown worse has to be compared itself.
        """
        index = self.orchestrator.trial_index
        found = await self._compare()
        told = found
        while index.passed_over or _is_refuted(found):
            if isinstance(found, Confirmation) and not _is_refuted(found):
                return found
            best = await self.orchestrator.pass_over_winner()
            if best is None or best is index.baseline():
                break
            fits = await self._reserve.fitting(index) >= len(self._confirmed_part())
            found = await self._compare() if fits else "the budget left no room for it"
            told = found if isinstance(found, Confirmation) else told
        return told

    def _confirmed_part(self) -> tuple[str, ...]:
        """The test items that the budget left room for."""
        test = self._inputs.plan.splits.get("test", ())
        many = self.orchestrator.checkpoint.confirmed_items
        return drawn_part(test, len(test) if many is None else many, seed=self._inputs.plan.seed)

    async def _compare(self) -> Confirmation | str | None:
        orchestrator, plan = self.orchestrator, self._inputs.plan
        best, baseline = orchestrator.trial_index.best(), orchestrator.trial_index.baseline()
        if best is None or baseline is None:
            return None
        if orchestrator.stop_asked or orchestrator.checkpoint.stop_reason is StopReason.CANCELLED:
            return "it was cancelled"
        test = plan.splits.get("test", ())
        if not test:
            return await self._confirmer.compare(baseline, best, held_out=False)
        candidates = orchestrator.trial_index.candidates
        return await self._in_time(
            self._confirmer.run(
                candidates[baseline.candidate_id],
                candidates[best.candidate_id],
                self._confirmed_part(),
                of_items=len(test),
            )
        )

    async def _end_confirmation_in_time(self) -> None:
        left = self.gate.seconds_left()
        if left is not None:
            await self._inputs.clock.sleep(left)
            await self._confirmer.cancel(overdue=True)

    async def _finish(self, confirmation: Confirmation | str | None) -> None:
        if self.orchestrator.stop_asked:
            self.orchestrator.checkpoint = self.orchestrator.checkpoint.stopped(
                StopReason.CANCELLED, "somebody asked to cancel it"
            )
        checkpoint = self.orchestrator.checkpoint
        cancelled = checkpoint.stop_reason is StopReason.CANCELLED
        status = OptimizationStatus.CANCELLED if cancelled else OptimizationStatus.COMPLETED
        document = outcome_document(
            self._inputs.plan.optimization_id,
            status,
            self.orchestrator,
            confirmation=confirmation,
            evaluations=self.gate.evaluations,
            spending=self.gate.spending,
            notes=self._inputs.plan.notes,
            search=await self.orchestrator.report(),
            traffic=self.traffic.to_json(),
            held_out=fingerprint_of(self._inputs.plan.splits.get("test", ())),
        )
        if isinstance(confirmation, Confirmation) and confirmation.held_out:
            look = await look_at(self._inputs.stores.optimizations, document)
            document |= evidence_document(confirmation, look)
        reason = None if checkpoint.stop_reason is None else checkpoint.stop_reason.value
        self.orchestrator.checkpoint = replace(checkpoint, phase=Phase.DONE)
        token = self._lease.token
        await self._inputs.stores.optimizations.save_status(
            self._lease,
            status,
            stop_reason=reason,
            result=document,
            events=[
                events.status_changed(status, attempt=token),
                events.run_finished(status, reason, attempt=token),
            ],
        )


def _is_refuted(found: Confirmation | str | None) -> bool:
    """Whether held-out items show more than chance that a winner is worse than the baseline."""
    return isinstance(found, Confirmation) and found.held_out and found.comparison.ci_high < 0
