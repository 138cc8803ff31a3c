"""Worker: the loops that were asked for, on one database, one mailbox server and one store."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from burnish.app.compress.requested import Project, RequestedCompressions
from burnish.app.evaluate.queued import EvaluationExecutor
from burnish.app.optimize.executor import RunExecutor
from burnish.app.optimize.runners import MailboxRunner, check_mailbox, place_of, require_answer
from burnish.app.wiring import (
    Workspace,
    build_agent,
    build_suite,
    database_location,
    overrides_location,
)
from burnish.app.worker.shard_worker import shard_evaluator
from burnish.config.served_project import ServedProject
from burnish.config.settings import CONFIG_NAME
from burnish.config.specs import AgentSpec, SuiteSpec
from burnish.domain import UsageError
from burnish.overrides import PromptOverridesStore, open_overrides
from burnish.runtime.loops import (
    EVAL_REQUESTS,
    MAIN_REQUESTS,
    MAX_OPTIMIZE_DELIVERIES,
    OPTIMIZE_REQUESTS,
    EvalLoop,
    GroupSettings,
    LoopGroup,
    MainLoop,
    OptimizeLoop,
    WorkerLoop,
)
from burnish.runtime.loops.mailbox_loop import BEAT_SECONDS
from burnish.runtime.loops.worker_loop import LoopState
from burnish.runtime.mailboxes import RedisMailbox
from burnish.runtime.mailboxes.rules import MAX_DELIVERIES
from burnish.runtime.shards.loop import ShardLoop
from burnish.runtime.shards.messages import SHARD_REQUESTS
from burnish.support.redis_client import open_client


def shown(location: str) -> str:
    """The location for people, without user and password."""
    return place_of(location) if "://" in location else location


class RunLoop(WorkerLoop):
    """Takes runs that servers have queued in the database; what it cannot end it gives back.

    Evaluations that servers have queued are run beside them.
    """

    def __init__(self, executor: RunExecutor, evaluations: EvaluationExecutor) -> None:
        super().__init__(name="runs", requests=None)
        self._executor = executor
        self._evaluations = evaluations

    async def run(
        self,
        *,
        max_iterations: int | None = None,
        visibility_timeout: float = 300,
        wait_time_seconds: float = 20,
    ) -> None:
        """Run until `shutdown`; the numbers are those of mailboxes, and say nothing here."""
        del max_iterations, visibility_timeout, wait_time_seconds
        self._state = LoopState.RUNNING
        try:
            async with self._executor, self._evaluations:
                while not self._stopping.is_set():
                    self._beat()
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(BEAT_SECONDS):
                            await self._stopping.wait()
        finally:
            self._state = LoopState.STOPPED
            self._stopped.set()

    async def shutdown(self, *, timeout: float = 30.0) -> bool:
        """Give back what runs: it is saved, and whoever takes it goes on from there."""
        self._stopping.set()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                await self._stopped.wait()
        return self._stopped.is_set()

    def status(self) -> dict[str, Any]:
        """What people and probes want to know."""
        return {**super().status(), "in_work": self._executor.active}


LOOPS = ("main", "eval", "optimize")
# Served only where it is asked for: runs that `burnish serve` has queued in the database.
RUNS = "runs"
# What is held is renewed long before; a worker that dies loses its messages after so long.
VISIBILITY_SECONDS = 30.0
# A worker waits for its server by itself, and says meanwhile that it is not ready.
_PATIENCE_SECONDS = 5.0


@dataclass(frozen=True, kw_only=True)
class WorkerPlan:
    """What a worker serves and where. Addresses may hold passwords and are never shown whole."""

    project: Project
    folder: Path
    mailbox: str
    database: str
    loops: Sequence[str] = LOOPS
    overrides: str | None = None
    concurrency: int | None = None
    # Optimization requests at once; each has evaluations of its own under way.
    optimizations: int = 1
    models: Mapping[str, Any] = field(default_factory=dict)
    group: GroupSettings = field(
        default_factory=lambda: GroupSettings(visibility_timeout=VISIBILITY_SECONDS)
    )

    def __post_init__(self) -> None:
        unknown = [name for name in self.loops if name not in (*LOOPS, RUNS)]
        if unknown or not self.loops:
            raise UsageError(
                what=f"there is no loop {unknown[0]!r}" if unknown else "no loop is named",
                why=f"loops are {', '.join((*LOOPS, RUNS))}",
                fix=f"name some of them, such as --loops {','.join(LOOPS)}",
                code="unknown_loop",
            )
        check_mailbox(self.mailbox)

    @property
    def places(self) -> int:
        """How many requests a loop works on at once."""
        return self.concurrency or self.project.agent.concurrency


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerNews:
    """What a started worker listens on, for people."""

    mailbox: str
    mailboxes: tuple[str, ...]
    overrides: str
    health: str | None = None


async def work_async(
    agent: AgentSpec,
    suite: SuiteSpec,
    *,
    mailbox: str,
    loops: Sequence[str] = LOOPS,
    db: str | Path | None = None,
    overrides: str | None = None,
    concurrency: int | None = None,
    optimizations: int = 1,
    grace_seconds: float = 30.0,
    health_port: int | None = None,
    on_start: Callable[[WorkerNews], None] | None = None,
    compression: Mapping[str, Any] | None = None,
) -> None:
    """`burnish.work` for callers that have an event loop of their own.

    `loops` are some of main, eval and optimize. `db` is the database of the runs, `overrides` where
    tags are: a folder, redis://… or s3://…. `concurrency` is how many agent runs go on at once, and
    `optimizations` how many optimization requests. After the first signal what runs may end within
    `grace_seconds`. `on_start` hears what it listens on, the health port included. `compression` are
    settings of the compress optimizer for requests that have none of their own, such as
    `strategies` or `model`.
    """
    plan = WorkerPlan(
        project=Project(agent=agent, suite=suite, compression=compression or {}),
        folder=agent.folder,
        mailbox=mailbox,
        database=database_location(Path.cwd(), None if db is None else str(db)),
        loops=loops,
        overrides=overrides,
        concurrency=concurrency,
        optimizations=optimizations,
        group=GroupSettings(
            grace_seconds=grace_seconds,
            health_port=health_port,
            visibility_timeout=VISIBILITY_SECONDS,
        ),
    )
    await work(plan, on_start=on_start or (lambda _: None))


async def work(plan: WorkerPlan, *, on_start: Callable[[WorkerNews], None]) -> None:
    """Serve until a signal, or until a loop fails."""
    await require_answer(plan.mailbox)
    async with AsyncExitStack() as stack:
        workspace = await stack.enter_async_context(
            Workspace.open(plan.database, models=plan.models)
        )
        location = overrides_location(plan.folder, plan.overrides)
        store = open_overrides(location)
        stack.push_async_callback(store.close)
        loops = _Loops(plan, workspace, store, stack).all()
        news = WorkerNews(
            mailbox=place_of(plan.mailbox),
            mailboxes=tuple(loop.requests.name for loop in loops if loop.requests is not None),
            overrides=shown(location),
        )
        group = LoopGroup(
            loops,
            settings=plan.group,
            probes={"database": lambda: workspace.optimizations.list_optimizations(limit=1)},
            on_start=lambda health: on_start(replace(news, health=health)),
        )
        await group.serve()


class _Loops:
    """Makes the loops of a plan; what they open is closed with the stack."""

    def __init__(
        self,
        plan: WorkerPlan,
        workspace: Workspace,
        store: PromptOverridesStore,
        stack: AsyncExitStack,
    ) -> None:
        self._plan = plan
        self._workspace = workspace
        self._store = store
        self._stack = stack
        self._client = open_client(plan.mailbox, what="the mailboxes cannot be opened")
        stack.push_async_callback(self._client.aclose)

    def all(self) -> list[WorkerLoop]:
        """In the order that they were asked for, each once."""
        made: list[WorkerLoop] = []
        main = self._main()
        for name in dict.fromkeys(self._plan.loops):
            if name == "main":
                made.append(main)
            elif name == "eval":
                made += self._eval(main)
            elif name == RUNS:
                made.append(self._runs())
            else:
                made.append(self._optimize())
        return made

    def _runs(self) -> RunLoop:
        """On the queue of the database; evaluations go where those of other requests go."""
        runner = MailboxRunner(self._plan.mailbox)
        project = ServedProject(self._plan.folder / CONFIG_NAME)
        return RunLoop(
            RunExecutor(self._workspace, project, make_adapter=runner),
            EvaluationExecutor(self._workspace, project),
        )

    def _mailbox(
        self, name: str, *, max_delivery_count: int = MAX_DELIVERIES
    ) -> RedisMailbox[Any, Any]:
        return RedisMailbox(
            name,
            self._client,
            # One more than its loop works on: at that one the loop tells the sender.
            max_delivery_count=max_delivery_count + 1,
            patience=_PATIENCE_SECONDS,
        )

    def _main(self) -> MainLoop:
        agent = build_agent(
            self._plan.project.agent, self._workspace.model, self._workspace.tool_calls
        )
        self._stack.push_async_callback(agent.close)
        return MainLoop(
            agent=agent,
            requests=self._mailbox(MAIN_REQUESTS),
            overrides_store=self._store,
            timeout_seconds=self._plan.project.agent.timeout_seconds,
            concurrency=self._plan.places,
        )

    def _eval(self, main: MainLoop) -> list[WorkerLoop]:
        plan = self._plan
        suite = build_suite(plan.project.suite, self._workspace.model)
        given = plan.project.settings is None
        evaluator = shard_evaluator(
            self._workspace,
            plan.folder,
            concurrency=plan.places,
            agent=plan.project.agent if given else None,
            suite=plan.project.suite if given else None,
        )
        self._stack.push_async_callback(evaluator.close)
        return [
            EvalLoop(
                loop=main,
                requests=self._mailbox(EVAL_REQUESTS),
                scorers=suite.scorers,
                pass_threshold=suite.policy.pass_threshold,
                concurrency=plan.places,
            ),
            ShardLoop(evaluator=evaluator, requests=self._mailbox(SHARD_REQUESTS)),
        ]

    def _optimize(self) -> OptimizeLoop:
        plan = self._plan
        return OptimizeLoop(
            optimizer=RequestedCompressions(
                self._workspace,
                plan.project,
                store=self._store,
                make_adapter=MailboxRunner(plan.mailbox),
            ),
            requests=self._mailbox(OPTIMIZE_REQUESTS, max_delivery_count=MAX_OPTIMIZE_DELIVERIES),
            concurrency=plan.optimizations,
        )
