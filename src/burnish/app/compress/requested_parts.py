"""What a request by message means for settings, suite and report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from burnish.app.compress.report import CompressionReport
from burnish.config.schema import BudgetTable, Settings
from burnish.config.specs import AgentSpec, SuiteSpec
from burnish.domain import Configuration, Item
from burnish.evaluation.datasets import Dataset
from burnish.overrides import PromptDescriptor
from burnish.runtime.loops import OptimizationReport, OptimizeRequest


def settings_for(settings: Settings, request: OptimizeRequest, spec: AgentSpec) -> Settings:
    """The config file's settings as they are for this request: what other workers build from."""
    baseline = Configuration.of(spec.configuration)
    optimizer = {"name": "compress", "seed": request.seed, **request.settings}
    limits = {} if request.budget is None else request.budget.to_json()
    agent = settings.agent.model_copy(
        update={
            "sections": dict(baseline.sections),
            "parameters": dict(baseline.parameters),
            "examples": [dict(one) for one in baseline.examples],
        }
    )
    changed = settings.model_copy(
        update={
            "agent": agent,
            "suite": settings.suite.model_copy(update={"repeats": request.eval_runs}),
            "optimizer": optimizer,
            "budget": BudgetTable(**limits),
        }
    )
    return changed.placed_in(settings.folder)


def suite_for(
    suite: SuiteSpec, request: OptimizeRequest, items: Sequence[Item] | None
) -> SuiteSpec:
    """The worker's suite on the request's rows, as often as the request wants each run."""
    repeated = replace(suite, repeats=request.eval_runs)
    if items is None:
        return repeated
    return replace(
        repeated,
        dataset=Dataset.of([_row(item) for item in items], name="request"),
        split=_split(suite.split, items),
        name=suite.name or "request",
    )


def as_message(report: CompressionReport, descriptor: PromptDescriptor) -> OptimizationReport:
    """The report with hashes of the prompt's own texts, as an overrides store wants them."""
    hashes = descriptor.hashes
    return OptimizationReport(
        experiment_id=report.optimization_id,
        prompt_ns=descriptor.namespace,
        prompt_key=descriptor.key,
        baseline_pass_rate=report.baseline_pass_rate,
        candidate_pass_rate=report.candidate_pass_rate,
        modifications=tuple(
            replace(one, original_hash=hashes.get(one.section_path, one.original_hash))
            for one in report.modifications
        ),
        rejected=report.rejected,
        tokens_before=report.tokens_before,
        tokens_after=report.tokens_after,
        regressions=report.regressions,
        evaluations=report.evaluations,
        stop_message=report.stop_message,
        held_out=None if report.held_out is None else dict(report.held_out),
    )


def _row(item: Item) -> dict[str, Any]:
    own = {"id": item.id} if item.split is None else {"id": item.id, "split": item.split}
    return {**item.data, **own}


def _split(
    policy: Mapping[str, float] | str | None, items: Sequence[Item]
) -> Mapping[str, float] | str | None:
    """The rows' own splits where they have some, else the suite's shares."""
    if any(item.split is not None for item in items):
        return "field"
    return policy if isinstance(policy, Mapping) else None
