"""What exists: frozen values, protocols, pure rules and errors."""

from burnish.domain.agent_versions import AgentRepository, AgentVersion
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
from burnish.domain.experiment_context import (
    DEFAULT_TAG,
    ExperimentContext,
    current_experiment,
    experiment_scope,
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
from burnish.domain.jobs import Lease
from burnish.domain.json_values import Json, require_json
from burnish.domain.models import CallCache, Message, Model, ModelRequest, ModelResponse
from burnish.domain.optimization import (
    Candidate,
    CandidateProposal,
    ModelUser,
    OptimizationStatus,
    Optimizer,
    OptimizerState,
    ReasonCode,
    RunContext,
    StopDecision,
    StopReason,
    TrialHistory,
    TrialResult,
    TrialSummary,
    WinnerChooser,
)
from burnish.domain.optimization_records import (
    Event,
    EventType,
    OptimizationRecord,
    OptimizationRepository,
    Rejection,
    StepCandidate,
)
from burnish.domain.overrides import Overlay, OverlayStore
from burnish.domain.placeholders import placeholders, render
from burnish.domain.refinement import AnswerChoice, Outcome, Refinement, Round, RoundEnd, RoundScore
from burnish.domain.repositories import (
    CacheScope,
    DatasetRecord,
    DatasetRepository,
    ExperimentRepository,
)
from burnish.domain.search_space import ParameterSpace, SearchSpace
from burnish.domain.usage import Purpose, Spending, Usage

__all__ = [
    "DEFAULT_TAG",
    "SPLITS",
    "Agent",
    "AgentOutput",
    "AgentRepository",
    "AgentVersion",
    "AnswerChoice",
    "Budget",
    "BurnishError",
    "CacheScope",
    "CallCache",
    "Candidate",
    "CandidateProposal",
    "Clock",
    "Configuration",
    "ConflictError",
    "DatasetRecord",
    "DatasetRepository",
    "ErrorKind",
    "Event",
    "EventType",
    "Experiment",
    "ExperimentContext",
    "ExperimentRepository",
    "ExperimentStatus",
    "ExperimentSummary",
    "ExperimentType",
    "InvariantError",
    "Item",
    "ItemError",
    "ItemResult",
    "Json",
    "Lease",
    "Message",
    "Model",
    "ModelRequest",
    "ModelResponse",
    "ModelUser",
    "OptimizationRecord",
    "OptimizationRepository",
    "OptimizationStatus",
    "Optimizer",
    "OptimizerState",
    "Outcome",
    "Overlay",
    "OverlayStore",
    "ParameterSpace",
    "Purpose",
    "ReasonCode",
    "Refinement",
    "Rejection",
    "Round",
    "RoundEnd",
    "RoundScore",
    "RunContext",
    "Score",
    "Scorer",
    "SearchSpace",
    "Spending",
    "StepCandidate",
    "StopDecision",
    "StopReason",
    "SystemClock",
    "TrialHistory",
    "TrialResult",
    "TrialSummary",
    "UnavailableError",
    "Usage",
    "UsageError",
    "WinnerChooser",
    "canonical_hash",
    "canonical_json",
    "current_experiment",
    "exact_hash",
    "experiment_scope",
    "placeholders",
    "render",
    "require_json",
    "text_hash",
]
