"""What `[images]` of `burnish.toml` says, also where the file has no agent or is not there at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from burnish.app.wiring import STATE_FOLDER
from burnish.config.schema import ImagesTable, Settings
from burnish.config.settings import explained, from_environment, read_tables

_FILES = "images"


class _ImageFile(BaseModel):
    """A `burnish.toml` of which only these tables count; the others are for other commands."""

    model_config = ConfigDict(extra="ignore", strict=True)

    images: ImagesTable = Field(default_factory=ImagesTable)
    models: dict[str, Any] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageSettings:
    """The table with what belongs to it: the tables of models, and the folder that it stands in."""

    table: ImagesTable = field(default_factory=ImagesTable)
    models: Mapping[str, Any] = field(default_factory=dict)
    folder: Path = field(default_factory=Path.cwd)

    @classmethod
    def load(cls, config: Path) -> ImageSettings:
        """From a file, with `BURNISH_IMAGES_*` over it; a file that is not there sets nothing."""
        values = read_tables(config) if config.exists() else {}
        over = {
            name.partition(".")[2]: value
            for name, value in from_environment().items()
            if name.startswith("images.")
        }
        table = values.get("images", {})
        if isinstance(table, dict):
            values["images"] = {**table, **over}
        try:
            read = _ImageFile.model_validate(values)
        except ValidationError as error:
            raise explained(error, config) from None
        return cls(table=read.images, models=read.models, folder=config.absolute().parent)

    @classmethod
    def of(cls, settings: Settings) -> ImageSettings:
        """From a whole file that was read already."""
        return cls(table=settings.images, models=settings.models, folder=settings.folder)

    def files_location(self, database: str) -> str:
        """Where pictures are: as the table says, else beside the database, else below the folder."""
        given = self.table.files
        if given is not None:
            return given if "://" in given else str(self.folder / given)
        scheme, separator, rest = database.partition("://")
        path = rest[1:] if separator and scheme.startswith("sqlite") else database
        if separator and path == database:
            return str(self.folder / STATE_FOLDER / _FILES)
        return str(Path(path).absolute().parent / _FILES)
