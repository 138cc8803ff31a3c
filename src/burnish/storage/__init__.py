"""SQLAlchemy repositories and migrations; rows never leave this folder."""

from burnish.storage.agents import SqlAgentRepository
from burnish.storage.cache import SqlCallCache
from burnish.storage.database import Database
from burnish.storage.datasets import SqlDatasetRepository
from burnish.storage.experiments import SqlExperimentRepository
from burnish.storage.optimizations import SqlOptimizationRepository
from burnish.storage.overlays import SqlOverlayStore

__all__ = [
    "Database",
    "SqlAgentRepository",
    "SqlCallCache",
    "SqlDatasetRepository",
    "SqlExperimentRepository",
    "SqlOptimizationRepository",
    "SqlOverlayStore",
]
