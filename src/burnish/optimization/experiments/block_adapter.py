"""Experiments run block by block: racing, budget and idempotency, wherever the blocks are run."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import fmean

from burnish.domain import (
    Agent,
    BudgetReached,
    BurnishError,
    ConflictError,
    Experiment,
    ExperimentRepository,
    ExperimentStatus,
    ExperimentType,
    Item,
    ItemResult,
    Lease,
    UnavailableError,
    UsageError,
)
from burnish.evaluation.gates import InFlight
from burnish.evaluation.outages import OutageWatch
from burnish.evaluation.progress import Progress
from burnish.evaluation.runner import RunOptions, final_status, status_at
from burnish.evaluation.suite import Suite
from burnish.optimization.budget_gate import BudgetGate, EvaluationGate, Seen
from burnish.optimization.experiments.adapter import (
    UNSCORED,
    Block,
    BlockRunner,
    ExperimentEnded,
    ExperimentRequest,
    RawExperimentResults,
    RunnerLost,
)
from burnish.optimization.experiments.masks import CandidateMaterializer
from burnish.optimization.experiments.step_race import StepRace
from burnish.optimization.extensions import ExtensionFailed
from burnish.optimization.racing import Racing, RacingMode

_OVERDUE = "the time of the run was up"
# What is wrong with every candidate alike, and is no candidate's doing.
_OF_ALL = frozenset({"bad_key", "missing_key", "engine_missing", "missing_extra"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentInputs:
    """What experiments are run with."""

    agent: Agent
    suite: Suite
    items: Mapping[str, Item]
    dataset_id: str | None
    options: RunOptions
    racing: Racing
    seed: int


class BlockExperimentAdapter:
    """Experiments as tasks of this event loop, each run block by block by a BlockRunner.

    A task that comes to no end of its own (the model, the database or the workers are away, or the end
    cannot be written) ends the run rather than one experiment: what was running stays so in the
    repository, to be continued on resume, and `wait_for_news` raises what happened.
    """

    def __init__(
        self,
        inputs: ExperimentInputs,
        experiments: ExperimentRepository,
        materializer: CandidateMaterializer,
        gate: BudgetGate,
        lease: Lease,
        blocks: BlockRunner,
    ) -> None:
        self._inputs = inputs
        self._experiments = experiments
        self._materializer = materializer
        self._gate = gate
        self._lease = lease
        options = inputs.options
        self._slots = asyncio.Semaphore(options.concurrency)
        self._outages = OutageWatch(options.outage_seconds, options.max_failures_in_a_row)
        self._blocks = blocks
        # What ended a task before its experiment had ended.
        self._lost: BaseException | None = None
        self._tasks: dict[str, asyncio.Task[None]] = {}
        # What an experiment that was ended from here ends as.
        self._cancelled: dict[str, ExperimentStatus] = {}
        # Whose task may be cancelled: before its first line it would end without a word, and after
        # the last block the record of its end would not be written.
        self._evaluating: set[str] = set()
        self._news = asyncio.Event()
        # Made in this attempt, so without earlier results.
        self._fresh: set[str] = set()
        # By trial: it, and those that it races with.
        self._races: dict[str, StepRace] = {}
        self._in_flight: dict[str, InFlight] = {}
        self.seen: Seen = set()

    async def trigger(self, request: ExperimentRequest) -> None:
        """Start or continue an experiment."""
        if request.experiment_id in self._tasks:
            return
        try:
            experiment = await self._create(request)
            self._fresh.add(request.experiment_id)
        except ConflictError as error:
            if error.code == "lease_lost":
                raise
            # An earlier attempt made it.
            experiment = await self._experiments.get_experiment(request.experiment_id)
        race = self._race_of(request)
        if experiment.status.final:
            if not (request.retry_errors and experiment.status in UNSCORED):
                if race is not None:
                    scores = await self._experiments.item_scores(experiment.id)
                    race.add_ended(experiment.id, scores, self._blocks_of(request))
                    del self._races[experiment.id]
                self._news.set()
                return
            await self._experiments.update_experiment(
                experiment.id,
                status=ExperimentStatus.RUNNING,
                metadata={"trial_error": None},
                lease=self._lease,
            )
        task = asyncio.create_task(self._run(experiment, request))
        task.add_done_callback(self._ended)
        if race is not None:
            task.add_done_callback(lambda _: self._races.pop(experiment.id).leave(experiment.id))
        self._tasks[request.experiment_id] = task

    async def get_status(self, experiment_id: str) -> ExperimentStatus | None:
        """Running while its task is, and then as the repository has it."""
        task = self._tasks.get(experiment_id)
        if task is not None and not task.done():
            return ExperimentStatus.RUNNING
        experiment = await self._find(experiment_id)
        return None if experiment is None else experiment.status

    async def get_results(self, experiment_id: str) -> RawExperimentResults:
        """As the repository has it."""
        experiment = await self._experiments.get_experiment(experiment_id)
        return RawExperimentResults(
            status=experiment.status,
            summary=await self._experiments.summarise(experiment_id),
            error=experiment.metadata.get("trial_error"),
        )

    async def cancel(self, experiment_id: str, *, overdue: bool = False) -> None:
        """End it, as `timeout` when it is overdue; its results so far stay."""
        ends = ExperimentStatus.TIMEOUT if overdue else ExperimentStatus.CANCELLED
        self._cancelled.setdefault(experiment_id, ends)
        if experiment_id in self._evaluating:
            self._tasks[experiment_id].cancel()

    async def wait_for_news(self, seconds: float) -> None:
        """Sleep until an experiment ended, or for so long."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._news.wait()
        self._news.clear()
        if self._lost is not None:
            raise self._lost

    async def close(self) -> None:
        """Stop; experiments that were running stay so in the repository and can be continued."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        await self._blocks.close()

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None:
            self._lost = self._lost or task.exception()
        self._news.set()

    async def _run(self, experiment: Experiment, request: ExperimentRequest) -> None:
        try:
            if experiment.id in self._cancelled:
                raise asyncio.CancelledError
            self._evaluating.add(experiment.id)
            self._in_flight[experiment.id] = InFlight()
            status, error = await self._evaluate(experiment, request)
        except asyncio.CancelledError:
            if experiment.id not in self._cancelled:
                raise  # The program is stopping: the experiment is continued on resume.
            status = self._cancelled[experiment.id]
            error = _OVERDUE if status is ExperimentStatus.TIMEOUT else "cancelled"
        except ExtensionFailed:
            raise
        except ExperimentEnded as ended:
            status, error = ended.status, ended.why
        except BurnishError as failure:
            # A baseline that cannot be run is told as such, and run again on resume.
            away = request.retry_errors and failure.code == "endpoint_unavailable"
            if _concerns_all(failure) and not away:
                raise _stopped(failure) from failure
            status = _status_of(failure)
            timeout = status is ExperimentStatus.TIMEOUT
            error = _OVERDUE if timeout else f"{failure.code}: {failure.why}"
        except Exception as failure:  # noqa: BLE001 - the trial fails, the optimization goes on
            status = ExperimentStatus.FAILED
            error = f"internal: {type(failure).__name__}: {failure}"
        finally:
            self._evaluating.discard(experiment.id)
        in_flight = self._in_flight.pop(experiment.id, InFlight())
        metadata: dict[str, object] = {"trial_error": error} if error else {}
        if in_flight.runs:
            metadata["in_flight"] = in_flight.to_json()
        await self._experiments.update_experiment(
            experiment.id, status=status, metadata=metadata or None, lease=self._lease
        )

    async def _evaluate(
        self, experiment: Experiment, request: ExperimentRequest
    ) -> tuple[ExperimentStatus, str | None]:
        """Run the blocks in turn; after each, the race may be over."""
        inputs = self._inputs
        progress = Progress()
        scores: dict[str, list[float]] = {}

        def collect(result: ItemResult) -> None:
            if result.error is None or not result.error.kind.outside:
                scores.setdefault(result.item_id, []).append(result.score)

        done: set[tuple[str, int]] = set()
        stale: dict[tuple[str, int], ItemResult] = {}
        # Where nothing worked, the agent itself may have been mended since.
        mended = experiment.status is ExperimentStatus.FAILED
        for result in await self._earlier_results(experiment):
            failed = result.error is not None and (mended or result.error.kind.outside)
            if failed:
                stale[result.item_id, result.repeat] = result
                continue
            done.add((result.item_id, result.repeat))
            progress.add(result)
            collect(result)
        options = replace(
            inputs.options,
            slots=self._slots,
            outages=self._outages,
            gate=EvaluationGate(
                self._gate, self.seen, experiment.configuration.hash, self._in_flight[experiment.id]
            ),
            on_result=collect,
            counted=frozenset(stale),
        )
        suite = _repeated(inputs.suite, request.repeats)
        race = self._race_of(request)
        incumbent = await self._incumbent_scores(request)
        blocks = self._blocks_of(request)
        order = [item for block in blocks for item in block]
        reached: dict[str, float] = {}
        for number, block in enumerate(blocks, start=1):
            await self._blocks.run(
                Block(
                    experiment=experiment,
                    mask_id=request.mask_id,
                    agent=inputs.agent,
                    suite=suite,
                    items=[inputs.items[item] for item in block],
                    options=options,
                    progress=progress,
                    skip=done,
                    stale=stale,
                )
            )
            # Only the blocks so far: a continued experiment must decide as it would have done then.
            reached.update({item: fmean(scores[item]) for item in block if item in scores})
            if race is not None and number < len(blocks):
                reason = await race.after_block(experiment.id, reached, incumbent, order)
                if reason is not None:
                    return ExperimentStatus.PRUNED, reason
        if request.retry_errors and progress.nothing_worked is not None:
            return ExperimentStatus.FAILED, progress.nothing_worked
        return final_status(progress), None

    async def _earlier_results(self, experiment: Experiment) -> list[ItemResult]:
        if experiment.id in self._fresh:
            return []
        return await self._experiments.get_results(experiment.id)

    def _race_of(self, request: ExperimentRequest) -> StepRace | None:
        """The race that an experiment shares with those that run with it; None without one.

        The arms of a comparison only wait for each other: that is a race in which nobody ends.
        """
        racing, own = self._inputs.racing, request.experiment_id
        if request.type is ExperimentType.REGULAR and request.runs_with:
            racing = Racing(mode=RacingMode.OFF)
        elif not self._is_raced(request):
            return None
        if own not in self._races:
            members = sorted({own, *request.runs_with})
            self._races |= dict.fromkeys(members, StepRace(racing, members))
        return self._races[own]

    def _is_raced(self, request: ExperimentRequest) -> bool:
        against = request.execution_params.get("incumbent_experiment_id")
        races = self._inputs.racing.mode is not RacingMode.OFF
        return races and against is not None and request.type is ExperimentType.TRIAL

    def _blocks_of(self, request: ExperimentRequest) -> list[tuple[str, ...]]:
        """What is run between two looks: so no arm of a comparison is ahead by more calls at once."""
        inputs, items = self._inputs, request.item_ids
        if self._race_of(request) is None:
            return [items]
        if self._is_raced(request):
            return inputs.racing.blocks(items, seed=inputs.seed)
        size = max(inputs.options.concurrency, 1)
        return [items[start : start + size] for start in range(0, len(items), size)]

    async def _incumbent_scores(self, request: ExperimentRequest) -> dict[str, float]:
        if not self._is_raced(request):
            return {}
        return await self._experiments.item_scores(
            request.execution_params["incumbent_experiment_id"]
        )

    async def _create(self, request: ExperimentRequest) -> Experiment:
        suite = self._inputs.suite
        experiment = Experiment(
            id=request.experiment_id,
            name=f"{self._inputs.agent.name} {request.candidate_id}",
            type=request.type,
            status=ExperimentStatus.RUNNING,
            agent_name=self._inputs.agent.name,
            configuration=await self._materializer.resolve(request.mask_id),
            suite_name=suite.name,
            dataset_id=self._inputs.dataset_id,
            planned_items=len(request.item_ids) * (request.repeats or suite.policy.repeats),
            optimization_id=request.optimization_id,
            metadata={
                **request.execution_params,
                **({} if suite.refine is None else {"refine": suite.refine.to_json()}),
                "candidate_id": request.candidate_id,
                "mask_id": request.mask_id,
            },
        )
        await self._experiments.create_experiment(experiment, lease=self._lease)
        return experiment

    async def _find(self, experiment_id: str) -> Experiment | None:
        try:
            return await self._experiments.get_experiment(experiment_id)
        except UsageError as error:
            if error.code == "not_found":
                return None
            raise


def _concerns_all(failure: BurnishError) -> bool:
    """Whether every candidate would meet it, now or for good: it is no candidate's doing."""
    if isinstance(failure, UnavailableError):
        return failure.code not in ("shard_lost", "runs_unanswered")
    return isinstance(failure, ConflictError) or failure.code in _OF_ALL


def _stopped(outage: BurnishError) -> BurnishError:
    if isinstance(outage, RunnerLost) or not isinstance(outage, UnavailableError):
        return outage
    return UnavailableError(
        what="the optimization stopped",
        why=outage.why,
        fix="`burnish resume` goes on from there once that is over; no trial was spent on it",
        code=outage.code,
    )


def _status_of(failure: BurnishError) -> ExperimentStatus:
    """As what an experiment ends that ran into this."""
    if not isinstance(failure, BudgetReached):
        return ExperimentStatus.FAILED
    return status_at(failure.limit)


def _repeated(suite: Suite, repeats: int | None) -> Suite:
    """The suite with as many repeats as were asked for."""
    return (
        suite if repeats is None else replace(suite, policy=replace(suite.policy, repeats=repeats))
    )
