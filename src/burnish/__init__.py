"""Burnish makes prompts and agents measurably better, cheaper and safer to change."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from burnish import optimizers
    from burnish.app.agents.active import ActiveConfiguration, active, active_async
    from burnish.app.api import (
        compress,
        evaluate,
        evaluate_async,
        optimize,
        optimize_async,
        work,
    )
    from burnish.app.compress.compressions import CompressionResult, compress_async
    from burnish.app.evaluate.judge_checks import check_judge, check_judge_async
    from burnish.app.evaluate.project_tests import assert_no_regression
    from burnish.app.evaluate.result import EvaluationResult
    from burnish.app.optimize.result import OptimizationResult
    from burnish.app.stored_results import load, load_async
    from burnish.app.worker.worker import work_async
    from burnish.config.specs import AgentSpec as Agent
    from burnish.config.specs import SuiteSpec as Suite
    from burnish.domain import (
        AgentOutput,
        Budget,
        BurnishError,
        Candidate,
        CandidateProposal,
        Configuration,
        ConflictError,
        ErrorKind,
        Event,
        EventType,
        ExperimentContext,
        ExperimentStatus,
        ExperimentType,
        InvariantError,
        Item,
        ItemError,
        ItemResult,
        Lease,
        ModelRequest,
        ModelResponse,
        OptimizationRecord,
        OptimizationRepository,
        OptimizationStatus,
        Optimizer,
        OptimizerState,
        Proposed,
        Purpose,
        Rejection,
        RunContext,
        Score,
        SearchSpace,
        Spending,
        StepCandidate,
        StopDecision,
        StopReason,
        TrialHistory,
        TrialResult,
        TrialSummary,
        UnavailableError,
        Usage,
        UsageError,
        current_experiment,
    )
    from burnish.evaluation.judging.check import JudgeReport, PanelReport
    from burnish.evaluation.pairwise import bradley_terry
    from burnish.integrations.dspy.programs import from_dspy, to_dspy
    from burnish.integrations.frameworks.langgraph import from_langgraph
    from burnish.integrations.frameworks.openai_agents import from_openai_agents
    from burnish.integrations.frameworks.pydantic_ai import from_pydantic_ai
    from burnish.integrations.functions import from_function
    from burnish.integrations.tracking import to_mlflow, to_wandb
    from burnish.integrations.weakincentives import MailboxRuns, WeakincentivesPrompt
    from burnish.optimization.experiments.adapter import (
        ExperimentAdapter,
        ExperimentRequest,
        RawExperimentResults,
        TriggeredExperiment,
    )
    from burnish.optimizers.compress.report import apply_modifications, with_modifications

__version__ = "0.1.0"

# Loaded on first use, so that `import burnish` and `burnish --help` stay instant. Names that are
# not listed here are of the domain.
_HOMES = {
    "ActiveConfiguration": "app.agents.active.ActiveConfiguration",
    "Agent": "config.specs.AgentSpec",
    "CompressionResult": "app.compress.compressions.CompressionResult",
    "EvaluationResult": "app.evaluate.result.EvaluationResult",
    "ExperimentAdapter": "optimization.experiments.adapter.ExperimentAdapter",
    "ExperimentRequest": "optimization.experiments.adapter.ExperimentRequest",
    "JudgeReport": "evaluation.judging.check.JudgeReport",
    "MailboxRuns": "integrations.weakincentives.MailboxRuns",
    "OptimizationResult": "app.optimize.result.OptimizationResult",
    "PanelReport": "evaluation.judging.check.PanelReport",
    "RawExperimentResults": "optimization.experiments.adapter.RawExperimentResults",
    "Suite": "config.specs.SuiteSpec",
    "TriggeredExperiment": "optimization.experiments.adapter.TriggeredExperiment",
    "WeakincentivesPrompt": "integrations.weakincentives.WeakincentivesPrompt",
    "active": "app.agents.active.active",
    "active_async": "app.agents.active.active_async",
    "apply_modifications": "optimizers.compress.report.apply_modifications",
    "assert_no_regression": "app.evaluate.project_tests.assert_no_regression",
    "bradley_terry": "evaluation.pairwise.bradley_terry",
    "check_judge": "app.evaluate.judge_checks.check_judge",
    "check_judge_async": "app.evaluate.judge_checks.check_judge_async",
    "compress": "app.api.compress",
    "compress_async": "app.compress.compressions.compress_async",
    "evaluate": "app.api.evaluate",
    "evaluate_async": "app.api.evaluate_async",
    "from_dspy": "integrations.dspy.programs.from_dspy",
    "from_function": "integrations.functions.from_function",
    "from_langgraph": "integrations.frameworks.langgraph.from_langgraph",
    "from_openai_agents": "integrations.frameworks.openai_agents.from_openai_agents",
    "from_pydantic_ai": "integrations.frameworks.pydantic_ai.from_pydantic_ai",
    "load": "app.stored_results.load",
    "load_async": "app.stored_results.load_async",
    "optimize": "app.api.optimize",
    "optimize_async": "app.api.optimize_async",
    "to_dspy": "integrations.dspy.programs.to_dspy",
    "to_mlflow": "integrations.tracking.to_mlflow",
    "to_wandb": "integrations.tracking.to_wandb",
    "with_modifications": "optimizers.compress.report.with_modifications",
    "work": "app.api.work",
    "work_async": "app.worker.worker.work_async",
}

__all__ = [
    "ActiveConfiguration",
    "Agent",
    "AgentOutput",
    "Budget",
    "BurnishError",
    "Candidate",
    "CandidateProposal",
    "CompressionResult",
    "Configuration",
    "ConflictError",
    "ErrorKind",
    "EvaluationResult",
    "Event",
    "EventType",
    "ExperimentAdapter",
    "ExperimentContext",
    "ExperimentRequest",
    "ExperimentStatus",
    "ExperimentType",
    "InvariantError",
    "Item",
    "ItemError",
    "ItemResult",
    "JudgeReport",
    "Lease",
    "MailboxRuns",
    "ModelRequest",
    "ModelResponse",
    "OptimizationRecord",
    "OptimizationRepository",
    "OptimizationResult",
    "OptimizationStatus",
    "Optimizer",
    "OptimizerState",
    "PanelReport",
    "Proposed",
    "Purpose",
    "RawExperimentResults",
    "Rejection",
    "RunContext",
    "Score",
    "SearchSpace",
    "Spending",
    "StepCandidate",
    "StopDecision",
    "StopReason",
    "Suite",
    "TrialHistory",
    "TrialResult",
    "TrialSummary",
    "TriggeredExperiment",
    "UnavailableError",
    "Usage",
    "UsageError",
    "WeakincentivesPrompt",
    "active",
    "active_async",
    "apply_modifications",
    "assert_no_regression",
    "bradley_terry",
    "check_judge",
    "check_judge_async",
    "compress",
    "compress_async",
    "current_experiment",
    "evaluate",
    "evaluate_async",
    "from_dspy",
    "from_function",
    "from_langgraph",
    "from_openai_agents",
    "from_pydantic_ai",
    "load",
    "load_async",
    "optimize",
    "optimize_async",
    "optimizers",
    "to_dspy",
    "to_mlflow",
    "to_wandb",
    "with_modifications",
    "work",
    "work_async",
]


def __getattr__(name: str) -> Any:
    if name == "optimizers":
        return import_module("burnish.optimizers")
    if name not in __all__:
        raise AttributeError(f"module 'burnish' has no attribute {name!r}")
    module, _, attribute = _HOMES.get(name, f"domain.{name}").rpartition(".")
    return getattr(import_module(f"burnish.{module}"), attribute)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
