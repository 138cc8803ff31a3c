"""Everything a run needs, opened together and closed together."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

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
from burnish.domain.evaluation_queue import EvaluationQueue
from burnish.domain.event_feed import EventFeed
from burnish.domain.image_parts import ImageRepository
from burnish.domain.mirrors import MirrorBook
from burnish.domain.opik_records import OpikRecords
from burnish.domain.optimizer_runs import OptimizerRunRepository
from burnish.domain.read_models import OptimizationPages
from burnish.domain.run_insights import RunInsights
from burnish.domain.run_queue import RunQueue
from burnish.jobs.event_listeners import announcing
from burnish.storage import (
    CountedExperimentRepository,
    Database,
    SqlAgentRepository,
    SqlCallCache,
    SqlDatasetPages,
    SqlDatasetRepository,
    SqlEvaluationQueue,
    SqlEventFeed,
    SqlExperimentRepository,
    SqlImageRepository,
    SqlMirrorBook,
    SqlObjectRepository,
    SqlOpikRecords,
    SqlOptimizationPages,
    SqlOptimizationRepository,
    SqlOptimizerRunRepository,
    SqlOverlayStore,
    SqlRunInsights,
    SqlRunQueue,
)

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
        database: Database,
        models: Mapping[str, Any],
        listeners: list[Callable[[str], None]] | None = None,
    ) -> None:
        self._database = database
        self.listeners: list[Callable[[str], None]] = [] if listeners is None else listeners
        self.experiments: ExperimentRepository = SqlExperimentRepository(database)
        self.datasets: DatasetRepository = SqlDatasetRepository(database)
        self.optimizations: OptimizationRepository = SqlOptimizationRepository(database, self._tell)
        self.pages: OptimizationPages = SqlOptimizationPages(database)
        self.insights: RunInsights = SqlRunInsights(database)
        self.feed: EventFeed = SqlEventFeed(database)
        self.opik: OpikRecords = SqlOpikRecords(database)
        self.mirrors: MirrorBook = SqlMirrorBook(database)
        self.queue: RunQueue = SqlRunQueue(database)
        self.objects: ObjectRepository = SqlObjectRepository(database)
        self.optimizer_runs: OptimizerRunRepository = SqlOptimizerRunRepository(database)
        self.dataset_pages: DatasetPages = SqlDatasetPages(database)
        self.evaluations: EvaluationQueue = SqlEvaluationQueue(database)
        self.images: ImageRepository = SqlImageRepository(database)
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
        async with contextlib.AsyncExitStack() as stack:
            database = await stack.enter_async_context(await Database.open(location))
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
        other.experiments = CountedExperimentRepository(self._database, saved)
        return other

    def model(self, given: str | Model | Callable[[str], str]) -> Model:
        """The model of a name, or a wrapped callable; calls are remembered where that is on."""
        return self.models.model(given)

    def _tell(self, optimization_id: str) -> None:
        for listener in self.listeners:
            listener(optimization_id)
