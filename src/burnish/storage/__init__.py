"""SQLAlchemy repositories and migrations; rows never leave this folder."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from burnish.support.garbage import without_garbage_collection

if TYPE_CHECKING:
    from burnish.storage.engine.database import Database
    from burnish.storage.experiments.call_cache import SqlCallCache, SqlToolCalls
    from burnish.storage.experiments.datasets import SqlDatasetPages, SqlDatasetRepository
    from burnish.storage.experiments.model_batches import SqlBatchRecords
    from burnish.storage.experiments.repository import SqlExperimentRepository
    from burnish.storage.images.bucket_files import ObjectImageFiles
    from burnish.storage.images.local_files import LocalImageFiles
    from burnish.storage.images.queue import SqlImageJobs
    from burnish.storage.images.repository import SqlImageRepository
    from burnish.storage.jobs.queues import SqlEvaluationJobs, SqlRunJobs
    from burnish.storage.labels.repository import SqlLabels
    from burnish.storage.opik.mirrors import SqlMirrorBook
    from burnish.storage.opik.records import SqlOpikRecords
    from burnish.storage.optimizations.events import SqlEventFeed, database_listener
    from burnish.storage.optimizations.insights import SqlRunInsights
    from burnish.storage.optimizations.pages import SqlOptimizationPages
    from burnish.storage.optimizations.repository import SqlOptimizationRepository
    from burnish.storage.overrides import SqlOverlayStore
    from burnish.storage.registry.agents import SqlAgentRepository
    from burnish.storage.registry.objects import SqlObjectRepository
    from burnish.storage.registry.optimizer_runs import SqlOptimizerRunRepository
    from burnish.storage.registry.removals import SqlRemovals

# Loaded on first use: a command reads with two or three of them, and help with none.
_HOMES = {
    "Database": "burnish.storage.engine.database",
    "LocalImageFiles": "burnish.storage.images.local_files",
    "ObjectImageFiles": "burnish.storage.images.bucket_files",
    "SqlAgentRepository": "burnish.storage.registry.agents",
    "SqlBatchRecords": "burnish.storage.experiments.model_batches",
    "SqlCallCache": "burnish.storage.experiments.call_cache",
    "SqlDatasetPages": "burnish.storage.experiments.datasets",
    "SqlDatasetRepository": "burnish.storage.experiments.datasets",
    "SqlEvaluationJobs": "burnish.storage.jobs.queues",
    "SqlEventFeed": "burnish.storage.optimizations.events",
    "SqlExperimentRepository": "burnish.storage.experiments.repository",
    "SqlImageJobs": "burnish.storage.images.queue",
    "SqlImageRepository": "burnish.storage.images.repository",
    "SqlLabels": "burnish.storage.labels.repository",
    "SqlMirrorBook": "burnish.storage.opik.mirrors",
    "SqlObjectRepository": "burnish.storage.registry.objects",
    "SqlOpikRecords": "burnish.storage.opik.records",
    "SqlOptimizationPages": "burnish.storage.optimizations.pages",
    "SqlOptimizationRepository": "burnish.storage.optimizations.repository",
    "SqlOptimizerRunRepository": "burnish.storage.registry.optimizer_runs",
    "SqlOverlayStore": "burnish.storage.overrides",
    "SqlRemovals": "burnish.storage.registry.removals",
    "SqlRunInsights": "burnish.storage.optimizations.insights",
    "SqlRunJobs": "burnish.storage.jobs.queues",
    "SqlToolCalls": "burnish.storage.experiments.call_cache",
    "database_listener": "burnish.storage.optimizations.events",
}

__all__ = [
    "Database",
    "LocalImageFiles",
    "ObjectImageFiles",
    "SqlAgentRepository",
    "SqlBatchRecords",
    "SqlCallCache",
    "SqlDatasetPages",
    "SqlDatasetRepository",
    "SqlEvaluationJobs",
    "SqlEventFeed",
    "SqlExperimentRepository",
    "SqlImageJobs",
    "SqlImageRepository",
    "SqlLabels",
    "SqlMirrorBook",
    "SqlObjectRepository",
    "SqlOpikRecords",
    "SqlOptimizationPages",
    "SqlOptimizationRepository",
    "SqlOptimizerRunRepository",
    "SqlOverlayStore",
    "SqlRemovals",
    "SqlRunInsights",
    "SqlRunJobs",
    "SqlToolCalls",
    "database_listener",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'burnish.storage' has no attribute {name!r}")
    with without_garbage_collection():
        return getattr(import_module(_HOMES[name]), name)
