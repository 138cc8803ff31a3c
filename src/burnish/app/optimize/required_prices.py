"""Prices that a run cannot do without: whoever weighs or limits dollars has to know them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from burnish.app.optimize.cost_estimate import price_of, unknown_price
from burnish.app.optimize.model_choices import answering_models
from burnish.config.search import SearchSpec
from burnish.config.served_project import models_in
from burnish.config.settings import model_settings
from burnish.config.specs import AgentSpec, SuiteSpec
from burnish.domain import Budget, Usage, UsageError
from burnish.evaluation.conversations.policy import UserPolicy
from burnish.evaluation.refine.policy import RefinePolicy
from burnish.optimization.objective import unmeasured


def require_price(
    search: SearchSpec,
    budget: Budget,
    agent: AgentSpec,
    suite: SuiteSpec,
    tables: Mapping[str, Any],
) -> None:
    """Refuse, before anything is paid, to weigh or to limit a cost that nobody knows.

    Models that are named are looked up; what others report shows with the baseline.
    """
    measures, models = search.objective.measures, answering_models(agent, search)
    for model in models:
        if "latency" in measures and _is_batched(model, tables):
            raise unmeasured(
                f"answers of {model} come in batches, which do not tell how long each took",
                "leave batch out, or name tokens or cost in place of latency",
            )
        if "cost" in measures and _is_unpriced(model, tables):
            raise unmeasured(
                unknown_price(model),
                "set input_price and output_price in [models], or name tokens in place of cost",
            )
    refine = RefinePolicy.of(suite.refine)
    refiner = refine.model if refine is not None and refine.trials else None
    optimizer = {**search.settings, "space": {"model": models}}
    require_cost_limit(budget, agent, suite, tables, refiner=refiner, optimizer=optimizer)


def require_cost_limit(
    budget: Budget,
    agent: AgentSpec,
    suite: SuiteSpec,
    tables: Mapping[str, Any],
    *,
    refiner: Any,
    optimizer: Mapping[str, Any] | None = None,
) -> None:
    """Refuse to limit the cost of models whose price nobody knows."""
    if budget.max_cost_usd is None:
        return
    user = UserPolicy.of(suite.user)
    paid = {
        "model": answering_models(agent),
        "scorers": list(suite.scorers),
        "refine_model": refiner,
        "user_model": None if user is None else user.model,
        "optimizer": optimizer or {},
    }
    for _, model in models_in(paid):
        if _is_unpriced(model, tables):
            raise UsageError(
                what=f"a limit of {budget.max_cost_usd:g} US dollars cannot be kept",
                why=unknown_price(model),
                fix=f'set input_price and output_price in [models."{model}"], or limit '
                "evaluations, calls or tokens in place of dollars",
                code="unknown_price",
            )


def _is_unpriced(model: object, tables: Mapping[str, Any]) -> bool:
    some = Usage(calls=1, input_tokens=1000, output_tokens=1000)
    return isinstance(model, str) and price_of(model, some, tables) is None


def _is_batched(model: object, tables: Mapping[str, Any]) -> bool:
    return isinstance(model, str) and model_settings(tables, model).batch
