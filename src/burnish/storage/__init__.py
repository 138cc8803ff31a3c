"""SQLAlchemy repositories and migrations; rows never leave this folder."""

from burnish.storage.engine.database import Database
from burnish.storage.experiments.call_cache import SqlCallCache
from burnish.storage.experiments.counted import CountedExperimentRepository
from burnish.storage.experiments.dataset_pages import SqlDatasetPages
from burnish.storage.experiments.datasets import SqlDatasetRepository
from burnish.storage.experiments.repository import SqlExperimentRepository
from burnish.storage.images.files import LocalImageFiles
from burnish.storage.images.objects import ObjectImageFiles
from burnish.storage.images.repository import SqlImageRepository
from burnish.storage.jobs.evaluation_queue import SqlEvaluationQueue
from burnish.storage.jobs.postgres_listener import database_bell
from burnish.storage.jobs.run_queue import SqlRunQueue
from burnish.storage.opik.mirrors import SqlMirrorBook
from burnish.storage.opik.records import SqlOpikRecords
from burnish.storage.optimizations.event_feed import SqlEventFeed
from burnish.storage.optimizations.insights import SqlRunInsights
from burnish.storage.optimizations.pages import SqlOptimizationPages
from burnish.storage.optimizations.repository import SqlOptimizationRepository
from burnish.storage.overrides.overlays import SqlOverlayStore
from burnish.storage.registry.agents import SqlAgentRepository
from burnish.storage.registry.objects import SqlObjectRepository
from burnish.storage.registry.optimizer_runs import SqlOptimizerRunRepository

__all__ = [
    "CountedExperimentRepository",
    "Database",
    "LocalImageFiles",
    "ObjectImageFiles",
    "SqlAgentRepository",
    "SqlCallCache",
    "SqlDatasetPages",
    "SqlDatasetRepository",
    "SqlEvaluationQueue",
    "SqlEventFeed",
    "SqlExperimentRepository",
    "SqlImageRepository",
    "SqlMirrorBook",
    "SqlObjectRepository",
    "SqlOpikRecords",
    "SqlOptimizationPages",
    "SqlOptimizationRepository",
    "SqlOptimizerRunRepository",
    "SqlOverlayStore",
    "SqlRunInsights",
    "SqlRunQueue",
    "database_bell",
]
