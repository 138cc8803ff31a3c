"""SQLAlchemy repositories and migrations; rows never leave this folder."""

from burnish.storage.agents import SqlAgentRepository
from burnish.storage.cache import SqlCallCache
from burnish.storage.counted_experiments import CountedExperimentRepository
from burnish.storage.database import Database
from burnish.storage.dataset_pages import SqlDatasetPages
from burnish.storage.datasets import SqlDatasetRepository
from burnish.storage.evaluation_queue import SqlEvaluationQueue
from burnish.storage.event_feed import SqlEventFeed
from burnish.storage.experiments import SqlExperimentRepository
from burnish.storage.image_files import LocalImageFiles
from burnish.storage.image_objects import ObjectImageFiles
from burnish.storage.image_repository import SqlImageRepository
from burnish.storage.objects import SqlObjectRepository
from burnish.storage.opik_mirrors import SqlMirrorBook
from burnish.storage.opik_records import SqlOpikRecords
from burnish.storage.optimization_pages import SqlOptimizationPages
from burnish.storage.optimizations import SqlOptimizationRepository
from burnish.storage.optimizer_runs import SqlOptimizerRunRepository
from burnish.storage.overlays import SqlOverlayStore
from burnish.storage.postgres_bell import database_bell
from burnish.storage.run_insights import SqlRunInsights
from burnish.storage.run_queue import SqlRunQueue

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
