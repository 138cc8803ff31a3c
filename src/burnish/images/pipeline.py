"""Image pipeline: a run from its first stage to its end, or from where an earlier attempt left it.

Each stage reads the stored run and does only what is missing, so it does not matter who began.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

from burnish.domain import BurnishError, Clock, ConflictError, InvariantError, SystemClock
from burnish.domain.images.protocols import ImageFiles, ImageRepository, LeasedRun
from burnish.domain.images.runs import ImageRun, ImageRunStatus, rank
from burnish.evaluation.item_runner import describe
from burnish.images import generating
from burnish.images import judging as evaluating
from burnish.images.pairing import compare
from burnish.images.planning import plan
from burnish.images.record import CancelAskedError, Edit, ImagePurpose, RunRecord, degraded, spent
from burnish.images.stage_context import CallBound, RunModels, StageContext
from burnish.images.suggesting import suggest

_log = logging.getLogger("burnish.images")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePipeline:
    """Carries out runs. `open_models` gives a run's models; its error is the run's.

    `told` hears of every stored change.
    """

    repository: ImageRepository
    files: ImageFiles
    calls: CallBound
    open_models: Callable[[ImageRun], Awaitable[RunModels]]
    told: Callable[[ImageRun], None] = lambda _: None
    clock: Clock = field(default_factory=SystemClock)

    async def run(
        self, leased: LeasedRun, *, cancelled: asyncio.Event | None = None
    ) -> ImageRun | None:
        """The run once it has ended; None when somebody else has taken it, who goes on with it.

        `cancelled` ends it early. Whoever calls keeps the lease meanwhile.

        Raises when the record itself cannot be written: then the run can be gone on with later. When
        only files cannot be written it fails, and stays so; what it committed until then is kept, and
        can be the parent of a new one.
        """
        record = RunRecord(leased, self.repository, self.told)
        try:
            await self._until_cancelled(record, cancelled or asyncio.Event())
        except CancelAskedError:
            await self._end(record, _as(ImageRunStatus.CANCELLED))
        except BurnishError as error:
            if is_lost(error):
                return None
            if record.unsaved is not None:
                raise
            bug = isinstance(error, InvariantError)
            await self._end(record, _failed(_unexpected(error) if bug else error))
        except Exception as bug:  # noqa: BLE001 - whatever it is, the run says so
            _log.exception("an image run ended in a bug", extra={"run_id": record.run.run_id})
            await self._end(record, _failed(_unexpected(bug)))
        return record.run

    async def _until_cancelled(self, record: RunRecord, cancelled: asyncio.Event) -> None:
        """The stages; CancelAskedError breaks them off."""
        if record.run.cancel_requested:
            raise CancelAskedError
        work = asyncio.ensure_future(self._stages(record))
        asked = asyncio.ensure_future(cancelled.wait())
        try:
            await asyncio.wait({work, asked}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.result()
            raise CancelAskedError
        finally:
            for task in (work, asked):
                task.cancel()
            await asyncio.gather(work, asked, return_exceptions=True)

    async def _stages(self, record: RunRecord) -> None:
        context = StageContext(
            record=record,
            repository=self.repository,
            files=self.files,
            models=await self.open_models(record.run),
            calls=self.calls,
            clock=self.clock,
        )
        if not context.run.variants:
            await _enter(record, ImageRunStatus.PLANNING)
            await _plan(context)
        if generating.is_missing(context.run):
            await _enter(record, ImageRunStatus.GENERATING)
            await generating.generate(context)
        generating.require_picture(context.run)
        if evaluating.is_missing(context.run):
            await _enter(record, ImageRunStatus.EVALUATING)
            await evaluating.evaluate(context)
        if context.run.request.pairwise:
            await compare(context)
        await record.change(_ranked)
        await _suggest(context)

    async def _end(self, record: RunRecord, edit: Edit) -> None:
        try:
            await record.change(edit)
        except BurnishError as error:
            if not is_lost(error):
                raise


async def _plan(context: StageContext) -> None:
    model = context.models.text
    if model is None:
        planned = await plan(context.run.request, None)
    else:
        planned, _ = await context.call(lambda: plan(context.run.request, model))

    def edit(run: ImageRun) -> ImageRun:
        paid = spent(run, ImagePurpose.PLAN, planned.usage)
        for reason in planned.fallbacks:
            paid = degraded(paid, reason)
        return replace(paid, variants=planned.variants)

    await context.record.change(edit)


async def _suggest(context: StageContext) -> None:
    model = context.models.text
    if model is None:
        advice = await suggest(context.run, None)
    else:
        advice, _ = await context.call(lambda: suggest(context.run, model))

    def edit(run: ImageRun) -> ImageRun:
        paid = spent(run, ImagePurpose.SUGGEST, advice.usage)
        for reason in advice.fallbacks:
            paid = degraded(paid, reason)
        done = ImageRunStatus.COMPLETED_DEGRADED if paid.degraded else ImageRunStatus.COMPLETED
        return replace(paid, suggestions=advice.suggestions, status=done)

    await context.record.change(edit)


async def _enter(record: RunRecord, stage: ImageRunStatus) -> None:
    if record.run.status is not stage:
        await record.change(lambda run: replace(run, status=stage, stage=stage))


def _ranked(run: ImageRun) -> ImageRun:
    stage = ImageRunStatus.REFINING
    return replace(run, status=stage, stage=stage, variants=rank(run.variants))


def is_lost(error: BurnishError | None) -> bool:
    """Whether somebody else has taken the run."""
    return isinstance(error, ConflictError) and error.code == "lease_lost"


def _as(status: ImageRunStatus) -> Edit:
    return lambda run: replace(run, status=status)


def _failed(error: BurnishError) -> Edit:
    return lambda run: replace(run, status=ImageRunStatus.FAILED, error=error.to_json())


def _unexpected(bug: Exception) -> InvariantError:
    return InvariantError(
        what="the image run failed",
        why=describe(bug),
        fix="this is a bug: report it with the log of the server",
        code="IMAGE_PIPELINE_FAILED",
    )
