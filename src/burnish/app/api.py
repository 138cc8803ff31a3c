"""The sync doors of the Python API."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burnish.app.evaluate.baselines import compared_with, read_baseline
from burnish.app.evaluate.evaluations import Evaluation, Selection
from burnish.app.evaluate.records import read_rows
from burnish.app.evaluate.result import EvaluationResult
from burnish.app.optimize.following import OnEvent
from burnish.app.optimize.optimizations import Optimization, run_prepared
from burnish.app.optimize.own_repository import OwnRepository
from burnish.app.optimize.result import OptimizationResult
from burnish.app.optimize.runners import RunnerChoice
from burnish.app.progress_line import watched_evaluation
from burnish.app.references import resolve_optimization
from burnish.app.wiring import Workspace, database_location
from burnish.config.search import SearchSpec, racing_mode
from burnish.config.specs import AgentSpec, SuiteSpec
from burnish.domain import Budget, OptimizationRepository, Optimizer, SearchSpace, UsageError
from burnish.evaluation.progress import Progress
from burnish.optimization.attempt import Attempt, MakeAdapter
from burnish.optimization.experiments.adapter import ExperimentAdapter
from burnish.optimization.experiments.own_adapter import OwnExperimentAdapter
from burnish.optimization.objective import read_objective
from burnish.support.sync_calls import run_sync

if TYPE_CHECKING:
    from burnish.app.compress.compressions import CompressionResult


def evaluate(
    agent: AgentSpec,
    suite: SuiteSpec,
    *,
    split: str | None = None,
    limit: int | None = None,
    name: str | None = None,
    db: str | Path | None = None,
    progress: Progress | bool | None = None,
    on_event: OnEvent | None = None,
    budget: Budget | Mapping[str, Any] | None = None,
    baseline: str | Path | None = None,
    batch: bool = False,
) -> EvaluationResult:
    """Run an agent over a suite and keep every result in the database.

    A `budget` ends it early: what runs already ends, `status` is `cancelled` (`timeout` where its
    time was up), and `warnings` tell how many runs were made.
    `db` is a path or URL; without it the results go to `.burnish/burnish.db` below the current
    folder. Results that are already there for the same agent, configuration and item are reused.
    `progress` shows a line as it goes on: by default in a terminal and a notebook. `on_event` is
    called with a `burnish.Event` as the counts move and at the end: see docs/python.md. `baseline` is
    an experiment (its id, a part of it, its name or `latest`) or a file of `burnish export`:
    `comparison` then tells the difference, and pairwise scorers compare with its outputs. `batch`
    asks models by their vendor's batch endpoint: half the price, and up to a day.
    """
    return run_sync(
        evaluate_async(
            agent,
            suite,
            split=split,
            limit=limit,
            name=name,
            db=db,
            progress=progress,
            on_event=on_event,
            budget=budget,
            baseline=baseline,
            batch=batch,
        )
    )


async def evaluate_async(
    agent: AgentSpec,
    suite: SuiteSpec,
    *,
    split: str | None = None,
    limit: int | None = None,
    name: str | None = None,
    db: str | Path | None = None,
    progress: Progress | bool | None = None,
    on_event: OnEvent | None = None,
    budget: Budget | Mapping[str, Any] | None = None,
    baseline: str | Path | None = None,
    batch: bool = False,
) -> EvaluationResult:
    """`evaluate` for callers that have an event loop of their own."""
    limits = None if budget is None else Budget.of(budget)
    location = database_location(Path.cwd(), None if db is None else str(db))
    async with Workspace.open(location, models={"batch": batch}) as workspace:
        before = None if baseline is None else await read_baseline(workspace.experiments, baseline)
        outputs = None if before is None else before.stored_outputs
        evaluation = Evaluation(workspace, agent, suite, baseline=outputs)
        if before is not None:
            before.require_items(evaluation.suite.dataset.index().lines)
        # Counters of the caller's are shown by the caller.
        counters = progress if isinstance(progress, Progress) else Progress()
        wanted = False if isinstance(progress, Progress) else progress
        title = name or f"{evaluation.agent.name} on {evaluation.suite.name}"
        try:
            async with watched_evaluation(title, counters, wanted, on_event):
                result = await evaluation.run(
                    Selection(split=split, limit=limit), name=name, progress=counters, budget=limits
                )
            if before is not None:
                result = await compared_with(workspace.experiments, result, before)
            return replace(result, read=partial(read_rows, location, result.experiment_id))
        finally:
            await evaluation.close()


def optimize(
    agent: AgentSpec,
    suite: SuiteSpec,
    optimizer: str | Optimizer = "edits",
    budget: Budget | Mapping[str, Any] | None = None,
    seed: int | None = None,
    **options: Any,
) -> OptimizationResult:
    """Search for a better configuration of an agent, and confirm it on held-out items.

    `optimizer` is a name or any Optimizer. Equal seeds search alike; without one the run draws its
    own, and the result says which. `options` are those of `optimize_async`.
    """
    return run_sync(optimize_async(agent, suite, optimizer, budget, seed, **options))


async def optimize_async(
    agent: AgentSpec,
    suite: SuiteSpec,
    optimizer: str | Optimizer = "edits",
    budget: Budget | Mapping[str, Any] | None = None,
    seed: int | None = None,
    *,
    settings: Mapping[str, Any] | None = None,
    racing: str = "off",
    candidates_per_step: int | None = None,
    asynchronous: bool = False,
    keep_passing: bool = False,
    space: SearchSpace | Mapping[str, Any] | None = None,
    objective: Mapping[str, Any] | None = None,
    name: str | None = None,
    db: str | Path | None = None,
    resume: str | None = None,
    watch: Callable[[Attempt], None] | None = None,
    progress: bool | None = None,
    on_event: OnEvent | None = None,
    mailbox: str | None = None,
    runner: str | None = None,
    timeout_seconds: float = 600.0,
    adapter: ExperimentAdapter | None = None,
    repository: OptimizationRepository | None = None,
    batch: bool = False,
) -> OptimizationResult:
    """`optimize` for callers that have an event loop of their own.

    `settings` are the named optimizer's own. `racing` (off, conservative or aggressive) ends trials
    that cannot reasonably win. `space` says which sections and parameters may change. `objective`
    weighs tokens, cost or latency against the score, such as {"tokens": 0.1}, or asks for a front,
    such as {"pareto": ["tokens"], "tolerance": 0.01}. `resume` names an optimization to go on with, by
    its id, a part of it or `latest`, given the same agent, suite, optimizer and objective. `progress`
    shows a line as it goes on, by default in a terminal and a notebook; `on_event` is called with each
    `burnish.Event` of the run (docs/python.md), and `watch` with the attempt as it begins. `mailbox`,
    such as redis://HOST:6379/0, has the evaluations done by the workers there that serve this
    agent: see `burnish.work`.
    `runner` names where they are done instead: mailbox, or what an installed package registers.
    `keep_passing` lets nothing win that breaks an item which the baseline passes.
    `timeout_seconds` is how long a method of the optimizer may take. `adapter` runs the experiments
    in place of Burnish, and `repository` keeps the run in place of its database: see docs/extend.md.
    `batch` asks models by their vendor's batch endpoint: half the price, and up to a day.
    """
    search = SearchSpec(
        optimizer=optimizer,
        settings=settings or {},
        seed=seed,
        racing=racing_mode(racing),
        candidates_per_step=candidates_per_step,
        asynchronous=asynchronous,
        keep_passing=keep_passing,
        timeout_seconds=timeout_seconds,
        space=space if isinstance(space, SearchSpace) else SearchSpace.of(space or {}),
        objective=read_objective(objective),
    )
    location = database_location(Path.cwd(), None if db is None else str(db))
    choice = RunnerChoice(runner=runner, mailbox=mailbox)
    make_adapter = choice.make_adapter(location, Path.cwd())
    if adapter is not None:
        make_adapter = _make_own(adapter, choice)
    async with Workspace.open(location, models={"batch": batch}) as workspace:
        own = None if repository is None else OwnRepository(repository, workspace.optimizations)
        if resume is not None and own is None:
            resume = (await resolve_optimization(workspace.optimizations, resume)).id
        optimization = Optimization(
            workspace,
            agent,
            suite,
            search,
            Budget.of(budget),
            make_adapter=make_adapter,
            repository=own,
        )
        try:
            return await run_prepared(
                optimization,
                name=name,
                resume=resume,
                watch=watch,
                progress=progress,
                on_event=on_event,
            )
        finally:
            if own is not None:
                own.close()


def _make_own(adapter: ExperimentAdapter, choice: RunnerChoice) -> MakeAdapter:
    if choice.name != "local":
        raise UsageError(
            what="the run cannot be started",
            why=f"it is given an adapter and the runner {choice.name!r}, and each runs experiments",
            fix="leave one of them out",
            code="invalid_request",
        )
    return partial(OwnExperimentAdapter, adapter)


def compress(
    agent: AgentSpec,
    suite: SuiteSpec,
    budget: Budget | Mapping[str, Any] | None = None,
    seed: int | None = None,
    **options: Any,
) -> CompressionResult:
    """Make a prompt as short as it can be without failing what it passes.

    `options` are those of `compress_async`.
    """
    from burnish.app.compress.compressions import compress_async  # noqa: PLC0415 - loads optimizers

    return run_sync(compress_async(agent, suite, budget, seed, **options))


def work(agent: AgentSpec, suite: SuiteSpec, *, mailbox: str, **options: Any) -> None:
    """Serve an agent and scorers that are functions to other processes and machines.

    Until SIGTERM or Ctrl-C it evaluates for `optimize(…, mailbox=…)` and `compress(…, mailbox=…)` of
    the same agent and suite, and answers requests: what `burnish worker` does for a burnish.toml.
    `options` are those of `work_async`.
    """
    from burnish.app.worker.worker import work_async  # noqa: PLC0415 - workers alone need it

    run_sync(work_async(agent, suite, mailbox=mailbox, **options))
