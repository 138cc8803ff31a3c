"""Searches of the command line: started or resumed, watched while they go on."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from burnish.app.datasets.stored import with_stored_rows
from burnish.app.optimize.following import following
from burnish.app.optimize.optimizations import Optimization, load_result
from burnish.app.optimize.result import OptimizationResult
from burnish.app.optimize.run_spec import require_unchanged, spec_of, stored_settings
from burnish.app.optimize.runners import RunnerChoice
from burnish.app.references import resolve_optimization
from burnish.app.report.runs.evidence import collapse_warnings
from burnish.app.wiring import Workspace
from burnish.cli.console import Streams
from burnish.cli.display.optimizations.status import resumable
from burnish.cli.project_location import ProjectLocation
from burnish.cli.wording import short_id
from burnish.config.schema import Settings
from burnish.domain import (
    Budget,
    BurnishError,
    Candidate,
    ConflictError,
    Event,
    EventType,
    ExperimentStatus,
    ExperimentType,
    OptimizationRecord,
    OptimizationRepository,
    OptimizationStatus,
)
from burnish.domain.opik import MirrorTarget
from burnish.integrations.opik.mirror.mirror import MirrorOutcome, mirror_target, mirrored
from burnish.optimization.attempt import Attempt
from burnish.optimization.checkpoint import Phase
from burnish.optimization.orchestrator import Orchestrator
from burnish.runtime.shards.blocks import ShardSettings


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """A result, and what has to be said about it."""

    result: OptimizationResult
    warnings: tuple[str, ...] = ()
    mirror: MirrorOutcome | None = None


def chosen_runner(
    streams: Streams,
    location: ProjectLocation,
    runner: str | None,
    mailbox: str | None,
    ray_address: str | None,
) -> RunnerChoice:
    """Where to evaluate, with what has to be said about it."""

    def tell(text: str) -> None:
        streams.messages.print(text, soft_wrap=True)

    named = mailbox is not None or ray_address is not None
    choice = RunnerChoice(
        runner=runner or (None if named else os.environ.get("BURNISH_RUNNER") or None),
        mailbox=mailbox,
        ray_address=ray_address,
        settings=ShardSettings(on_notice=tell),
    )
    note = choice.note(location.database)
    if note is not None:
        streams.messages.print(note, soft_wrap=True)
    return choice


async def start(
    database: str,
    settings: Settings,
    watch: SearchWatch,
    choice: RunnerChoice | None = None,
    *,
    name: str | None = None,
    more: Mapping[str, Any] | None = None,
) -> SearchOutcome:
    """A new optimization, run to its end. `more` is kept with what it was started with."""
    choice = choice or RunnerChoice()
    make_adapter = choice.make_adapter(database, settings.folder)
    await choice.require_reachable()
    target = mirror_target(settings.mirror)
    async with Workspace.open(database, models=settings.models) as workspace:
        optimization = Optimization.of_settings(workspace, settings, make_adapter=make_adapter)
        try:
            spec = {**spec_of(settings, optimization), **(more or {})}
            record = await optimization.create(name=name, spec=spec)
            return await _run(workspace, optimization, record, watch, target)
        finally:
            await optimization.close()


async def resume_search(
    location: ProjectLocation,
    of: str | OptimizationRecord,
    watch: SearchWatch,
    choice: RunnerChoice | None = None,
    *,
    optimizer_seconds: float | None = None,
) -> SearchOutcome:
    """An optimization gone on with to its end; one that has ended is only read.

    `optimizer_seconds` is what a method of the optimizer may take from now on.
    """
    choice = choice or RunnerChoice()
    async with location.read() as workspace:
        record = (
            await resolve_optimization(workspace.optimizations, of) if isinstance(of, str) else of
        )
        if record.status is OptimizationStatus.COMPLETED:
            return await _outcome(workspace, await load_result(workspace, record.id))
        settings = await with_stored_rows(workspace, stored_settings(record, location.folder))
        if optimizer_seconds is not None:
            own = {**settings.optimizer, "timeout_seconds": optimizer_seconds}
            settings = settings.model_copy(update={"optimizer": own})
        watch.budget = settings.budget_spec()
        make_adapter = choice.make_adapter(location.database, settings.folder)
        await choice.require_reachable()
        workspace.models.use(settings.models)
        optimization = Optimization.of_settings(workspace, settings, make_adapter=make_adapter)
        try:
            require_unchanged(record, optimization)
            target = mirror_target(settings.mirror)
            return await _run(workspace, optimization, record, watch, target)
        finally:
            await optimization.close()


async def _run(
    workspace: Workspace,
    optimization: Optimization,
    record: OptimizationRecord,
    watch: SearchWatch,
    target: MirrorTarget | None,
) -> SearchOutcome:
    watch.title = record.name
    watch.optimization_id = record.id
    # A cancelled one cannot be gone on with.
    watch.unfinished = record.status is not OptimizationStatus.CANCELLED
    try:
        async with (
            mirrored(workspace, record.id, target) as mirror,
            watching(workspace.optimizations, record.id, watch),
        ):
            result = await optimization.run(record, watch=watch.begin)
    except BurnishError as error:
        # It is somebody else's now, or would only fail again.
        if isinstance(error, ConflictError) or not resumable(error.code):
            watch.unfinished = False
        raise
    return replace(await _outcome(workspace, result), mirror=mirror)


async def _outcome(workspace: Workspace, result: OptimizationResult) -> SearchOutcome:
    return SearchOutcome(result, await collapse_warnings(workspace, result.record))


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedTrial:
    """A trial as events tell of it."""

    experiment_id: str
    candidate_id: str
    number: int
    status: ExperimentStatus
    score: float | None
    error: str | None = None

    @property
    def merit(self) -> tuple[float, int]:
        """Of two completed trials the one with more is better; of equals the earlier."""
        return self.score or 0.0, -self.number


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a search stands at one moment. The baseline is no trial."""

    phase: Phase
    step: int
    running: int
    trials: tuple[EndedTrial, ...]
    baseline: EndedTrial | None
    candidates: Mapping[str, Candidate]
    refused: int
    evaluations: int
    cost_usd: float | None
    seconds: float
    # The best by an objective that counts more than the score, which trials alone do not tell.
    best_id: str | None = None
    # What is waited for and why.
    waiting: tuple[str, ...] = ()

    @property
    def best(self) -> EndedTrial | None:
        """The best that ran to its end, be it the baseline."""
        ended = (*self.trials, *([self.baseline] if self.baseline else []))
        chosen = next((one for one in ended if one.candidate_id == self.best_id), None)
        if chosen is not None:
            return chosen
        completed = [one for one in ended if one.status is ExperimentStatus.COMPLETED]
        return max(completed, key=lambda one: one.merit, default=None)

    @property
    def failed(self) -> int:
        """Trials that came to no score."""
        return len(self.trials) - sum(
            map(self.count, (ExperimentStatus.COMPLETED, ExperimentStatus.PRUNED))
        )

    def count(self, status: ExperimentStatus) -> int:
        """How many trials ended so."""
        return sum(1 for trial in self.trials if trial.status is status)


@dataclass(slots=True)
class SearchWatch:
    """The attempt once it has begun, and the trials that have started and ended so far."""

    budget: Budget = field(default_factory=Budget)
    title: str = ""
    optimization_id: str | None = None
    attempt: Attempt | None = None
    started: set[str] = field(default_factory=set)
    ended: dict[str, EndedTrial] = field(default_factory=dict)
    # What ended in an earlier attempt was told then.
    ended_before: frozenset[str] = frozenset()
    # Whether it still is to be gone on with, should it stop now.
    unfinished: bool = False
    # Whether the latest trial is best, because it is the shortest and regresses nothing.
    shortens: bool = False

    def begin(self, attempt: Attempt) -> None:
        """Called when the lease is taken and work begins."""
        self.attempt = attempt

    def kept(self, location: ProjectLocation) -> str | None:
        """What of a stopped search is kept, and the command that goes on with it."""
        if self.optimization_id is None or not self.unfinished:
            return None
        command = location.command("resume", short_id(self.optimization_id))
        return f"every finished evaluation is saved; go on with: {command}"

    def standing(self) -> Standing | None:
        """A look from another thread: everything that may change meanwhile is copied first."""
        attempt = self.attempt
        if attempt is None:
            return None
        checkpoint = attempt.orchestrator.checkpoint
        ended = sorted(self.ended.values(), key=lambda one: one.number)
        return Standing(
            phase=checkpoint.phase,
            # The plan of the baseline counts as a step there.
            step=max(checkpoint.step - 1, 1),
            running=max(len(self.started) - len(ended), 0),
            trials=tuple(one for one in ended if one.number),
            baseline=next((one for one in ended if not one.number), None),
            candidates=dict(attempt.orchestrator.trial_index.candidates),
            refused=checkpoint.rejected,
            evaluations=attempt.gate.evaluations,
            cost_usd=attempt.gate.spending.total.cost_usd,
            seconds=attempt.gate.elapsed_seconds,
            best_id=_best_id(attempt.orchestrator),
            waiting=tuple(attempt.traffic.waiting()),
        )


def _best_id(orchestrator: Orchestrator) -> str | None:
    progress = orchestrator.checkpoint.progress
    if not progress or not orchestrator.trial_index.objective.measures:
        return None
    return progress[-1].best_candidate_id


@contextlib.asynccontextmanager
async def watching(
    optimizations: OptimizationRepository, optimization_id: str, watch: SearchWatch
) -> AsyncIterator[None]:
    """Keep the watch up to date within the block."""
    notes = _TrialNotes(optimizations, optimization_id, watch)
    async with following(optimizations, optimization_id, notes.note):
        watch.ended_before = frozenset(watch.ended)
        yield


class _TrialNotes:
    def __init__(
        self, optimizations: OptimizationRepository, optimization_id: str, watch: SearchWatch
    ) -> None:
        self._optimizations = optimizations
        self._id = optimization_id
        self._watch = watch

    async def note(self, event: Event) -> None:
        if event.type is EventType.TRIAL_ADDED_OR_UPDATED:
            await self._note(event)

    async def _note(self, event: Event) -> None:
        payload = event.payload
        if payload["type"] != ExperimentType.TRIAL.value:
            return
        status = ExperimentStatus(payload["status"])
        experiment_id = payload["experiment_id"]
        self._watch.started.add(experiment_id)
        if not status.final:
            # A baseline that failed in an earlier sitting is run again.
            self._watch.ended.pop(experiment_id, None)
            self._watch.ended_before -= {experiment_id}
            return
        self._watch.ended[experiment_id] = EndedTrial(
            experiment_id=experiment_id,
            candidate_id=payload["candidate_id"],
            number=payload["number"],
            status=status,
            # Events of older versions call it by its other name.
            score=payload["score"] if "score" in payload else payload["objective_score"],
            error=await self._why(experiment_id) if status is ExperimentStatus.FAILED else None,
        )

    async def _why(self, experiment_id: str) -> str | None:
        trials = await self._optimizations.list_trials(self._id)
        return next((one.error for one in trials if one.experiment_id == experiment_id), None)
