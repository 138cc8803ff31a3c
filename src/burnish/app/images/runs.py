"""Image runs: requested, carried out or followed, cancelled, and optimized in rounds."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Collection
from functools import partial
from pathlib import Path

from burnish import storage
from burnish.app.images.history import ImageHistory
from burnish.app.images.models import ImageModels, text_model_tables
from burnish.app.images.requests import checked
from burnish.app.images.settings import ImageSettings
from burnish.app.wiring import ModelPool, Workspace
from burnish.domain import BurnishError, ConflictError, Usage, UsageError
from burnish.domain.images.protocols import ImageFiles, Judgement, LeasedRun
from burnish.domain.images.runs import ImageRun, ImageRunRequest, Rubric, Variant
from burnish.domain.jobs import Job
from burnish.images.models.pillow import require_pillow
from burnish.images.pictures import on_pixels_at_once
from burnish.images.pipeline import ImagePipeline
from burnish.images.rounds import (
    ImageOptimizationResult,
    Margin,
    RoundsBudget,
    optimize_in_rounds,
    round_id,
)
from burnish.images.stage_context import CallBound, RunModels
from burnish.jobs import ownership
from burnish.jobs.lease_renewer import LEASE_SECONDS, LeaseRenewer
from burnish.support.ids import new_id

_LOOK_SECONDS = 0.5
Progress = Callable[[ImageRun], None]


async def _take(images: ImageRuns, run_id: str, owner: str, seconds: float) -> Job | None:
    """The run if nobody alive holds it."""
    holder = await images.jobs.owner(run_id)
    dead = holder if holder is not None and ownership.is_dead(holder) else None
    try:
        return await images.jobs.acquire(run_id, owner=owner, seconds=seconds, replacing=dead)
    except ConflictError:
        return None


async def _carry_out(
    images: ImageRuns, job: Job, progress: Progress, seconds: float
) -> ImageRun | None:
    """To its end; None when somebody else has taken it. Stopped, it is given back."""
    cancelled = asyncio.Event()

    async def cancel() -> None:
        cancelled.set()

    renewer = LeaseRenewer(
        renew=lambda lasting: images.jobs.renew(job.lease, seconds=lasting),
        cancel_requested=lambda: images.jobs.cancel_requested(job.lease.job_id),
        on_cancel=cancel,
        seconds=seconds,
    )

    def nudge(run_id: str) -> None:
        if run_id == job.lease.job_id:
            renewer.nudge()

    images.nudges.append(nudge)
    try:
        run = await images.repository.run(job.lease.job_id)
        leased = LeasedRun(run=run, token=job.lease.token, attempts=job.attempts)
        async with renewer:
            return await images.pipeline(progress).run(leased, cancelled=cancelled)
    except ConflictError as error:
        if error.code != "lease_lost":
            raise
        return None
    except (BurnishError, asyncio.CancelledError):
        # Its record cannot be written now, or the command ends: whoever goes on need not wait.
        with contextlib.suppress(BurnishError):
            await asyncio.shield(images.jobs.give_back(job.lease))
        raise
    finally:
        images.nudges.remove(nudge)


async def _stored(images: ImageRuns, run_id: str) -> ImageRun | None:
    try:
        return await images.repository.run(run_id)
    except UsageError:
        return None


async def _margin(
    images: ImageRuns, run: ImageRun, winner: Variant, parent: Rubric | None
) -> Margin:
    """A comparison of the anchor and the winner, kept under an id of its own, so that nobody pays
    for the verdict on the anchor twice."""
    comparison_id = f"{run.run_id}-margin"
    try:
        known = await images.repository.comparison(comparison_id)
        return Margin(
            comparison_id=comparison_id, parent=known.left_rubric, spending=known.spending
        )
    except UsageError:
        pass
    assert run.anchor_commit_id is not None
    assert winner.commit_id is not None
    assert winner.rubric is not None
    anchor = await images.repository.commit(run.anchor_commit_id)
    drawn = await images.repository.commit(winner.commit_id)
    wish, judge = run.request.wish, run.request.judge_model
    if parent is None:
        began = await images.verdict(anchor, wish, judge)
    else:
        began = Judgement(rubric=parent, usage=Usage())
    verdicts = began, Judgement(rubric=winner.rubric, usage=Usage())
    kept = await images.keep_comparison(comparison_id, anchor, drawn, verdicts, wish, judge)
    return Margin(comparison_id=comparison_id, parent=began.rubric, spending=kept.spending)


class ImageRuns(ImageHistory):
    """The runs of a workspace with their projects, commits and pictures.

    `listeners` are called with a run's id whenever a change of it was stored here. `allowed_models`
    are the names that requests may use; None means any.
    """

    def __init__(
        self,
        workspace: Workspace,
        files: ImageFiles,
        models: ImageModels,
        *,
        calls: CallBound | None = None,
        allowed_models: Collection[str] | None = None,
    ) -> None:
        bound = calls or CallBound(models.settings.table.max_calls)
        super().__init__(workspace.images, files, models, bound)
        self.listeners: list[Callable[[str], None]] = []
        self.allowed_models = allowed_models
        self.jobs = workspace.image_jobs
        # Called with the id of a run that is to be cancelled, by whoever may be at it here.
        self.nudges: list[Callable[[str], None]] = []

    @classmethod
    @contextlib.asynccontextmanager
    async def open(
        cls,
        workspace: Workspace,
        database: str,
        settings: ImageSettings,
        *,
        models: ImageModels | None = None,
        allowed_models: Collection[str] | None = None,
    ) -> AsyncIterator[ImageRuns]:
        """With files where the settings say; what is opened here is closed at the end.

        `database` is the location that the workspace was opened with.
        """
        async with contextlib.AsyncExitStack() as stack:
            files = open_files(settings.files_location(database))
            stack.push_async_callback(files.close)
            # Also where the workspace was opened without `[models]`.
            texts = ModelPool(text_model_tables(settings), lambda: workspace.call_cache)
            stack.push_async_callback(texts.close)
            # One question after the other, which no batch saves.
            pool = models or ImageModels(settings, partial(texts.model, batches=False))
            stack.push_async_callback(pool.close)
            yield cls(workspace, files, pool, allowed_models=allowed_models)

    async def create(self, request: ImageRunRequest, *, run_id: str | None = None) -> ImageRun:
        """Queue a run; UsageError `INVALID_REQUEST` when it cannot be one.

        The same request under an id that is there is that run.
        """
        wanted = await checked(request, self.repository, self.models, self.allowed_models)
        run = await self.repository.create_run(run_id or new_id(), wanted)
        if run.request != wanted:
            raise ConflictError(
                what=f"the image run {run.run_id} was not begun",
                why="there is one of that id, and it was asked for otherwise",
                fix="choose another id, or none",
                code="run_id_taken",
            )
        self.tell(run)
        return run

    async def cancel(self, run_id: str) -> ImageRun:
        """Stop it: at once when nobody runs it, else within moments."""
        run = await self.repository.request_cancel(run_id)
        for nudge in tuple(self.nudges):
            nudge(run_id)
        self.tell(run)
        return run

    async def execute(
        self,
        run_id: str,
        *,
        progress: Progress = lambda _: None,
        lease_seconds: float = LEASE_SECONDS,
    ) -> ImageRun:
        """Carry it out here to its end, or follow it to there while somebody else does."""
        owner, seen = ownership.new_owner(), -1
        while True:
            run = await self.repository.run(run_id)
            if run.revision != seen:
                progress(run)
            if run.status.ended:
                return run
            seen = run.revision
            job = await _take(self, run_id, owner, lease_seconds)
            if job is None:
                await asyncio.sleep(_LOOK_SECONDS)
                continue
            ended = await _carry_out(self, job, progress, lease_seconds)
            if ended is not None:
                return ended

    async def contact_sheet(self, run_id: str) -> bytes:
        """A PNG of the anchor and its ranked variants, with who drew and who judged."""
        require_pillow("the contact sheet")
        from burnish.images.contact_sheet import draw_contact_sheet  # noqa: PLC0415 - an extra

        run = await self.repository.run(run_id)
        anchor = None
        if run.anchor_commit_id is not None:
            # A history may lose commits.
            with contextlib.suppress(UsageError):
                anchor = (await self._pictured(run.anchor_commit_id)).images[0]
        shown = [anchor, *(one.image for one in run.variants)]
        pictures = {one.digest: await self.files.get(one.digest) for one in shown if one}
        labels = self.models.labels(run.request)
        return await on_pixels_at_once(draw_contact_sheet, run, anchor, pictures, labels)

    async def optimize(
        self,
        request: ImageRunRequest | None,
        *,
        budget: RoundsBudget,
        optimization_id: str | None = None,
        progress: Progress = lambda _: None,
    ) -> ImageOptimizationResult:
        """Several rounds, each a stored run `OPTIMIZATION_ID-NN` that goes on from the winner.

        With the id of one that was broken off, and no request, it is gone on with.
        """
        identity = optimization_id or new_id()
        wish = request or (await self.repository.run(round_id(identity, 1))).request

        async def carry(run_id: str, wanted: ImageRunRequest) -> ImageRun:
            known = await _stored(self, run_id)
            if known is None:
                await self.create(wanted, run_id=run_id)
            elif known.status.ended:
                return known
            return await self.execute(run_id, progress=progress)

        return await optimize_in_rounds(
            identity, wish, budget, carry=carry, weigh=partial(_margin, self)
        )

    def pipeline(self, told: Progress = lambda _: None) -> ImagePipeline:
        """What carries runs out; `told` hears of changes besides the listeners."""

        def tell(run: ImageRun) -> None:
            self.tell(run)
            told(run)

        return ImagePipeline(
            repository=self.repository,
            files=self.files,
            calls=self.calls,
            open_models=self._models_of,
            told=tell,
        )

    def tell(self, run: ImageRun) -> None:
        """A change of a run was stored."""
        for listener in self.listeners:
            listener(run.run_id)

    async def _models_of(self, run: ImageRun) -> RunModels:
        asked = run.request
        await self.models.load(asked.image_model, asked.judge_model)
        return self.models.of(asked.image_model, asked.judge_model, asked.text_model)


def open_files(location: str) -> ImageFiles:
    """Picture files at a path or URL; the caller closes them."""
    if "://" in location:
        return storage.ObjectImageFiles(location)
    return storage.LocalImageFiles(Path(location).expanduser())
