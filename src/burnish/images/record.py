"""Record of an image run as it is written: its changes, its bill and its fallbacks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from burnish.domain import BurnishError, Spending, Usage, UsageError
from burnish.domain.images.protocols import ImageRepository, LeasedRun
from burnish.domain.images.runs import ImageCommit, ImageRun, Variant

Edit = Callable[[ImageRun], ImageRun]


class ImagePurpose(StrEnum):
    """Whose work a call was."""

    PLAN = "plan"
    GENERATE = "generate"
    JUDGE = "judge"
    SUGGEST = "suggest"


def spent(run: ImageRun, purpose: ImagePurpose, usage: Usage) -> ImageRun:
    """The run with a call more on its bill."""
    if not usage.calls:
        return run
    return replace(run, spending=run.spending + Spending({purpose.value: usage}))


def degraded(run: ImageRun, reason: str) -> ImageRun:
    """The run with a fallback more, in words."""
    return replace(run, degraded=True, degradations=(*run.degradations, reason))


class CancelAskedError(Exception):
    """Somebody asked for the run's cancellation."""


@dataclass(frozen=True, slots=True)
class _Change:
    edit: Edit
    commits: Sequence[ImageCommit]
    stored: asyncio.Future[None]


class RunRecord:
    """The run as stored. Changes that come while one is being written are written together.

    `unsaved` is the error of a write that failed for no fault of what was written: then nothing more
    can be said on the record.
    """

    def __init__(
        self, leased: LeasedRun, repository: ImageRepository, told: Callable[[ImageRun], None]
    ) -> None:
        self.run = leased.run
        self.token = leased.token
        self.unsaved: BurnishError | None = None
        self._repository = repository
        self._told = told
        self._writing = asyncio.Lock()
        self._pending: list[_Change] = []

    async def change(self, edit: Edit, *commits: ImageCommit) -> None:
        """Store the run as edited, with commits. Raises CancelAskedError once that was asked for,
        after the change was stored."""
        change = _Change(edit, commits, asyncio.get_running_loop().create_future())
        self._pending.append(change)
        async with self._writing:
            if not change.stored.done():
                await self._write()
        change.stored.result()

    async def change_variant(
        self, variant: Variant, edit: Edit | None = None, *commits: ImageCommit
    ) -> None:
        """Put a changed variant in the place of its former self."""

        def replaced(run: ImageRun) -> ImageRun:
            variants = tuple(
                variant if one.variant_id == variant.variant_id else one for one in run.variants
            )
            changed = replace(run, variants=variants)
            return changed if edit is None else edit(changed)

        await self.change(replaced, *commits)

    async def _write(self) -> None:
        batch, self._pending = self._pending, []
        try:
            run = self.run
            for change in batch:
                run = change.edit(run)
            commits = [commit for change in batch for commit in change.commits]
            await self._save(run, commits)
        except BaseException as error:
            if isinstance(error, BurnishError) and not isinstance(error, UsageError):
                self.unsaved = error
            _settle(batch, error)
            raise
        asked = self.run.cancel_requested and not self.run.status.ended
        _settle(batch, CancelAskedError() if asked else None)

    async def _save(self, run: ImageRun, commits: Sequence[ImageCommit]) -> None:
        """Not to be interrupted: half-way through, nobody could say whether it was stored."""
        saving = asyncio.ensure_future(
            self._repository.save_run(run, token=self.token, commits=commits)
        )
        try:
            await asyncio.shield(saving)
        finally:
            await asyncio.wait({saving})
            if not saving.cancelled() and saving.exception() is None:
                self.run = saving.result()
                self._told(self.run)


def _settle(batch: Sequence[_Change], error: BaseException | None) -> None:
    for change in batch:
        if error is None:
            change.stored.set_result(None)
        elif isinstance(error, Exception):
            change.stored.set_exception(error)
        else:
            change.stored.cancel()
        if error is not None and not change.stored.cancelled():
            change.stored.exception()  # Whoever waited may be gone: then nobody misses it.
