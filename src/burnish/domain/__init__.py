"""What exists: frozen values, protocols, pure rules and errors."""

from burnish.domain.agents import Agent, Scorer
from burnish.domain.budget import Budget
from burnish.domain.canonical import canonical_hash, canonical_json, exact_hash, text_hash
from burnish.domain.clock import Clock, SystemClock
from burnish.domain.configuration import Configuration
from burnish.domain.errors import (
    BurnishError,
    ConflictError,
    InvariantError,
    UnavailableError,
    UsageError,
)
from burnish.domain.experiments import (
    ErrorKind,
    Experiment,
    ExperimentStatus,
    ExperimentSummary,
    ExperimentType,
    ItemError,
    ItemResult,
)
from burnish.domain.items import SPLITS, AgentOutput, Item, Score
from burnish.domain.json_values import Json, require_json
from burnish.domain.models import CallCache, Message, Model, ModelRequest, ModelResponse
from burnish.domain.placeholders import placeholders, render
from burnish.domain.repositories import (
    CacheScope,
    DatasetRecord,
    DatasetRepository,
    ExperimentRepository,
)
from burnish.domain.usage import Purpose, Spending, Usage

__all__ = [
    "SPLITS",
    "Agent",
    "AgentOutput",
    "Budget",
    "BurnishError",
    "CacheScope",
    "CallCache",
    "Clock",
    "Configuration",
    "ConflictError",
    "DatasetRecord",
    "DatasetRepository",
    "ErrorKind",
    "Experiment",
    "ExperimentRepository",
    "ExperimentStatus",
    "ExperimentSummary",
    "ExperimentType",
    "InvariantError",
    "Item",
    "ItemError",
    "ItemResult",
    "Json",
    "Message",
    "Model",
    "ModelRequest",
    "ModelResponse",
    "Purpose",
    "Score",
    "Scorer",
    "Spending",
    "SystemClock",
    "UnavailableError",
    "Usage",
    "UsageError",
    "canonical_hash",
    "canonical_json",
    "exact_hash",
    "placeholders",
    "render",
    "require_json",
    "text_hash",
]
