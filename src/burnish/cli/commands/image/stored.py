"""Image runs of the place where a command works: also an empty folder without a config."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from burnish.app.images.runs import ImageRuns
from burnish.app.images.settings import ImageSettings
from burnish.app.wiring import Workspace
from burnish.cli.project_location import Place
from burnish.domain import UnavailableError, UsageError

_SHEETS = "sheets"


def image_settings(place: Place) -> ImageSettings:
    """What the config says; one that was named has to be there."""
    if place.config_given is not None and not place.config.exists():
        raise UsageError(
            what=f"{place.config} cannot be read",
            why="there is no such file",
            fix="leave --config out to work without one, or name the file",
            code="missing_config",
        )
    return ImageSettings.load(place.config)


@contextlib.asynccontextmanager
async def open_images(place: Place) -> AsyncIterator[ImageRuns]:
    """Everything that a run needs; the database is made when it is not there."""
    settings = image_settings(place)
    async with (
        Workspace.open(place.database, models=settings.models) as workspace,
        ImageRuns.open(workspace, place.database, settings) as images,
    ):
        yield images


@contextlib.asynccontextmanager
async def read_images(place: Place) -> AsyncIterator[ImageRuns]:
    """Runs that exist; reading never makes a database."""
    if not place.has_database:
        raise UsageError(
            what="nothing is stored here yet",
            why=f"{place.database} does not exist",
            fix="run `burnish image run --prompt …` first, or name the place with --config or --db",
            code="not_found",
        )
    async with open_images(place) as images:
        yield images


def sheet_path(place: Place, run_id: str, given: Path | None) -> Path:
    """Where a run's contact sheet goes: as was said, else beside the state."""
    if given is not None:
        return given
    beside = ImageSettings(folder=place.config.absolute().parent).files_location(place.database)
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
