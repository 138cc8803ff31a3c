"""Facts of a result as trackers keep them: parameters, metrics, a series by trial, the winner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from burnish.app.compress.compressions import CompressionResult
from burnish.app.evaluate.result import EvaluationResult
from burnish.app.optimize.result import OptimizationResult
from burnish.domain import Configuration, UsageError

Result = EvaluationResult | OptimizationResult | CompressionResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is logged. `series` has the metrics of each trial by its number; unknown ones are absent."""

    id: str
    name: str
    parameters: Mapping[str, str | int | float]
    metrics: Mapping[str, float]
    configuration: Configuration
    html: str
    series: Sequence[tuple[int, Mapping[str, float]]] = ()


def facts_of(result: Result) -> Facts:
    """Of any result; the metrics are named as `--json` names them."""
    if isinstance(result, EvaluationResult):
        return _of_evaluation(result)
    if isinstance(result, OptimizationResult):
        return _of_optimization(result)
    if isinstance(result, CompressionResult):
        report, facts = result.report, _of_optimization(result.result)
        sizes = {"tokens_before": report.tokens_before, "tokens_after": report.tokens_after}
        return replace(facts, metrics={**facts.metrics, **sizes})
    raise UsageError(
        what="the result cannot be logged",
        why=f"it is a {type(result).__name__}",
        fix="give what burnish.evaluate, optimize, compress or load returns",
        code="invalid_request",
    )


def _of_evaluation(result: EvaluationResult) -> Facts:
    experiment, document = result.experiment, result.to_json()
    names = ("score", "pass_rate", "items", "failed", "errors", "cached", "avg_latency_ms")
    return Facts(
        id=experiment.id,
        name=experiment.name,
        parameters=_known(
            {
                "experiment_id": experiment.id,
                "agent": experiment.agent_name,
                "suite": experiment.suite_name,
                "model": experiment.metadata.get("model"),
                "status": experiment.status.value,
                "configuration_hash": experiment.configuration.hash,
            }
        ),
        metrics=_known({**{name: document[name] for name in names}, **_spent(result.usage)}),
        configuration=experiment.configuration,
        html=result.to_html(),
    )


def _of_optimization(result: OptimizationResult) -> Facts:
    record, document = result.record, result.document
    improvement = document["improvement"] or {}
    compared = {f"improvement_{name}": improvement.get(name) for name in ("delta", "ci_low")}
    compared |= {"improvement_ci_high": improvement.get("ci_high")}
    compared |= {name: improvement.get(name) for name in ("p_value", "fixed", "broken")}
    first, best = document["baseline"] or {}, document["best"] or {}
    winner = Configuration.of(best.get("configuration") or {})
    test = {f"test_{name}": value for name, value in (result.test or {}).items()}
    return Facts(
        id=record.id,
        name=record.name,
        parameters=_known(
            {
                "optimization_id": record.id,
                "agent": record.agent_name,
                "suite": record.suite_name,
                "optimizer": record.optimizer_name,
                "objective": record.objective_name,
                "seed": record.seed,
                "status": record.status.value,
                "stop_reason": record.stop_reason,
                "best_candidate_id": best.get("candidate_id"),
                "configuration_hash": winner.hash if best else None,
            }
        ),
        metrics=_numbers(
            {
                "baseline_score": first.get("score"),
                "best_score": best.get("score"),
                "trials": document["trials"],
                "evaluations": result.evaluations,
                **test,
                **compared,
                **_spent(result.usage),
            }
        ),
        configuration=winner,
        html=result.to_html(),
        series=_series(result),
    )


def _series(result: OptimizationResult) -> list[tuple[int, Mapping[str, float]]]:
    """Score by trial, and the best of those that ran to their end so far."""
    found: list[tuple[int, Mapping[str, float]]] = []
    best: float | None = None
    for row in result.rows:
        if row["status"] == "completed" and row["score"] is not None:
            best = row["score"] if best is None else max(best, row["score"])
        values = {"trial_score": row["score"], "trial_best_score": best}
        values |= {"trial_cost_usd": row["cost_usd"], "trial_tokens": row["avg_tokens"]}
        found.append((row["number"], _numbers(values)))
    return found


def _spent(usage: Mapping[str, Any]) -> dict[str, Any]:
    names = ("calls", "input_tokens", "output_tokens", "cost_usd")
    return {name: usage.get(name) for name in names}


def _known(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _numbers(values: Mapping[str, Any]) -> dict[str, float]:
    return {name: float(one) for name, one in values.items() if isinstance(one, int | float)}
