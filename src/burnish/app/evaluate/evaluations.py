"""One evaluation from specs to a result: the path that the CLI and the Python API share."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from burnish.app.evaluate.leases import leased_evaluation, until_cancelled, was_cancelled
from burnish.app.evaluate.result import EvaluationResult, result_of
from burnish.app.references import resolve
from burnish.app.suite_fit import check_fit
from burnish.app.wiring import Workspace, build_agent, build_suite
from burnish.config.settings import model_settings, with_batch
from burnish.config.specs import AgentSpec, SuiteSpec
from burnish.domain import (
    Agent,
    Budget,
    Configuration,
    ConflictError,
    Experiment,
    ExperimentStatus,
    ExperimentType,
    Item,
    Lease,
    SystemClock,
    UsageError,
)
from burnish.domain.wording import counted
from burnish.evaluation.batch_waves import items_at_once
from burnish.evaluation.progress import Progress
from burnish.evaluation.runner import ExperimentRunner, RunOptions
from burnish.evaluation.scorers.catalog import needs_baseline
from burnish.evaluation.scorers.judges import pairwise_metadata
from burnish.evaluation.scorers.pairwise import Outputs
from burnish.evaluation.suite import Suite
from burnish.models.traffic import counting
from burnish.support.ids import new_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which items are run. `only` names item ids; `limit` cuts what is left after the rest.

    `failing_of` is the experiment in which those failed.
    """

    split: str | None = None
    limit: int | None = None
    only: frozenset[str] | None = None
    failing_of: str | None = None

    def items(self, suite: Suite) -> Iterator[Item]:
        """The chosen items, streamed."""
        chosen: Iterable[Item] = suite.items(self.split)
        if self.only is not None:
            wanted = self.only
            chosen = (item for item in chosen if item.id in wanted)
        return iter(islice(chosen, self.limit) if self.limit is not None else chosen)

    def count(self, suite: Suite) -> int:
        """How many items that is; only a split or `only` needs a look at the ids."""
        ids: Collection[str] = suite.dataset.index().ids
        if self.split is not None:
            next(suite.items(self.split), None)  # refuses a split that the suite does not have
            splits = suite.splits()
            ids = [one for one in ids if splits.get(one) == self.split]
        if self.only is not None:
            ids = [one for one in ids if one in self.only]
        return len(ids) if self.limit is None else min(len(ids), self.limit)

    def to_json(self) -> dict[str, Any]:
        """What is recorded with the experiment."""
        only = sorted(self.only) if self.only is not None else None
        told = {"split": self.split, "limit": self.limit, "only": only}
        return told if self.failing_of is None else {**told, "failing_of": self.failing_of}


async def keep_batches(workspace: Workspace, experiment_id: str) -> None:
    """Ask models in batches of which the experiment waits for one; before any is open."""
    tables = workspace.models.tables
    for batch in await workspace.batches.open_batches(experiment_id):
        tables = with_batch(tables, batch.model, True)
    workspace.models.use(tables)


class Evaluation:
    """One prepared evaluation: everything is checked, nothing is paid yet.

    `agent_version` is the version of the agent whose configuration this is, if it is one. `baseline`
    is what pairwise scorers compare with that name no column.
    """

    def __init__(
        self,
        workspace: Workspace,
        agent: AgentSpec,
        suite: SuiteSpec,
        *,
        agent_version: int | None = None,
        baseline: Outputs | None = None,
    ) -> None:
        if baseline is None and needs_baseline(suite.scorers):
            raise UsageError(
                what="the pairwise scorer has nothing to compare with",
                why="it names no column, and the evaluation has no baseline",
                fix="give --baseline EXPERIMENT (baseline=… in Python), or the scorer a `reference`",
                code="no_baseline",
            )
        self._workspace = workspace
        self._spec = agent
        self._suite_spec = suite
        self._agent_version = agent_version
        self.suite = build_suite(suite, workspace.model, agent, baseline)
        self.agent: Agent = build_agent(agent, workspace.model, workspace.tool_calls)
        check_fit(self.agent, self.suite)
        self.experiment_id: str | None = None  # once it is known, so that a stopped run can say it
        # How it was run last: what follows counts against the same budget.
        self.options: RunOptions | None = None

    async def run(
        self,
        selection: Selection | None = None,
        *,
        name: str | None = None,
        options: RunOptions | None = None,
        progress: Progress | None = None,
        budget: Budget | None = None,
    ) -> EvaluationResult:
        """Evaluate the agent's configuration as a new experiment, up to the budget's limits."""
        selection = selection or Selection()
        experiment = await self._new_experiment(selection, name, budget)
        options = await self._limited(experiment, options, budget)
        return await self._lease_and_run(experiment, selection, options, progress, skip=())

    async def create(
        self,
        selection: Selection | None = None,
        *,
        name: str | None = None,
        budget: Budget | None = None,
    ) -> str:
        """The id of a new experiment, for `resume` to run wherever that is."""
        return (await self._new_experiment(selection or Selection(), name, budget)).id

    async def resume(
        self,
        experiment_id: str,
        *,
        retry_errors: bool = False,
        options: RunOptions | None = None,
        progress: Progress | None = None,
        lease: Lease | None = None,
        cancelled: asyncio.Event | None = None,
        budget: Budget | None = None,
    ) -> EvaluationResult:
        """Go on with an experiment: run what it lacks, and what ended in an error if asked.

        What was spent on it before counts against the budget, but for its time.
        An executor that holds the lease already gives it, and `cancelled` to end it early.
        """
        experiment = await self._workspace.experiments.get_experiment(experiment_id)
        if experiment.configuration.hash != self.agent.configuration.hash:
            raise ConflictError(
                what=f"experiment {experiment_id} cannot be continued",
                why="the agent's configuration has changed since it was started",
                fix="run `burnish eval` for a new experiment, or undo the change",
                code="configuration_changed",
            )
        self._require_same_refinement(experiment)
        await self._require_same_batches(experiment_id)
        stored = experiment.metadata.get("selection") or {}
        only = stored.get("only")
        selection = Selection(
            split=stored.get("split"),
            limit=stored.get("limit"),
            only=None if only is None else frozenset(only),
        )
        done = {
            (result.item_id, result.repeat)
            async for result in self._workspace.experiments.stream_results(experiment_id)
            if result.error is None or not retry_errors
        }
        options = await self._limited(experiment, options, budget, done)
        if lease is None:
            return await self._lease_and_run(experiment, selection, options, progress, skip=done)
        return await self._run(
            experiment,
            selection,
            options,
            progress,
            skip=done,
            lease=lease,
            cancelled=cancelled or asyncio.Event(),
        )

    def _require_same_refinement(self, experiment: Experiment) -> None:
        """Rounds under other settings would be no sequence."""
        then, now = experiment.metadata.get("refine"), _refine_json(self.suite)
        if then != now:
            raise ConflictError(
                what=f"experiment {experiment.id} cannot be continued",
                why="the settings of its refinement have changed since it was started",
                fix="run `burnish eval` for a new experiment, or undo the change in [suite.refine]",
                code="refinement_changed",
            )

    async def _require_same_batches(self, experiment_id: str) -> None:
        """Single calls would pay again for what a batch holds."""
        for batch in await self._workspace.batches.open_batches(experiment_id):
            if not model_settings(self._workspace.models.tables, batch.model).batch:
                raise ConflictError(
                    what=f"experiment {experiment_id} cannot be continued in single calls",
                    why=f"a batch of {counted(batch.requests, 'request')} to {batch.model} is under "
                    "way, and they would be paid for twice",
                    fix="go on with --batch, or batch = true in [models]",
                    code="batch_under_way",
                )

    async def _limited(
        self,
        experiment: Experiment,
        options: RunOptions | None,
        budget: Budget | None,
        done: Collection[tuple[str, int]] = (),
    ) -> RunOptions:
        """The options, with a gate that closes at the budget's limits."""
        options = options or RunOptions(
            concurrency=self._spec.concurrency,
            item_timeout_seconds=self._spec.timeout_seconds,
            outage_seconds=self._spec.outage_seconds,
        )
        at_once = items_at_once(self.agent, self.suite, options.concurrency)
        options = replace(options, concurrency=at_once)
        if budget is None or budget == Budget():
            return options
        from burnish.app.optimize.run_plan import expected_spending  # noqa: PLC0415
        from burnish.optimization.budget_gate import BudgetGate, EvaluationGate  # noqa: PLC0415

        self._require_limits(budget)
        spent = (await self._workspace.experiments.summarise(experiment.id)).spending
        gate = BudgetGate(budget, SystemClock(), evaluations=len(done), spending=spent)
        if at_once > self._spec.concurrency:
            # A whole wave starts before the cost of any is known.
            gate.expected = expected_spending(self.agent, self.suite, self._workspace.models.tables)
        hash_ = experiment.configuration.hash
        seen = {(hash_, item, repeat) for item, repeat in done}
        return replace(options, gate=EvaluationGate(gate, seen, hash_))

    def _require_limits(self, budget: Budget) -> None:
        """Refuse limits that could not be kept."""
        from burnish.app.optimize.required_prices import require_cost_limit  # noqa: PLC0415

        if budget.max_trials is not None:
            raise UsageError(
                what="the budget's max_trials cannot be used",
                why="an evaluation has no trials",
                fix="limit evaluations, calls, tokens, dollars or seconds",
                code="invalid_budget",
            )
        refine = None if self.suite.refine is None else self.suite.refine.policy.model
        tables = self._workspace.models.tables
        require_cost_limit(budget, self._spec, self._suite_spec, tables, refiner=refine)

    async def only_failing(self, selection: Selection, reference: str) -> Selection:
        """The selection without items that passed in an experiment, or that it did not run."""
        experiment_id = (await resolve(self._workspace.experiments, reference)).id
        results = self._workspace.experiments.stream_results(experiment_id)
        failing = frozenset([result.item_id async for result in results if not result.passed])
        if not failing:
            raise UsageError(
                what="there is nothing to run",
                why=f"no item failed in experiment {experiment_id}",
                fix="run all items (without --filter-failing or `failing_of`)",
                code="nothing_failing",
            )
        return replace(selection, only=failing, failing_of=experiment_id)

    async def close(self) -> None:
        """Free what the agent holds."""
        await self.agent.close()

    async def _lease_and_run(
        self,
        experiment: Experiment,
        selection: Selection,
        options: RunOptions,
        progress: Progress | None,
        *,
        skip: Collection[tuple[str, int]],
    ) -> EvaluationResult:
        """Run it here and now, as its one owner; ConflictError `owned` while somebody else is."""
        self.experiment_id = experiment.id
        async with leased_evaluation(self._workspace, experiment.id) as (lease, cancelled):
            result = await self._run(
                experiment,
                selection,
                options,
                progress,
                skip=skip,
                lease=lease,
                cancelled=cancelled,
            )
        ended = result.experiment
        if ended.status is ExperimentStatus.CANCELLED and ended.limit_reached is None:
            raise was_cancelled(experiment.id)
        return result

    async def _run(
        self,
        experiment: Experiment,
        selection: Selection,
        options: RunOptions,
        progress: Progress | None,
        *,
        skip: Collection[tuple[str, int]],
        lease: Lease,
        cancelled: asyncio.Event,
    ) -> EvaluationResult:
        self.experiment_id, self.options = experiment.id, options
        progress = progress if progress is not None else Progress()
        progress.traffic.run_id = experiment.id
        progress.planned = max((experiment.planned_items or 0) - len(skip), 0)
        run = ExperimentRunner(self._workspace.experiments, lease).run(
            experiment,
            self.agent,
            self.suite,
            selection.items(self.suite),
            options=options,
            progress=progress,
            skip=skip,
        )
        with counting(progress.traffic):
            await until_cancelled(run, cancelled)
        if progress.traffic.retries or progress.traffic.notices:
            told = {"traffic": progress.traffic.to_json()}
            await self._workspace.experiments.update_experiment(experiment.id, metadata=told)
        return await result_of(self._workspace.experiments, experiment.id, self.suite.scorers)

    async def _new_experiment(
        self, selection: Selection, name: str | None, budget: Budget | None = None
    ) -> Experiment:
        if budget is not None:
            self._require_limits(budget)
        index = self.suite.dataset.index()
        count = selection.count(self.suite)
        if count == 0:
            raise UsageError(
                what="there is nothing to run",
                why="no item is left of the split, the limit and what failed before",
                fix="widen the selection",
                code="empty_selection",
            )
        dataset = await self._workspace.datasets.ensure_dataset(
            self.suite.dataset.name, index.fingerprint, self.suite.dataset.items()
        )
        experiment = Experiment(
            id=new_id(),
            name=name or f"{self.agent.name} on {self.suite.name}",
            type=ExperimentType.REGULAR,
            status=ExperimentStatus.PENDING,
            agent_name=self.agent.name,
            configuration=self.agent.configuration,
            suite_name=self.suite.name,
            dataset_id=dataset.id,
            planned_items=count * self.suite.policy.repeats,
            metadata={
                "policy": self.suite.policy.to_json(),
                "selection": selection.to_json(),
                "scorers": list(self.suite.scorers.names),
                "labels": list(self._spec.labels),
                "model": _model_name(self._spec),
                "skipped_judges": list(self.suite.scorers.skipped),
                "refine": _refine_json(self.suite),
                "reported": list(self.suite.scorers.reported),
                **pairwise_metadata(self.suite.scorers),
                "budget": None if budget is None else budget.to_json(),
                "agent_version": self._agent_version,
            },
        )
        await self._workspace.experiments.create_experiment(experiment)
        return experiment


def _model_name(spec: AgentSpec) -> str | None:
    """The model that answers: the one that the configuration names, else the agent's own."""
    if spec.model is None:
        return None
    named = Configuration.of(spec.configuration).model
    return named or (spec.model if isinstance(spec.model, str) else None)


def _refine_json(suite: Suite) -> dict[str, Any] | None:
    return None if suite.refine is None else suite.refine.to_json()
