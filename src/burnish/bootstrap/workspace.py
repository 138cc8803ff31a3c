"""Everything a run needs, opened together and closed together."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

from burnish.bootstrap.settings import model_settings
from burnish.domain import (
    AgentRepository,
    CallCache,
    DatasetRepository,
    ExperimentRepository,
    Model,
    OptimizationRepository,
    OverlayStore,
)
from burnish.models import as_model
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
        self._models_table = models
        self._models: dict[int | str, Model] = {}

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
            await workspace._close_models()
            await database.close()

    def model(self, given: str | Model | Callable[[str], str]) -> Model:
        """The model of a name, or a wrapped callable; calls are remembered where that is on."""
        key = given if isinstance(given, str) else id(given)
        if key not in self._models:
            settings = model_settings(self._models_table, given) if isinstance(given, str) else None
            self._models[key] = as_model(given, settings, cache=self.call_cache)
        return self._models[key]

    async def _close_models(self) -> None:
        for model in self._models.values():
            await model.close()
