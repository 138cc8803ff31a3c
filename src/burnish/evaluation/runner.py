"""Runs one experiment: bounded concurrency, cached results reused, everything saved as it comes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from burnish.domain import (
    Agent,
    BudgetReached,
    BurnishError,
    Experiment,
    ExperimentRepository,
    ExperimentStatus,
    ExperimentSummary,
    Item,
    ItemResult,
    Lease,
    Payer,
    Round,
    Spending,
    paying_for,
)
from burnish.evaluation.gates import CountingGate, Gate
from burnish.evaluation.item_runner import ItemRunner
from burnish.evaluation.outages import (
    OUTAGE_SECONDS,
    OutageWatch,
    Tries,
    mostly_unanswered,
    nothing_worked,
)
from burnish.evaluation.progress import Progress
from burnish.evaluation.refine.loop import RefineLoop
from burnish.evaluation.result_writer import ResultWriter
from burnish.evaluation.suite import Suite
from burnish.evaluation.work_source import Run, Work, WorkSource, cache_scope, runs_of

# Instant agents never give the loop away by themselves; the writer and the display need turns.
_ITEMS_A_TURN = 32
# So many workers may find nothing to do.
_MOST_IDLE = 256
# A repeat that no cache has an answer of.
_PROBE = 1_000_000_007


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How an experiment is run; none of it changes a result.

    `slots` bounds the runs of several experiments together, `gate` what they may spend, and
    `on_result` hears of each result once it is on its way to storage.
    """

    concurrency: int = 16
    item_timeout_seconds: float | None = 120.0
    use_cache: bool = True
    # So many infrastructure failures in a row, with no answer among them for so long, end the run.
    max_failures_in_a_row: int = 10
    outage_seconds: float = OUTAGE_SECONDS
    # Shared by experiments that run side by side or one after the other; else each has its own.
    outages: OutageWatch | None = None
    slots: AbstractAsyncContextManager[Any] = field(default_factory=nullcontext)
    gate: Gate = field(default_factory=CountingGate)
    on_result: Callable[[ItemResult], None] | None = None
    # (id, repeat) pairs whose earlier attempts the gate has counted already.
    counted: Collection[tuple[str, int]] = ()


class ExperimentRunner:
    """Evaluates the items of an experiment. Its writes carry the lease, if it is given one:

    an owner that was replaced gets a conflict instead of a late write.
    """

    def __init__(self, repository: ExperimentRepository, lease: Lease | None = None) -> None:
        self._repository = repository
        self._lease = lease

    async def run(
        self,
        experiment: Experiment,
        agent: Agent,
        suite: Suite,
        items: Iterable[Item],
        *,
        options: RunOptions | None = None,
        progress: Progress | None = None,
        skip: Collection[tuple[str, int]] = (),
    ) -> ExperimentSummary:
        """Evaluate the items and leave the experiment in a final state, however it ends.

        Where the budget ends it, what there is stands, and the experiment says so.
        """
        progress = progress if progress is not None else Progress(planned=experiment.planned_items)
        options = options or RunOptions()
        status = ExperimentStatus.FAILED
        failure: BurnishError | None = None
        try:
            told = {"error": None} if experiment.metadata.get("error") else None
            await self._repository.update_experiment(
                experiment.id, status=ExperimentStatus.RUNNING, metadata=told, lease=self._lease
            )
            await self.evaluate(
                experiment, agent, suite, items, options=options, progress=progress, skip=skip
            )
            failure = nothing_worked(progress)
            if failure is None:
                status = ExperimentStatus.COMPLETED
        except BudgetReached as reached:
            status, failure = status_at(reached.limit), reached
        except asyncio.CancelledError:
            status = ExperimentStatus.CANCELLED
            raise
        finally:
            finished = asyncio.create_task(
                self._repository.update_experiment(
                    experiment.id,
                    status=status,
                    metadata=_metadata(options.gate, failure),
                    lease=self._lease,
                )
            )
            await asyncio.shield(finished)
        return await self._repository.summarise(experiment.id)

    async def evaluate(
        self,
        experiment: Experiment,
        agent: Agent,
        suite: Suite,
        items: Iterable[Item],
        *,
        options: RunOptions | None = None,
        progress: Progress | None = None,
        skip: Collection[tuple[str, int]] = (),
    ) -> None:
        """Run all items but the (id, repeat) pairs in `skip`, which an earlier run has done.

        Every result is saved, also when this raises; the experiment's status stays as it is.
        """
        run = _Run(self._repository, self._lease, experiment, agent, suite, options or RunOptions())
        await run.all(items, progress if progress is not None else Progress(), skip)


class _Run:
    """The state of one evaluation."""

    def __init__(
        self,
        repository: ExperimentRepository,
        lease: Lease | None,
        experiment: Experiment,
        agent: Agent,
        suite: Suite,
        options: RunOptions,
    ) -> None:
        self._repository = repository
        self._lease = lease
        self._experiment = experiment
        self._suite = suite
        self._options = options
        agent = suite.asked(agent)
        self._scope = cache_scope(agent, experiment)
        self._runner = ItemRunner(
            agent,
            experiment.configuration,
            suite.scorers,
            pass_threshold=suite.policy.pass_threshold,
            timeout_seconds=options.item_timeout_seconds,
        )
        self._refine = None
        if suite.refine is not None:
            self._refine = suite.refine.loop(
                agent,
                experiment.configuration,
                suite.scorers,
                pass_threshold=suite.policy.pass_threshold,
                timeout_seconds=options.item_timeout_seconds,
            )
        # Rounds of an earlier attempt whose output was not through with them.
        self._begun: dict[tuple[str, int], tuple[Round, ...]] = {}
        self._outages = options.outages or OutageWatch(
            options.outage_seconds, options.max_failures_in_a_row
        )
        # A wave of a batch has room for more than there is to run: no task more than its runs.
        runs = (experiment.planned_items or options.concurrency) * suite.policy.repeats
        self._workers = min(options.concurrency, max(runs, _MOST_IDLE))
        # Why the gate let nothing more start; what runs already ends.
        self._refusal: BurnishError | None = None

    async def all(
        self, items: Iterable[Item], progress: Progress, skip: Collection[tuple[str, int]]
    ) -> None:
        if skip and self._outages.probe is None:
            items = list(items)
            done = {item for item, _ in skip}
            known = next((item for item in items if item.id in done), None)
            if known is not None:
                self._outages.probe = lambda: self._runner.run(known, _PROBE)
        runs: Iterator[Run] | None = runs_of(items, self._suite.policy.repeats, skip)
        if self._refine is not None:
            self._begun = await self._repository.open_rounds(self._experiment.id)
        async with ResultWriter(self._save) as writer:
            while runs is not None:
                source = WorkSource(
                    runs,
                    repository=self._repository,
                    scope=self._scope if self._options.use_cache else None,
                    scorers_fingerprint=self._suite.scorers.fingerprint,
                )
                await self._drain(source, writer, progress)
                await writer.flush()
                if self._refusal is not None:
                    raise self._refusal
                runs = iter(source.postponed) if source.postponed else None

    async def _drain(self, source: WorkSource, writer: ResultWriter, progress: Progress) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self._workers):
                    group.create_task(self._work(source, writer, progress))
        except BaseExceptionGroup as failures:
            # All workers meet the same cause; the first says it, without a tree of traces.
            raise _first(failures) from None
        finally:
            await source.close()

    async def _work(self, source: WorkSource, writer: ResultWriter, progress: Progress) -> None:
        since_turn = 0
        while self._refusal is None and (work := await source.next()) is not None:
            result = await self._one(work, writer)
            if result is None:
                return
            progress.add(result)
            await writer.add(result)
            if self._options.on_result is not None:
                self._options.on_result(result)
            self._require_answers(result, progress)
            since_turn += 1
            if since_turn >= _ITEMS_A_TURN:
                since_turn = 0
                await asyncio.sleep(0)

    def _require_answers(self, result: ItemResult, progress: Progress) -> None:
        """Raise once more than half of many runs have no answer."""
        lost = progress.infrastructure_errors
        failed = result.error is not None and result.error.kind.outside
        if failed and lost >= self._options.max_failures_in_a_row and 2 * lost > progress.done:
            raise mostly_unanswered(lost, progress.done, progress.last_error or "")

    async def _one(self, work: Work, writer: ResultWriter) -> ItemResult | None:
        """The result, or None when it may not be started."""
        counted = (work.item.id, work.repeat) in self._options.counted
        name = f"{self._experiment.id}/{work.item.id}/{work.repeat}"
        if not work.scores_hold:
            work = replace(work, item=await self._suite.loaded(work.item))
        with paying_for(Payer(name, counted=counted)):
            return await self._run_one(work, writer)

    async def _run_one(self, work: Work, writer: ResultWriter) -> ItemResult | None:
        if self._refine is not None:
            async with self._options.slots:
                if not self._admitted(work):
                    return None
                with self._options.gate.running():
                    result = await self._refined(self._refine, work, writer)
            # Each round was counted when it came.
            self._options.gate.record(replace(result, spending=Spending()))
            return result
        if work.cached is not None:
            if not self._admitted(work):
                return None
            result = await self._answer(work)
            if work.scores_hold:
                return result
        else:
            async with self._options.slots:
                if not self._admitted(work):
                    return None
                with self._options.gate.running():
                    result = await self._answer(work)
        self._options.gate.record(result)
        return result

    async def _answer(self, work: Work) -> ItemResult:
        """What a cache or the agent says, judged once; asked again while something outside fails.

        An answer that only lacks its verdict is judged again, not asked for again.
        """
        if work.cached is not None and work.scores_hold:
            return self._runner.reuse(work.cached, work.item)
        tries = Tries()
        self._outages.begin(tries)
        result = await self._ask(work)
        while await self._outages.try_again(result, tries):
            if not self._options.gate.pay(Spending()):
                break  # A limit was reached meanwhile.
            self._outages.begin(tries)
            again = await self._ask(replace(work, cached=result) if result.output else work)
            result = replace(
                again,
                cached=result.cached,
                spending=result.spending + again.spending,
                reused=result.reused if result.output else again.reused,
            )
        if result.error is None:
            self._outages.probe = lambda: self._runner.run(work.item, _PROBE)
        probed = self._outages.claim_probes()
        return replace(result, spending=result.spending + probed) if probed.by_purpose else result

    async def _ask(self, work: Work) -> ItemResult:
        if work.cached is None:
            return await self._runner.run(work.item, work.repeat)
        result = await self._runner.rescore(work.cached, work.item)
        return replace(result, item_id=work.item.id)

    async def _refined(self, refine: RefineLoop, work: Work, writer: ResultWriter) -> ItemResult:
        """A run whose output is refined; its rounds are saved and counted as they come."""
        keep, pay = writer.add, self._options.gate.pay
        begun = self._begun.pop((work.item.id, work.repeat), ())
        if begun:
            return await refine.resume(work.item, begun, keep=keep, pay=pay)
        first = await self._answer(work)
        return await refine.run(work.item, first, keep=keep, pay=pay)

    def _admitted(self, work: Work) -> bool:
        try:
            self._options.gate.admit(work.item, work.repeat)
        except BurnishError as refusal:
            self._refusal = refusal
        return self._refusal is None

    async def _save(self, results: Sequence[ItemResult], rounds: Sequence[Round]) -> None:
        await self._repository.save_results(
            self._experiment.id,
            results,
            cache=self._scope,
            scorers_fingerprint=self._suite.scorers.fingerprint,
            rounds=rounds,
            lease=self._lease,
        )


def status_at(limit: str) -> ExperimentStatus:
    """As what an experiment ends that reached this limit of a budget."""
    return ExperimentStatus.TIMEOUT if limit == "max_seconds" else ExperimentStatus.CANCELLED


def _metadata(gate: Gate, failure: BurnishError | None) -> dict[str, Any] | None:
    """What the end of an experiment adds to it."""
    found: dict[str, Any] = {} if failure is None else {"error": failure.to_json()}
    if isinstance(gate, CountingGate) and gate.in_flight.runs:
        found["in_flight"] = gate.in_flight.to_json()
    return found or None


def final_status(progress: Progress) -> ExperimentStatus:
    """Nothing but infrastructure failures is a failed experiment, not a score of 0."""
    if progress.done and progress.infrastructure_errors == progress.done:
        return ExperimentStatus.FAILED
    return ExperimentStatus.COMPLETED


def _first(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    first = failures.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
