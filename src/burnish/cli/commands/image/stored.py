"""Image runs that are stored: opened, found by reference, their pictures written."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from burnish.app.images.runs import ImageRuns
from burnish.app.images.settings import ImageSettings
from burnish.app.references import LATEST
from burnish.app.wiring import Workspace
from burnish.cli.project_location import ProjectLocation
from burnish.domain import UnavailableError, UsageError
from burnish.domain.images.runs import ImageCommit, ImageRun

_SHEETS = "sheets"
_PAGE = 500
_LISTED = 5
_WHOLE_ID = 36


def image_settings(location: ProjectLocation) -> ImageSettings:
    """What the config says; one that was named has to be there."""
    if location.config_given is not None and not location.config.exists():
        raise UsageError(
            what=f"{location.config} cannot be read",
            why="there is no such file",
            fix="leave --config out to work without one, or name the file",
            code="missing_config",
        )
    return ImageSettings.load(location.config)


@contextlib.asynccontextmanager
async def open_images(location: ProjectLocation) -> AsyncIterator[ImageRuns]:
    """Everything that a run needs; the database is made when it is not there."""
    settings = image_settings(location)
    async with (
        Workspace.open(location.database, models=settings.models) as workspace,
        ImageRuns.open(workspace, location.database, settings) as images,
    ):
        yield images


@contextlib.asynccontextmanager
async def read_images(location: ProjectLocation) -> AsyncIterator[ImageRuns]:
    """Runs that exist; reading never makes a database."""
    if not location.has_database:
        raise UsageError(
            what="nothing is stored here yet",
            why=f"{location.database} does not exist",
            fix="run `burnish image run --prompt …` first, or name the place with --config or --db",
            code="not_found",
        )
    async with open_images(location) as images:
        yield images


def sheet_path(location: ProjectLocation, run_id: str, given: Path | None) -> Path:
    """Where a run's contact sheet goes: as was said, else beside the state."""
    if given is not None:
        return given
    beside = ImageSettings(folder=location.folder).files_location(location.database)
    return Path(beside) / _SHEETS / f"{run_id}.png"


def write_picture(path: Path, data: bytes) -> None:
    """Put a picture where somebody looks for it."""
    path = path.expanduser()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise UnavailableError(
            what=f"{path} cannot be written",
            why=error.strerror or str(error),
            fix="name another place; the run itself is stored",
            code="STORAGE_WRITE_FAILED",
        ) from error


async def resolve_run(images: ImageRuns, reference: str) -> ImageRun:
    """The one run that is meant; UsageError when there is none or more than one."""
    wanted = reference.strip().lower()
    if wanted == LATEST:
        page = await images.repository.runs(limit=1)
        if page.items:
            return page.items[0]
        raise _unknown("run", "there are no image runs yet", "run `burnish image run` first")
    found: list[ImageRun] = []
    async for one in _runs(images):
        if one.run_id == wanted:
            return one
        if wanted and (one.run_id.startswith(wanted) or one.run_id.endswith(wanted)):
            found.append(one)
    if len(found) != 1:
        raise _not_one("run", reference, [one.run_id for one in found])
    return found[0]


async def resolve_commit(images: ImageRuns, reference: str, project: str | None = None) -> str:
    """The id of the one commit that is meant, of a project or of all."""
    wanted = reference.strip().lower()
    if len(wanted) >= _WHOLE_ID:
        return wanted
    found: list[str] = []
    async for one in _commits(images, project):
        if one.commit_id == wanted:
            return wanted
        if wanted and (one.commit_id.startswith(wanted) or one.commit_id.endswith(wanted)):
            found.append(one.commit_id)
    if len(found) != 1:
        raise _not_one("commit", reference, found)
    return found[0]


async def _runs(images: ImageRuns) -> AsyncIterator[ImageRun]:
    after: Sequence[Any] | None = None
    while True:
        page = await images.repository.runs(limit=_PAGE, after=after)
        for one in page.items:
            yield one
        if page.next is None:
            return
        after = page.next


async def _commits(images: ImageRuns, project: str | None) -> AsyncIterator[ImageCommit]:
    projects = [project] if project is not None else [one async for one in _projects(images)]
    for name in projects:
        after: Sequence[Any] | None = None
        while True:
            page = await images.repository.commits(name, limit=_PAGE, after=after)
            for one in page.items:
                yield one
            if page.next is None:
                break
            after = page.next


async def _projects(images: ImageRuns) -> AsyncIterator[str]:
    after: Sequence[Any] | None = None
    while True:
        page = await images.repository.projects(limit=_PAGE, after=after)
        for one in page.items:
            yield one.project_id
        if page.next is None:
            return
        after = page.next


def _not_one(noun: str, reference: str, found: Sequence[str]) -> UsageError:
    if not found:
        return _unknown(
            noun,
            f"no id begins or ends with {reference!r}",
            "run `burnish image list` for all runs, `burnish image show ID` for their commits",
        )
    some = ", ".join(found[:_LISTED])
    more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
    why = f"{reference!r} could be {some}{more}"
    return _unknown(noun, why, "write more of the id", "ambiguous_reference")


def _unknown(noun: str, why: str, fix: str, code: str = "not_found") -> UsageError:
    return UsageError(what=f"the {noun} cannot be found", why=why, fix=fix, code=code)
