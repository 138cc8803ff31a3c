"""What a worker evaluates shards with: agents and scorers from its own folder or program."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from burnish.app.optimize.run_spec import stored_settings
from burnish.app.wiring import ModelPool, Workspace, build_agent, build_suite
from burnish.config.specs import AgentSpec, SuiteSpec
from burnish.domain import DatasetRepository, Item, OverlayStore, UsageError
from burnish.evaluation.batch_waves import require_single_calls
from burnish.runtime.shards.evaluator import ShardBench, ShardBenches, ShardEvaluator
from burnish.runtime.shards.messages import ShardRequest

# Of how many runs a worker keeps agent and dataset ready.
_KEPT = 8


def shard_evaluator(
    workspace: Workspace,
    folder: Path,
    *,
    concurrency: int = 16,
    agent: AgentSpec | None = None,
    suite: SuiteSpec | None = None,
    overlays: OverlayStore | None = None,
) -> ShardEvaluator:
    """An evaluator of shards for the optimizations in the workspace's database.

    Agents and scorers are built from what each optimization was started with and the code in
    `folder`. A program whose agent and scorers are functions gives `agent` and `suite` instead.
    """
    items = _Datasets(workspace.datasets)
    benches: ShardBenches
    if agent is not None and suite is not None:
        benches = _GivenBench(workspace, items, agent, suite)
    else:
        benches = _StoredBenches(workspace, items, folder)
    return ShardEvaluator(
        experiments=workspace.experiments,
        optimizations=workspace.optimizations,
        overlays=overlays or workspace.overlays,
        benches=benches,
        concurrency=concurrency,
    )


class _Datasets:
    """The rows of datasets as the database has them: no worker needs the files."""

    def __init__(self, datasets: DatasetRepository) -> None:
        self._datasets = datasets
        self._kept: dict[str, Mapping[str, Item]] = {}
        self._reading = asyncio.Lock()

    async def items(self, dataset_id: str | None) -> Mapping[str, Item]:
        """A dataset's items by id."""
        if dataset_id is None:
            raise UsageError(
                what="a worker cannot evaluate this run",
                why="the run's dataset is not in the database",
                fix="start the run again",
                code="no_dataset",
            )
        async with self._reading:
            if dataset_id not in self._kept:
                rows = {item.id: item async for item in self._datasets.stream_items(dataset_id)}
                self._kept[dataset_id] = rows
            self._kept[dataset_id] = self._kept.pop(dataset_id)
            while len(self._kept) > _KEPT:
                del self._kept[next(iter(self._kept))]
            return self._kept[dataset_id]


class _GivenBench:
    """One agent and suite, for programs that have them as functions."""

    def __init__(
        self, workspace: Workspace, items: _Datasets, agent: AgentSpec, suite: SuiteSpec
    ) -> None:
        self._items = items
        self._agent = build_agent(agent, workspace.model, workspace.tool_calls)
        self._suite = build_suite(suite, workspace.model, agent).for_trials()
        require_single_calls(self._agent, self._suite)

    @contextlib.asynccontextmanager
    async def use(self, request: ShardRequest) -> AsyncIterator[ShardBench]:
        """Always the same agent."""
        items = await self._items.items(request.dataset_id)
        yield ShardBench(agent=self._agent, suite=self._suite, items=items)

    async def close(self) -> None:
        """Free what the agent holds."""
        await self._agent.close()


@dataclass(slots=True)
class _Kept:
    """A bench with the models it opened, and how many shards use it now."""

    bench: ShardBench
    pool: ModelPool
    users: int = 0


class _StoredBenches:
    """Benches built from what optimizations were started with, and the code of one folder."""

    def __init__(self, workspace: Workspace, items: _Datasets, folder: Path) -> None:
        self._workspace = workspace
        self._items = items
        self._folder = folder.absolute()
        self._kept: dict[str, _Kept] = {}
        self._building = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def use(self, request: ShardRequest) -> AsyncIterator[ShardBench]:
        """The optimization's bench, built at the first use."""
        async with self._building:
            identity = request.optimization_id
            if identity not in self._kept:
                self._kept[identity] = await self._build(request)
            kept = self._kept[identity] = self._kept.pop(identity)
            kept.users += 1
        try:
            yield kept.bench
        finally:
            kept.users -= 1
            await self._forget_some()

    async def close(self) -> None:
        """Free what the agents hold."""
        await self._forget_some(keep=0)

    async def _build(self, request: ShardRequest) -> _Kept:
        record = await self._workspace.optimizations.get_optimization(request.optimization_id)
        if "settings" not in record.spec:
            raise UsageError(
                what="a worker cannot evaluate this run",
                why="it was started from Python, with functions that only its program has",
                fix="serve it with a program that has them: burnish.work(agent, suite, …)",
                code="started_from_python",
            )
        settings = stored_settings(record, self._folder).placed_in(self._folder)
        # Before anything is opened: a refused shard comes again and again.
        items = await self._items.items(request.dataset_id)
        pool = ModelPool(settings.models, lambda: self._workspace.call_cache)
        # Rows come from the database, and the suite's file need not be here.
        agent, spec = settings.agent_spec(), replace(settings.suite_spec(), dataset=())
        bench = ShardBench(
            agent=build_agent(agent, pool.model, self._workspace.tool_calls),
            suite=build_suite(spec, pool.model, agent).for_trials(),
            items=items,
        )
        require_single_calls(bench.agent, bench.suite)
        return _Kept(bench, pool)

    async def _forget_some(self, keep: int = _KEPT) -> None:
        """Close what was not used for longest, but nothing that is in use."""
        while len(self._kept) > keep:
            # Looked for anew each time: while one is closed, another may be taken or forgotten.
            idle = next((one for one, kept in self._kept.items() if not kept.users), None)
            if idle is None:
                return
            kept = self._kept.pop(idle)
            await kept.bench.agent.close()
            await kept.pool.close()
