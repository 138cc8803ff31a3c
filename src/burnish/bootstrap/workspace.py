"""Everything a run needs, opened together and closed together."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

from burnish.bootstrap.model_shelf import ModelShelf
from burnish.domain import (
    AgentRepository,
    CallCache,
    DatasetRepository,
    ExperimentRepository,
    Model,
    OptimizationRepository,
    OverlayStore,
)
from burnish.storage import (
    Database,
    SqlAgentRepository,
    SqlCallCache,
    SqlDatasetRepository,
    SqlExperimentRepository,
    SqlOptimizationRepository,
    SqlOverlayStore,
)

STATE_FOLDER = ".burnish"


def database_location(folder: Path, given: str | None = None) -> str:
    """The flag, else `BURNISH_DB`, else the SQLite file beside the config."""
    return given or os.environ.get("BURNISH_DB") or str(folder / STATE_FOLDER / "burnish.db")


class Workspace:
    """Repositories and models of one run. Models are opened once a name and shared."""

    def __init__(self, database: Database, models: Mapping[str, Any]) -> None:
        self.experiments: ExperimentRepository = SqlExperimentRepository(database)
        self.datasets: DatasetRepository = SqlDatasetRepository(database)
        self.optimizations: OptimizationRepository = SqlOptimizationRepository(database)
        self.overlays: OverlayStore = SqlOverlayStore(database)
        self.agents: AgentRepository = SqlAgentRepository(database)
        self.call_cache: CallCache = SqlCallCache(database)
        self.models = ModelShelf(models, self.call_cache)

    @classmethod
    @contextlib.asynccontextmanager
    async def open(
        cls, location: str, *, models: Mapping[str, Any] | None = None
    ) -> AsyncIterator[Workspace]:
        """A workspace on the database at a path or URL, made and migrated when needed."""
        database = await Database.open(location)
        workspace = cls(database, models or {})
        try:
            yield workspace
        finally:
            await workspace.models.close()
            await database.close()

    def model(self, given: str | Model | Callable[[str], str]) -> Model:
        """The model of a name, or a wrapped callable; calls are remembered where that is on."""
        return self.models.model(given)
