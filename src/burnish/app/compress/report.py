"""Report of a compression, read from what the optimization left in the database."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from burnish.app.optimize.cost_estimate import price_of_input
from burnish.app.optimize.optimizations import load_result
from burnish.app.optimize.result import OptimizationResult
from burnish.app.optimize.run_spec import stored_settings
from burnish.app.wiring import Workspace
from burnish.config.search import SearchSpec, build_optimizer_of
from burnish.config.served_project import ServedProject
from burnish.domain import (
    Configuration,
    ConflictError,
    OptimizationRecord,
    OptimizerState,
    Purpose,
    Spending,
    Usage,
    UsageError,
)
from burnish.optimization.trial_index import History
from burnish.optimizers.compress.examples import part_tokens, parts_of
from burnish.optimizers.compress.optimizer import Compress
from burnish.optimizers.compress.report import (
    CompressionOutcome,
    modifications_of,
    refutations_of,
    rejections_of,
    told_of,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionTokens:
    """One section's size before and after; the examples together are `@examples`."""

    path: str
    before: int
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Savings:
    """What the shorter prompt saves. Dollars are None where the price is not known.

    `cached_share` of the agent's tokens came from the provider's prompt cache in this run, and saved
    ones count with its price as far; None where nothing was read.
    """

    tokens_per_call: int
    usd_per_call: float | None
    cached_share: float | None = None
    calls_per_month: int | None = None
    tokens_per_month: int | None = None
    usd_per_month: float | None = None
    why_unknown: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionReport(CompressionOutcome):
    """A compression from the prompt as it was to the shortest that regresses nothing."""

    optimization_id: str
    status: str
    stop_reason: str | None
    agent: str
    configuration: Configuration
    sections: tuple[SectionTokens, ...]
    gate_items: int
    eval_runs: int
    savings: Savings
    confirmation: str
    usage: Mapping[str, Any] = field(default_factory=dict)

    @property
    def tokens_before(self) -> int:
        """Of all sections and examples."""
        return sum(one.before for one in self.sections)

    @property
    def tokens_after(self) -> int:
        """Of all sections and examples."""
        return sum(one.after for one in self.sections)

    @property
    def worth_keeping(self) -> bool:
        """Whether there is something to tag or apply."""
        return self.has_modifications and not self.refuted and not self.regressions

    def to_json(self) -> dict[str, Any]:
        """What `burnish compress --json` prints."""
        before = self.tokens_before
        return {
            "optimization_id": self.optimization_id,
            "status": self.status,
            "stop_reason": self.stop_reason,
            "stop_message": self.stop_message,
            "agent": self.agent,
            "tokens": {
                "before": before,
                "after": self.tokens_after,
                "saved": self.total_token_reduction,
                "saved_share": self.total_token_reduction / before if before else 0.0,
                "sections": [asdict(one) for one in self.sections],
            },
            "modifications": [one.to_json() for one in self.modifications],
            "rejected": [one.to_json() for one in self.rejected],
            "untested": [one.to_json() for one in self.untested],
            "gate_items": self.gate_items,
            "eval_runs": self.eval_runs,
            "regressions": len(self.regressions),
            "regressed_items": list(self.regressions),
            "baseline_pass_rate": self.baseline_pass_rate,
            "candidate_pass_rate": self.candidate_pass_rate,
            "evaluations": self.evaluations,
            "savings": asdict(self.savings),
            "held_out": None if self.held_out is None else dict(self.held_out),
            "refuted": self.refuted,
            "confirmation": self.confirmation,
            "configuration": self.configuration.to_json(),
            "usage": dict(self.usage),
        }


async def read_report(
    workspace: Workspace,
    result: OptimizationResult,
    optimizer: Compress,
    *,
    model: str | None = None,
    calls_per_month: int | None = None,
) -> CompressionReport:
    """The search replayed over its stored results: nothing is run."""
    record = result.record
    baseline, best = result.baseline.configuration, result.best.configuration
    results = await workspace.optimizations.list_trials(record.id, mini_batches=True)
    history = History(
        experiments=workspace.experiments,
        items={},
        candidates=result.candidates,
        results=results,
    )
    state = OptimizerState.of((record.checkpoint or {})["optimizer_state"])
    solution = await asyncio.to_thread(optimizer.solution, state, history, best)
    verdicts = await asyncio.to_thread(optimizer.verdicts, state, history)
    rates = {one.candidate_id: one.summary.pass_rate for one in result.trials if one.counts}
    before = rates.get(result.baseline.candidate_id, 0.0)
    after = rates.get(result.best.candidate_id, 0.0)
    sections = tuple(
        SectionTokens(path=path, before=part_tokens(baseline, path), after=part_tokens(best, path))
        for path in parts_of(baseline)
    )
    saved = sum(one.before - one.after for one in sections)
    return CompressionReport(
        optimization_id=record.id,
        status=result.status.value,
        stop_reason=result.stop_reason,
        stop_message=result.document["stop_message"],
        agent=record.agent_name,
        configuration=best,
        sections=sections,
        modifications=modifications_of(
            baseline, best, solution, baseline_pass_rate=before, candidate_pass_rate=after
        ),
        rejected=refutations_of(
            (result.candidates[one].configuration for one in result.passed_over), best
        )
        + rejections_of(solution, optimizer.refused(state)),
        untested=told_of(optimizer.untested(state), best),
        gate_items=len(verdicts.gate),
        eval_runs=verdicts.eval_runs,
        regressions=verdicts.regressions(best.hash),
        baseline_pass_rate=before,
        candidate_pass_rate=after,
        evaluations=result.evaluations,
        savings=_savings(
            saved,
            best.model or model,
            calls_per_month,
            workspace.models.tables,
            cached_share=_cached_share(result),
        ),
        held_out=_held_out(result),
        confirmation=result.document["confirmation"],
        usage=result.usage,
    )


def _held_out(result: OptimizationResult) -> dict[str, Any] | None:
    if result.test is None:
        return None
    improvement = result.document["improvement"] or {}
    bounds = {name: improvement.get(name) for name in ("delta", "ci_low", "ci_high", "p_value")}
    return {**result.test, **bounds}


def _cached_share(result: OptimizationResult) -> float | None:
    """Of what the agent read in the run; the answers of our own cache read nothing."""
    spent = Spending.of(result.usage["by_purpose"]).by_purpose
    return spent.get(Purpose.AGENT.value, Usage()).cached_share


def _savings(
    tokens: int,
    model: str | None,
    calls: int | None,
    tables: Mapping[str, Any],
    *,
    cached_share: float | None,
) -> Savings:
    share = cached_share or 0.0
    price = None if model is None else price_of_input(model, tokens, tables, cached_share=share)
    why = None
    if price is None:
        why = (
            "the agent's model is not known from here"
            if model is None
            else f"the price of {model} is not known"
        )
    return Savings(
        tokens_per_call=tokens,
        usd_per_call=price,
        cached_share=cached_share,
        calls_per_month=calls,
        tokens_per_month=None if calls is None else tokens * calls,
        usd_per_month=None if calls is None or price is None else price * calls,
        why_unknown=why,
    )


async def read_compression(
    workspace: Workspace,
    project: ServedProject,
    optimization_id: str,
    *,
    calls_per_month: int | None = None,
) -> tuple[CompressionReport, Configuration]:
    """The report, and the configuration that it began with."""
    record = await workspace.optimizations.get_optimization(optimization_id)
    _require_compression(record)
    settings = stored_settings(record, project.folder)
    optimizer = await asyncio.to_thread(build_optimizer_of, SearchSpec.of(settings.optimizer))
    assert isinstance(optimizer, Compress)
    result = await load_result(workspace, optimization_id)
    # With the models' settings, which have their prices; nothing is called.
    own = workspace.beside(settings.models, saved=lambda _: None)
    try:
        report = await read_report(
            own,
            result,
            optimizer,
            model=settings.agent.model,
            calls_per_month=calls_per_month,
        )
    finally:
        await own.models.close()
    return report, result.baseline.configuration


def _require_compression(record: OptimizationRecord) -> None:
    if record.optimizer_name != Compress.name:
        raise UsageError(
            what=f"optimization {record.id} has no report of a compression",
            why=f"it was run by {record.optimizer_name}",
            fix="take one whose optimizer is compress; every run has a `/report`",
            code="not_a_compression",
        )
    if "settings" not in record.spec:
        raise UsageError(
            what=f"the report of compression {record.id} cannot be read here",
            why="it was started from Python, with settings that only that program has",
            fix="use the report that burnish.compress(…) returns",
            code="started_from_python",
        )
    searched = (record.checkpoint or {}).get("optimizer_state") is not None
    if record.result is None or not searched or record.result.get("baseline") is None:
        raise ConflictError(
            what=f"compression {record.id} has no report",
            why=f"it is {record.status.value}"
            if record.result is None
            else "it ended before its search began",
            fix="wait for its end, or resume it",
            code="no_result",
        )
