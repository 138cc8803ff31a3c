"""Shard evaluator: a worker's agent and suite, its workload, and the evaluation of one shard."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Protocol

from burnish.domain import (
    Agent,
    BurnishError,
    ConflictError,
    ErrorKind,
    Experiment,
    ExperimentContext,
    ExperimentRepository,
    Item,
    ItemError,
    ItemResult,
    OptimizationRepository,
    OverlayStore,
    experiment_scope,
)
from burnish.evaluation.agents.model_choice import fingerprint_under
from burnish.evaluation.item_runner import describe
from burnish.evaluation.runner import ExperimentRunner, RunOptions
from burnish.evaluation.suite import Suite
from burnish.optimization.experiments.masks import tag_problem
from burnish.runtime.shards.guard import STOPPING, ShardGuard
from burnish.runtime.shards.messages import ShardReply, ShardRequest, ShardStatus, reply_to
from burnish.runtime.shards.suite import only, with_runs_of

log = logging.getLogger(__name__)
Key = tuple[str, str, int]
_LOOK_SECONDS = 1.0
# Every worker meets these alike, so they are the experiment's failure and not the worker's.
_ALONE_FROM, _BLAMED_FROM = 3, 5
_SAME_DATABASE = "give every worker the run's own database, with --db or BURNISH_DB"
_FAILS_THE_EXPERIMENT = ("endpoint_unavailable",)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardBench:
    """An agent, its suite and the dataset's items by id."""

    agent: Agent
    suite: Suite
    items: Mapping[str, Item]


class ShardBenches(Protocol):
    """Where a worker's agents come from. Code is the worker's own and never comes in a request."""

    def use(self, request: ShardRequest) -> AbstractAsyncContextManager[ShardBench]:
        """The bench of a request's optimization, open within the block.

        UsageError or ConflictError when this worker has none.
        """
        ...

    async def close(self) -> None:
        """Free what the agents hold."""
        ...


def require_same(bench: ShardBench, experiment: Experiment, request: ShardRequest) -> None:
    """Refuse where this worker's results could not be compared with the others'."""
    if bench.agent.name != experiment.agent_name:
        raise _differs(
            f"it serves the agent {bench.agent.name!r}, and the run is of {experiment.agent_name!r}"
        )
    suite = bench.suite
    agent = fingerprint_under(suite.asked(bench.agent), experiment.configuration)
    then = {
        "agent's code or model": (request.agent_fingerprint, agent),
        "scorers' code or settings": (request.scorers_fingerprint, suite.scorers.fingerprint),
    }
    for part, (asked, here) in then.items():
        if None not in (asked, here) and asked != here:
            raise _differs(f"its {part} differs from what the run was started with")
    refine = bench.suite.refine
    if request.refine_fingerprint != (refine.fingerprint if refine else None):
        raise _differs("its settings of refinement differ from what the run was started with")
    if experiment.configuration.hash != request.configuration_hash:
        raise _differs("the configuration in its database is not the one that the run evaluates")
    missing = [item for item, _ in request.pairs if item not in bench.items]
    if missing:
        raise _differs(f"its dataset has no item {missing[0]!r}")


def _differs(why: str) -> ConflictError:
    return ConflictError(
        what="a worker refused its work",
        why=why,
        fix="give every worker the same code and settings, and restart it",
        code="worker_differs",
    )


class Claims:
    """Which (experiment, item, repeat) some task of this process evaluates now."""

    def __init__(self) -> None:
        self._held: dict[Key, asyncio.Event] = {}

    @asynccontextmanager
    async def of(self, request: ShardRequest, guard: ShardGuard) -> AsyncIterator[None]:
        """Have all pairs of a request to oneself, as soon as nobody else here is at any of them."""
        keys = [(request.experiment_id, item, repeat) for item, repeat in request.pairs]
        while (
            busy := next((self._held[key] for key in keys if key in self._held), None)
        ) is not None:
            guard.require_going_on()
            try:
                async with asyncio.timeout(_LOOK_SECONDS):
                    await busy.wait()
            except TimeoutError:
                continue
        free = asyncio.Event()
        self._held.update(dict.fromkeys(keys, free))
        try:
            yield
        finally:
            for key in keys:
                self._held.pop(key, None)
            free.set()


class Workload:
    """Counts runs that were taken and have not ended.

    A worker takes the next shard when half of its places are about to be free: early enough that no
    place stays empty while it is fetched, and late enough that other workers get theirs first.
    """

    def __init__(self, places: int) -> None:
        self._enough = places // 2
        self._open = 0
        self.room = asyncio.Event()
        self.room.set()

    def take(self, runs: int) -> None:
        """So many more are in hand."""
        self._open += runs
        self._look()

    def end(self, runs: int) -> None:
        """So many are through, or given up."""
        self._open -= runs
        self._look()

    def _look(self) -> None:
        if self._open <= self._enough:
            self.room.set()
        else:
            self.room.clear()


class ShardEvaluator:
    """Evaluates shards of experiments; safe to call for several shards at once.

    `concurrency` bounds the runs of all shards together. Nothing depends on this machine's clock.
    """

    def __init__(
        self,
        *,
        experiments: ExperimentRepository,
        optimizations: OptimizationRepository,
        overlays: OverlayStore,
        benches: ShardBenches,
        concurrency: int = 16,
        look_seconds: float = 1.0,
    ) -> None:
        self._experiments = experiments
        self._optimizations = optimizations
        self._overlays = overlays
        self._benches = benches
        self._concurrency = concurrency
        self._slots = asyncio.Semaphore(concurrency)
        self._look = look_seconds
        self._claims = Claims()
        self._load = Workload(concurrency)
        self.worker = f"{socket.gethostname()}:{os.getpid()}"

    async def evaluate(
        self,
        request: ShardRequest,
        *,
        stopping: asyncio.Event | None = None,
        deliveries: int = 1,
    ) -> ShardReply:
        """Run what has no result yet, and save each result as it comes.

        A shard that comes for the third time may have an item that ends its worker. From then on one
        runs at a time, once from the start and once from the end: what lies before such an item and
        what lies behind it gets its results. At the fifth delivery the item itself is a failed one.

        When `stopping` is set, nothing new is started and the reply comes once what runs has ended.
        The caller replies and acknowledges, whatever the status says.
        """
        guard = ShardGuard(
            request, self._experiments, self._optimizations, stopping, on_end=self._load.end
        )
        self._load.take(len(request.pairs))
        try:
            if not await guard.is_wanted():
                return self._cancelled(request)
            async with self._claims.of(request, guard):
                number = await self._run(guard, deliveries)
                return reply_to(request, "done", self.worker, results=number)
        except BurnishError as error:
            return self._failed(request, error)
        except asyncio.CancelledError:
            if not guard.unwanted:
                raise  # The worker itself is cancelled.
            return self._cancelled(request)
        except Exception as error:
            log.exception(
                "shard %s of experiment %s failed", request.shard_id, request.experiment_id
            )
            return reply_to(
                request,
                "failed",
                self.worker,
                error_code="internal",
                what="a worker failed",
                why=describe(error),
                fix="this is a bug in burnish: report it; the worker's log has the trace",
            )
        finally:
            self._load.end(guard.open)

    @property
    def room(self) -> asyncio.Event:
        """Set while this worker should take another shard."""
        return self._load.room

    async def close(self) -> None:
        """Free what the agents hold."""
        await self._benches.close()

    async def _run(self, guard: ShardGuard, deliveries: int) -> int:
        request = guard.request
        experiment = guard.experiment
        assert experiment is not None
        async with self._benches.use(request) as bench:
            require_same(bench, experiment, request)
            await self._look_at_tag(request, experiment, bench)
            todo = set(request.pairs) - await self._stored(request)
            if deliveries >= _BLAMED_FROM:
                todo -= await self._blame(
                    request, [one for one in request.pairs if one in todo], bench
                )
            if not todo:
                return 0
            context = ExperimentContext(
                id=experiment.id,
                name=experiment.name,
                overrides_tag=request.overrides_tag,
                parent_tag=request.parent_tag,
                flags=request.flags,
            )
            with experiment_scope(context):
                work = asyncio.ensure_future(
                    self._evaluate(guard, experiment, bench, todo, deliveries)
                )
            watch = asyncio.ensure_future(guard.watch(work, every=self._look))
            try:
                await work
            finally:
                watch.cancel()
                work.cancel()
                with suppress(asyncio.CancelledError, BurnishError):
                    await work
            return len(todo)

    async def _evaluate(
        self,
        guard: ShardGuard,
        experiment: Experiment,
        bench: ShardBench,
        todo: set[tuple[str, int]],
        deliveries: int,
    ) -> None:
        request = guard.request
        pairs = [one for one in request.pairs if one in todo]
        parts = [todo]
        if deliveries >= _ALONE_FROM:
            # Each is saved before the next begins.
            parts = [{one} for one in (pairs[::-1] if deliveries > _ALONE_FROM else pairs)]
        for part in parts:
            await self._evaluate_part(guard, experiment, bench, part)

    async def _evaluate_part(
        self,
        guard: ShardGuard,
        experiment: Experiment,
        bench: ShardBench,
        part: set[tuple[str, int]],
    ) -> None:
        request = guard.request
        runner = ExperimentRunner(self._experiments, request.lease)
        await runner.evaluate(
            experiment,
            bench.agent,
            with_runs_of(bench.suite, part),
            [bench.items[item] for item in dict.fromkeys(item for item, _ in request.pairs)],
            options=RunOptions(
                concurrency=self._concurrency,
                item_timeout_seconds=request.item_timeout_seconds,
                use_cache=request.use_cache,
                slots=self._slots,
                gate=guard,
            ),
            skip=only(part, request.pairs),
        )

    async def _blame(
        self, request: ShardRequest, left: Sequence[tuple[str, int]], bench: ShardBench
    ) -> set[tuple[str, int]]:
        """Failed results for what every worker ended at: the first and the last that are left."""
        blamed = {left[0], left[-1]} if left else set()
        for item, repeat in sorted(blamed):
            log.warning("item %s of experiment %s ends its workers", item, request.experiment_id)
            message = "its worker ended in the middle of it, each time that it was run"
            failed = ItemResult(
                item_id=item,
                item_hash=bench.items[item].hash,
                repeat=repeat,
                score=0.0,
                passed=False,
                output=None,
                error=ItemError(kind=ErrorKind.AGENT, message=message),
            )
            await self._experiments.save_results(
                request.experiment_id, [failed], lease=request.lease
            )
        return blamed

    async def _stored(self, request: ShardRequest) -> set[tuple[str, int]]:
        """Pairs that have their result already: an earlier delivery of the shard came so far."""
        items = list(dict.fromkeys(item for item, _ in request.pairs))
        return {
            (result.item_id, result.repeat)
            for result in await self._experiments.get_results(request.experiment_id, item_ids=items)
            if not (request.retry_errors and result.error is not None and result.error.kind.outside)
        }

    async def _look_at_tag(
        self, request: ShardRequest, experiment: Experiment, bench: ShardBench
    ) -> None:
        """Say when the tag is not what the experiment runs with; the database's word counts."""
        problem = await tag_problem(
            self._overlays,
            request.overrides_tag,
            agent_name=experiment.agent_name,
            baseline=bench.agent.configuration,
            expected=experiment.configuration,
        )
        if problem is not None:
            log.warning(
                "overrides tag %s %s; experiment %s goes on with its stored configuration",
                request.overrides_tag,
                problem,
                request.experiment_id,
            )

    def _cancelled(self, request: ShardRequest) -> ShardReply:
        return reply_to(
            request,
            "cancelled",
            self.worker,
            why="in its database the experiment has ended, or another process runs the optimization",
            fix=_SAME_DATABASE,
        )

    def _failed(self, request: ShardRequest, error: BurnishError) -> ShardReply:
        ends: dict[str, ShardStatus] = {STOPPING: "stopped", "lease_lost": "cancelled"}
        other: ShardStatus = "failed" if error.code in _FAILS_THE_EXPERIMENT else "refused"
        status = ends.get(error.code, other)
        fix = _SAME_DATABASE if error.code == "not_found" else error.fix
        if status == "refused":
            log.warning(
                "refused shard %s: %s: %s (%s)", request.shard_id, error.what, error.why, fix
            )
        return reply_to(
            request,
            status,
            self.worker,
            error_code=error.code,
            what=error.what,
            why=error.why,
            fix=fix,
        )
