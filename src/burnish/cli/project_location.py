"""Project location: the config file and the database that a command works with."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from burnish.domain import UsageError

if TYPE_CHECKING:
    from burnish.app.wiring import Workspace
    from burnish.config.schema import Settings

_CONFIG_NAME = "burnish.toml"


@dataclass(frozen=True, slots=True)
class ProjectLocation:
    """What --config and --db say; given on the command itself or before it."""

    config: Path
    db: str | None = None
    config_given: Path | None = None

    @classmethod
    def of(cls, context: typer.Context, config: Path | None, db: str | None) -> ProjectLocation:
        """From a command's own options, else from those before the command."""
        before = context.find_root().params
        given = config or before.get("config")
        path = Path(given or _CONFIG_NAME).expanduser()
        file = path / _CONFIG_NAME if path.is_dir() else path
        return cls(file, db or before.get("db"), given)

    def settings(self, overrides: Mapping[str, Any] | None = None) -> Settings:
        """The checked config, with environment and overrides over it."""
        from burnish.config.settings import load_settings  # noqa: PLC0415

        return load_settings(self.config, overrides)

    @property
    def folder(self) -> Path:
        """The folder of the config, absolute."""
        return self.config.absolute().parent

    @property
    def database(self) -> str:
        """The database's path or URL."""
        from burnish.app.wiring import database_location  # noqa: PLC0415

        return database_location(self.folder, self.db)

    @property
    def has_database(self) -> bool:
        """Whether there is anything to read; a server is taken to be there."""
        from burnish.app.wiring import database_exists  # noqa: PLC0415

        return database_exists(self.database)

    @contextlib.asynccontextmanager
    async def read(self) -> AsyncIterator[Workspace]:
        """The workspace of experiments that exist; reading never makes a database."""
        from burnish.app.wiring import Workspace  # noqa: PLC0415

        if not self.has_database:
            raise UsageError(
                what="nothing is stored here yet",
                why=f"{self.database} does not exist",
                fix="run `burnish eval` or `burnish optimize` first, or name the place with "
                "--config or --db",
                code="not_found",
            )
        async with Workspace.open(self.database) as workspace:
            yield workspace

    def command(self, *words: str) -> str:
        """A command line that works in the same place."""
        given = ["-c", str(self.config_given)] if self.config_given else []
        # The address may hold a password, so it is named rather than repeated.
        address = ["--db", "URL" if "://" in self.db else self.db] if self.db else []
        return shlex.join(["burnish", *given, *address, *words])
