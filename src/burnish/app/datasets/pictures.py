"""Pictures of the served project's dataset, by their hash, for whoever looks at an item."""

from __future__ import annotations

import asyncio
import base64

from burnish.config.served_project import ServedProject
from burnish.domain import BurnishError, UsageError
from burnish.domain.experiments.pictures import PictureCell, picture_cells
from burnish.evaluation.datasets import Dataset
from burnish.evaluation.datasets.pictures import PictureFolder


class SuitePictures:
    """Finds pictures that the configured suite's dataset names, and no other file."""

    def __init__(self, project: ServedProject) -> None:
        self._project = project
        self._folder = PictureFolder((), None)
        self._named: dict[str, PictureCell] = {}

    async def picture(self, sha256: str) -> tuple[bytes, str]:
        """Its bytes and its media type; UsageError where the dataset names none, or not any more."""
        return await asyncio.to_thread(self._find, sha256)

    def _find(self, sha256: str) -> tuple[bytes, str]:
        try:
            if sha256 not in self._named:
                self._named = self._read()
            picture = self._folder.picture(self._named[sha256])
        except (KeyError, BurnishError) as error:
            if isinstance(error, BurnishError):  # Something changed: what was known holds no more.
                self._named, self._folder = {}, PictureFolder((), None)
            raise UsageError(
                what=f"there is no picture {sha256[:16]}…",
                why="the dataset of this project names no file with that content now",
                fix="serve the project in the folder that the run was made in",
                code="not_found",
            ) from error
        return base64.b64decode(picture.data), picture.media_type

    def _read(self) -> dict[str, PictureCell]:
        spec = self._project.settings().suite_spec()
        if not spec.pictures or isinstance(spec.dataset, Dataset):
            return {}
        folder = PictureFolder(tuple(spec.pictures), spec.picture_folder)
        if folder != self._folder:  # It remembers files that it has read.
            self._folder = folder
        rows = Dataset.of(spec.dataset).with_pictures(self._folder)
        return {
            cell.sha256: cell
            for item in rows.items()
            for name in folder.columns
            for cell in picture_cells(item.data.get(name))
        }
