"""Optimization from specs to a result: the path that the CLI and the Python API share."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from burnish.app.optimize.batch_notes import batch_notes
from burnish.app.optimize.following import OnEvent, telling
from burnish.app.optimize.model_choices import chosen_models, own_model
from burnish.app.optimize.required_prices import require_price
from burnish.app.optimize.result import OptimizationResult
from burnish.app.optimize.run_plan import RunPlan, expected_spending, require_room, split_ids
from burnish.app.optimize.run_spec import AGENT_MODEL, require_objective, with_objective
from burnish.app.optimize.runners import WorkerRunner
from burnish.app.progress_line import choose_display, search_line, showing
from burnish.app.suite_fit import check_fit
from burnish.app.wiring import Workspace, build_agent, build_suite
from burnish.config.schema import Settings
from burnish.config.search import SearchSpec, build_optimizer_of, draw_seed, places_of
from burnish.config.served_project import models_in
from burnish.config.specs import AgentSpec, SuiteSpec, read_schema
from burnish.domain import (
    Agent,
    Budget,
    BurnishError,
    Configuration,
    ConflictError,
    Lease,
    OptimizationRecord,
    OptimizationRepository,
    OptimizationStatus,
    OverlayStore,
    UsageError,
)
from burnish.evaluation.batch_waves import items_at_once, require_single_calls
from burnish.evaluation.runner import RunOptions
from burnish.evaluation.suite import Suite
from burnish.jobs import ownership
from burnish.jobs.lease_renewer import LEASE_SECONDS, LeaseRenewer
from burnish.optimization.attempt import Attempt, MakeAdapter, RunInputs, RunSettings, Stores
from burnish.optimization.experiments.local_adapter import LocalExperimentAdapter
from burnish.optimization.racing import Racing
from burnish.optimization.run import OptimizationDriver
from burnish.optimization.search_plan import SearchPlan
from burnish.support.ids import new_id


def _require_known_models(workspace: Workspace, search: SearchSpec) -> None:
    """Refuse a model of no provider now, and not once it is asked; a key may be where it is run."""
    for _, name in models_in(search.settings):
        try:
            workspace.model(name)
        except UsageError as error:
            if error.code == "unknown_model":
                raise


class Optimization:
    """A prepared optimization: everything is checked, nothing is paid yet."""

    def __init__(
        self,
        workspace: Workspace,
        agent: AgentSpec,
        suite: SuiteSpec,
        search: SearchSpec,
        budget: Budget,
        *,
        lease_seconds: float = LEASE_SECONDS,
        make_adapter: MakeAdapter | None = None,
        overlays: OverlayStore | None = None,
        repository: OptimizationRepository | None = None,
    ) -> None:
        self._workspace = workspace
        self._own_model = own_model(agent, search, workspace.model)
        configuration = Configuration.of(agent.configuration).naming(self._own_model)
        agent = replace(agent, configuration=configuration)
        self.repository = repository or workspace.optimizations
        self._spec = agent
        self._suite_spec = suite
        self._search = search
        self._budget = budget
        self._lease_seconds = lease_seconds
        # Where experiments are run and masks are kept: here and in the database unless said.
        self._make_adapter = make_adapter or LocalExperimentAdapter
        self._overlays = overlays or workspace.overlays
        self.suite = build_suite(suite, workspace.model, agent).for_trials()
        self.agent: Agent = build_agent(agent, workspace.model, workspace.tool_calls)
        check_fit(self.agent, self.suite)
        if isinstance(self._make_adapter, WorkerRunner):
            require_single_calls(self.agent, self.suite)
        self.models = chosen_models(search, self.agent)
        self.optimizer = build_optimizer_of(search)
        _require_known_models(workspace, search)
        self.splits = split_ids(self.suite)

    @classmethod
    def of_settings(
        cls, workspace: Workspace, settings: Settings, *, make_adapter: MakeAdapter | None = None
    ) -> Optimization:
        """The optimization that a config file describes."""
        return cls(
            workspace,
            settings.agent_spec(),
            settings.suite_spec(),
            SearchSpec.of(settings.optimizer),
            settings.budget_spec(),
            make_adapter=make_adapter,
        )

    async def create(
        self,
        *,
        name: str | None = None,
        spec: Mapping[str, Any] | None = None,
        optimization_id: str | None = None,
    ) -> OptimizationRecord:
        """A new optimization; `spec` is what `resume` needs in another process.

        An `optimization_id` of the caller's that is taken already is a ConflictError.
        """
        self.require_affordable()
        dataset, seed = await self._ensure_dataset(), self._search.seed
        record = OptimizationRecord(
            id=optimization_id or new_id(),
            name=name or f"{self._search.name} of {self.agent.name}",
            status=OptimizationStatus.INITIALIZED,
            objective_name=", ".join(self.suite.scorers.names),
            agent_name=self.agent.name,
            suite_name=self.suite.name,
            optimizer_name=self._search.name,
            dataset_id=dataset,
            seed=draw_seed() if seed is None else seed,
            spec=self._kept(spec or {}),
        )
        await self.repository.create_optimization(record)
        return record

    def _kept(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        """What is stored with a run besides what it is."""
        kept = with_objective(spec, self._search.objective)
        return {**kept, AGENT_MODEL: self._own_model} if self.models else kept

    def require_affordable(self) -> None:
        """Refuse a budget that ends before the search begins, and costs that nobody knows."""
        require_room(self.suite, self._budget)
        tables = self._workspace.models.tables
        require_price(self._search, self._budget, self._spec, self._suite_spec, tables)

    def plan(self, settings: Settings) -> RunPlan:
        """What it would run and cost. The settings are those that it was made of."""
        self.require_affordable()
        return RunPlan.of(settings, self.agent, self.suite, self.optimizer)

    async def run(
        self,
        of: str | OptimizationRecord,
        *,
        watch: Callable[[Attempt], None] | None = None,
    ) -> OptimizationResult:
        """Run or resume one to its end, as its one owner; ConflictError `owned` while somebody is.

        A record saves reading it, whether it was read or has just been created.
        """
        repository = self.repository
        record = await repository.get_optimization(of) if isinstance(of, str) else of
        await self._require_unchanged(record)
        if record.status is not OptimizationStatus.COMPLETED:
            await self._lease_and_run(record, watch)
        return await _result_of(self.repository, record.id)

    async def driver(
        self, record: OptimizationRecord, lease: Lease, watch: Callable[[Attempt], None]
    ) -> OptimizationDriver:
        """What runs it for whoever holds the lease, and keeps it; the record was read under that."""
        await self._require_unchanged(record)
        return OptimizationDriver(self._job(record), lease, record, watch=watch)

    async def _require_unchanged(self, record: OptimizationRecord) -> None:
        dataset = await self._ensure_dataset()
        if record.dataset_id is not None and record.dataset_id != dataset:
            raise ConflictError(
                what=f"optimization {record.id} cannot go on",
                why="the dataset has changed since it was started",
                fix="start a new one, or undo the change",
                code="dataset_changed",
            )
        require_objective(record, self._search.objective)
        _require_not_cancelled(record)

    async def _lease_and_run(
        self, record: OptimizationRecord, watch: Callable[[Attempt], None] | None
    ) -> None:
        repository, dead = self.repository, record.lease_owner
        lease = await repository.acquire_lease(
            record.id,
            owner=ownership.new_owner(),
            seconds=self._lease_seconds,
            replacing=dead if dead is not None and ownership.is_dead(dead) else None,
        )
        try:
            # What was read before the lease counts only if nothing was written in between.
            if not record.updated_at or record.updated_at != lease.updated_at:
                record = await repository.get_optimization(record.id)
                _require_not_cancelled(record)
                if record.status is OptimizationStatus.COMPLETED:
                    return
            driver = OptimizationDriver(self._job(record), lease, record, watch=watch)
            async with LeaseRenewer(
                renew=lambda seconds: repository.renew_lease(lease, seconds=seconds),
                cancel_requested=lambda: repository.cancel_requested(record.id),
                on_cancel=driver.ask_to_stop,
                on_renewed=driver.heartbeat,
                seconds=self._lease_seconds,
            ):
                await driver.run()
        finally:
            # A full disk, say, keeps the lease from being given back; the next try must not wait.
            ownership.note_end(lease.owner)
            with contextlib.suppress(BurnishError):
                await asyncio.shield(repository.release_lease(lease))

    async def close(self) -> None:
        """Free what the agent holds."""
        await self.agent.close()

    def _job(self, record: OptimizationRecord) -> RunInputs:
        search, suite = self._search, self.suite
        plan = SearchPlan(
            optimization_id=record.id,
            suite_id=suite.name,
            objective_name=record.objective_name,
            baseline=self.agent.configuration,
            space=search.space,
            splits=self.splits,
            seed=record.seed,
            labels=tuple(self._spec.labels),
            criteria=suite.scorers.criteria,
            output_schema=read_schema(self._spec.output_schema, self._spec.folder),
            answer_fields=suite.scorers.answer_fields,
            max_candidates_per_step=places_of(search, self.optimizer),
            max_trials=self._budget.max_trials,
            asynchronous=search.asynchronous,
            keep_passing=search.keep_passing,
            repeats=suite.policy.repeats,
            objective=search.objective,
            notes=(
                *search.notes,
                *_refine_notes(suite),
                *batch_notes(self.agent, suite, search, len(self.splits["validation"])),
            ),
        )
        workspace = self._workspace
        at_once = items_at_once(self.agent, suite, self._spec.concurrency)
        settings = RunSettings(
            budget=self._budget,
            options=RunOptions(
                concurrency=at_once,
                item_timeout_seconds=self._spec.timeout_seconds,
                outage_seconds=self._spec.outage_seconds,
            ),
            racing=Racing(mode=search.racing_in_effect),
            optimizer_timeout_seconds=search.timeout_seconds,
            # A whole wave starts before the cost of any is known.
            expected=expected_spending(
                self.agent, suite, workspace.models.tables, tuple(self.models)
            )
            if at_once > self._spec.concurrency
            else {},
        )
        return RunInputs(
            plan=plan,
            settings=settings,
            stores=Stores(
                optimizations=self.repository,
                experiments=workspace.experiments,
                overlays=self._overlays,
            ),
            agent=self.agent,
            suite=suite,
            optimizer=self.optimizer,
            items={item.id: item for item in suite.dataset.items()},
            dataset_id=record.dataset_id,
            # A batch of one question takes as long as one of a thousand.
            open_model=workspace.single_model,
            make_adapter=self._make_adapter,
        )

    async def _ensure_dataset(self) -> str:
        index = self.suite.dataset.index()
        record = await self._workspace.datasets.ensure_dataset(
            self.suite.dataset.name, index.fingerprint, self.suite.dataset.items()
        )
        return record.id


def _require_not_cancelled(record: OptimizationRecord) -> None:
    if record.status is OptimizationStatus.CANCELLED:
        raise UsageError(
            what=f"optimization {record.id} cannot go on",
            why="it was cancelled",
            fix="start a new one; results that are there are reused",
            code="cancelled",
        )


def _refine_notes(suite: Suite) -> tuple[str, ...]:
    """Refinement that was asked for and does nothing is said to do nothing."""
    if suite.refine is None or suite.refine.active:
        return ()
    return (f"refinement is inactive: {suite.refine.why_inactive}",)


async def run_prepared(
    optimization: Optimization,
    *,
    name: str | None,
    resume: str | None,
    watch: Callable[[Attempt], None] | None,
    progress: bool | None = None,
    on_event: OnEvent | None = None,
) -> OptimizationResult:
    """Start a prepared optimization, or go on with the one named `resume`, and close it."""
    attempts: list[Attempt] = []

    def begin(attempt: Attempt) -> None:
        attempts.append(attempt)
        if watch is not None:
            watch(attempt)

    try:
        of = resume or await optimization.create(name=name)
        identity, title = (of, of) if isinstance(of, str) else (of.id, of.name)
        async with (
            telling(optimization.repository, identity, on_event),
            showing(
                choose_display(progress), lambda: search_line(title, next(iter(attempts), None))
            ),
        ):
            return await optimization.run(of, watch=begin)
    finally:
        await optimization.close()


async def load_result(workspace: Workspace, optimization_id: str) -> OptimizationResult:
    """The result of a finished optimization."""
    return await _result_of(workspace.optimizations, optimization_id)


async def _result_of(
    repository: OptimizationRepository, optimization_id: str
) -> OptimizationResult:
    record = await repository.get_optimization(optimization_id)
    if record.result is None:
        raise UsageError(
            what=f"optimization {optimization_id} has no result yet",
            why=f"it is {record.status.value}",
            fix=f"run `burnish resume {optimization_id}`",
            code="no_result",
        )
    candidates = await repository.list_candidates(optimization_id)
    return OptimizationResult(
        record=record,
        document=record.result,
        candidates={one.id: one for one in candidates},
        trials=await repository.list_trials(optimization_id),
    )
