"""Burnish makes prompts and agents measurably better, cheaper and safer to change."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from burnish import optimizers
    from burnish.bootstrap.api import (
        compress,
        evaluate,
        evaluate_async,
        optimize,
        optimize_async,
        work,
    )
    from burnish.bootstrap.compressions import CompressionResult, compress_async
    from burnish.bootstrap.dspy_programs import from_dspy, to_dspy
    from burnish.bootstrap.evaluation_result import EvaluationResult
    from burnish.bootstrap.optimization_result import OptimizationResult
    from burnish.bootstrap.prompted_functions import from_function
    from burnish.bootstrap.specs import AgentSpec as Agent
    from burnish.bootstrap.specs import SuiteSpec as Suite
    from burnish.bootstrap.weakincentives import MailboxRuns, WeakincentivesPrompt
    from burnish.bootstrap.worker import work_async
    from burnish.domain import (
        AgentOutput,
        Budget,
        BurnishError,
        CandidateProposal,
        Configuration,
        ConflictError,
        ExperimentContext,
        InvariantError,
        Item,
        ModelRequest,
        ModelResponse,
        OptimizerState,
        Purpose,
        RunContext,
        Score,
        SearchSpace,
        Spending,
        StopDecision,
        StopReason,
        TrialResult,
        UnavailableError,
        Usage,
        UsageError,
        current_experiment,
    )
    from burnish.optimizers.compress_apply import apply_modifications
    from burnish.optimizers.compress_report import with_modifications

__version__ = "0.1.0"

# Loaded on first use, so that `import burnish` and `burnish --help` stay instant.
_HOMES = {
    "CompressionResult": ("burnish.bootstrap.compressions", "CompressionResult"),
    "apply_modifications": ("burnish.optimizers.compress_apply", "apply_modifications"),
    "with_modifications": ("burnish.optimizers.compress_report", "with_modifications"),
    "compress": ("burnish.bootstrap.api", "compress"),
    "compress_async": ("burnish.bootstrap.compressions", "compress_async"),
    "from_dspy": ("burnish.bootstrap.dspy_programs", "from_dspy"),
    "to_dspy": ("burnish.bootstrap.dspy_programs", "to_dspy"),
    "from_function": ("burnish.bootstrap.prompted_functions", "from_function"),
    "Agent": ("burnish.bootstrap.specs", "AgentSpec"),
    "Suite": ("burnish.bootstrap.specs", "SuiteSpec"),
    "EvaluationResult": ("burnish.bootstrap.evaluation_result", "EvaluationResult"),
    "evaluate": ("burnish.bootstrap.api", "evaluate"),
    "evaluate_async": ("burnish.bootstrap.api", "evaluate_async"),
    "optimize": ("burnish.bootstrap.api", "optimize"),
    "optimize_async": ("burnish.bootstrap.api", "optimize_async"),
    "work": ("burnish.bootstrap.api", "work"),
    "work_async": ("burnish.bootstrap.worker", "work_async"),
    "MailboxRuns": ("burnish.bootstrap.weakincentives", "MailboxRuns"),
    "WeakincentivesPrompt": ("burnish.bootstrap.weakincentives", "WeakincentivesPrompt"),
    "OptimizationResult": ("burnish.bootstrap.optimization_result", "OptimizationResult"),
    **{
        name: ("burnish.domain", name)
        for name in (
            "AgentOutput",
            "Budget",
            "BurnishError",
            "CandidateProposal",
            "Configuration",
            "ConflictError",
            "ExperimentContext",
            "InvariantError",
            "Item",
            "ModelRequest",
            "ModelResponse",
            "OptimizerState",
            "Purpose",
            "RunContext",
            "Score",
            "SearchSpace",
            "Spending",
            "StopDecision",
            "StopReason",
            "TrialResult",
            "UnavailableError",
            "Usage",
            "UsageError",
            "current_experiment",
        )
    },
}

__all__ = [
    "Agent",
    "AgentOutput",
    "Budget",
    "BurnishError",
    "CandidateProposal",
    "CompressionResult",
    "Configuration",
    "ConflictError",
    "EvaluationResult",
    "ExperimentContext",
    "InvariantError",
    "Item",
    "MailboxRuns",
    "ModelRequest",
    "ModelResponse",
    "OptimizationResult",
    "OptimizerState",
    "Purpose",
    "RunContext",
    "Score",
    "SearchSpace",
    "Spending",
    "StopDecision",
    "StopReason",
    "Suite",
    "TrialResult",
    "UnavailableError",
    "Usage",
    "UsageError",
    "WeakincentivesPrompt",
    "apply_modifications",
    "compress",
    "compress_async",
    "current_experiment",
    "evaluate",
    "evaluate_async",
    "from_dspy",
    "from_function",
    "optimize",
    "optimize_async",
    "optimizers",
    "to_dspy",
    "with_modifications",
    "work",
    "work_async",
]


def __getattr__(name: str) -> Any:
    if name == "optimizers":
        return import_module("burnish.optimizers")
    if name not in _HOMES:
        raise AttributeError(f"module 'burnish' has no attribute {name!r}")
    module, attribute = _HOMES[name]
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
