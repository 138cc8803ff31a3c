"""Everything a run needs, opened together and closed together."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from burnish import storage
from burnish.app.model_pool import ModelShelf
from burnish.app.settled_memory import settled_memory
from burnish.domain import (
    AgentRepository,
    CallCache,
    DatasetRepository,
    ExperimentRepository,
    ItemResult,
    Model,
    OptimizationRepository,
    OverlayStore,
)
from burnish.domain.configured_objects import ObjectRepository
from burnish.domain.dataset_pages import DatasetPages
from burnish.domain.event_feed import EventFeed
from burnish.domain.image_parts import ImageRepository
from burnish.domain.mirrors import MirrorBook
from burnish.domain.opik_records import OpikRecords
from burnish.domain.optimizer_runs import OptimizerRunRepository
from burnish.domain.read_models import OptimizationPages
from burnish.domain.run_insights import RunInsights
from burnish.jobs.event_listeners import announcing

STATE_FOLDER = ".burnish"


def database_location(folder: Path, given: str | None = None) -> str:
    """The flag, else `BURNISH_DB`, else the SQLite file beside the config."""
    return given or os.environ.get("BURNISH_DB") or str(folder / STATE_FOLDER / "burnish.db")


class Workspace:
    """Repositories and models of one run. Models are opened once a name and shared.

    Each of `listeners` is called with the id of an optimization when events of it were stored here.
    """

    def __init__(
        self,
        database: storage.Database,
        models: Mapping[str, Any],
        listeners: list[Callable[[str], None]] | None = None,
    ) -> None:
        self._database = database
        self.listeners: list[Callable[[str], None]] = [] if listeners is None else listeners
        self.experiments: ExperimentRepository = storage.SqlExperimentRepository(database)
        self.datasets: DatasetRepository = storage.SqlDatasetRepository(database)
        self.optimizations: OptimizationRepository = storage.SqlOptimizationRepository(
            database, self._tell
        )
        self.pages: OptimizationPages = storage.SqlOptimizationPages(database)
        self.insights: RunInsights = storage.SqlRunInsights(database)
        self.feed: EventFeed = storage.SqlEventFeed(database)
        self.opik: OpikRecords = storage.SqlOpikRecords(database)
        self.mirrors: MirrorBook = storage.SqlMirrorBook(database)
        self.run_jobs = storage.SqlRunJobs(database)
        self.objects: ObjectRepository = storage.SqlObjectRepository(database)
        self.optimizer_runs: OptimizerRunRepository = storage.SqlOptimizerRunRepository(database)
        self.dataset_pages: DatasetPages = storage.SqlDatasetPages(database)
        self.evaluation_jobs = storage.SqlEvaluationJobs(database)
        self.image_jobs = storage.SqlImageJobs(database)
        self.images: ImageRepository = storage.SqlImageRepository(database)
        self.overlays: OverlayStore = storage.SqlOverlayStore(database)
        self.agents: AgentRepository = storage.SqlAgentRepository(database)
        self.call_cache: CallCache = storage.SqlCallCache(database)
        self.models = ModelShelf(models, self.call_cache)

    @classmethod
    @contextlib.asynccontextmanager
    async def open(
        cls, location: str, *, models: Mapping[str, Any] | None = None
    ) -> AsyncIterator[Workspace]:
        """A workspace on the database at a path or URL, made and migrated when needed."""
        async with contextlib.AsyncExitStack() as stack:
            database = await stack.enter_async_context(await storage.Database.open(location))
            listener = await stack.enter_async_context(announcing())
            stack.enter_context(settled_memory())
            workspace = cls(database, models or {}, [listener] if listener else [])
            stack.push_async_callback(workspace.models.close)
            yield workspace

    def beside(
        self,
        models: Mapping[str, Any],
        *,
        saved: Callable[[Sequence[ItemResult]], None],
    ) -> Workspace:
        """Another one on the same database with models of its own, to be closed by themselves.

        `saved` is called with item results once they are stored.
        """
        other = Workspace(self._database, models, self.listeners)
        other.experiments = storage.SqlExperimentRepository(self._database, saved)
        return other

    def model(self, given: str | Model | Callable[[str], str]) -> Model:
        """The model of a name, or a wrapped callable; calls are remembered where that is on."""
        return self.models.model(given)

    def _tell(self, optimization_id: str) -> None:
        for listener in self.listeners:
            listener(optimization_id)
