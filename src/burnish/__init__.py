"""Burnish makes prompts and agents measurably better, cheaper and safer to change."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from burnish import optimizers
    from burnish.app.api import (
        compress,
        evaluate,
        evaluate_async,
        optimize,
        optimize_async,
        work,
    )
    from burnish.app.compress.compressions import CompressionResult, compress_async
    from burnish.app.evaluate.result import EvaluationResult
    from burnish.app.optimize.result import OptimizationResult
    from burnish.app.worker.worker import work_async
    from burnish.config.specs import AgentSpec as Agent
    from burnish.config.specs import SuiteSpec as Suite
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
    from burnish.integrations.dspy.programs import from_dspy, to_dspy
    from burnish.integrations.functions import from_function
    from burnish.integrations.weakincentives import MailboxRuns, WeakincentivesPrompt
    from burnish.optimizers.compress.report import apply_modifications, with_modifications

__version__ = "0.1.0"

# Loaded on first use, so that `import burnish` and `burnish --help` stay instant.
_HOMES = {
    "CompressionResult": ("burnish.app.compress.compressions", "CompressionResult"),
    "apply_modifications": ("burnish.optimizers.compress.report", "apply_modifications"),
    "with_modifications": ("burnish.optimizers.compress.report", "with_modifications"),
    "compress": ("burnish.app.api", "compress"),
    "compress_async": ("burnish.app.compress.compressions", "compress_async"),
    "from_dspy": ("burnish.integrations.dspy.programs", "from_dspy"),
    "to_dspy": ("burnish.integrations.dspy.programs", "to_dspy"),
    "from_function": ("burnish.integrations.functions", "from_function"),
    "Agent": ("burnish.config.specs", "AgentSpec"),
    "Suite": ("burnish.config.specs", "SuiteSpec"),
    "EvaluationResult": ("burnish.app.evaluate.result", "EvaluationResult"),
    "evaluate": ("burnish.app.api", "evaluate"),
    "evaluate_async": ("burnish.app.api", "evaluate_async"),
    "optimize": ("burnish.app.api", "optimize"),
    "optimize_async": ("burnish.app.api", "optimize_async"),
    "work": ("burnish.app.api", "work"),
    "work_async": ("burnish.app.worker.worker", "work_async"),
    "MailboxRuns": ("burnish.integrations.weakincentives", "MailboxRuns"),
    "WeakincentivesPrompt": ("burnish.integrations.weakincentives", "WeakincentivesPrompt"),
    "OptimizationResult": ("burnish.app.optimize.result", "OptimizationResult"),
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
