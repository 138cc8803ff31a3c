"""What an optimization would run and cost; nothing is called and nothing is stored."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from burnish.app.optimize.cost_estimate import CostEstimate, estimate_cost, require_price
from burnish.app.optimize.creation import prepared, settings_of
from burnish.app.optimize.planned_work import PlannedWork, require_room
from burnish.app.wiring import Workspace
from burnish.config.schema import Settings
from burnish.config.search import SearchSpec
from burnish.config.served_project import RunRequest, ServedProject, suite_name
from burnish.domain import Budget


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """A run before it is one. Upper bounds are None where nothing limits them."""

    settings: Settings
    search: SearchSpec
    budget: Budget
    work: PlannedWork
    price: CostEstimate

    @property
    def max_calls(self) -> int | None:
        """The most model calls that evaluations can make."""
        each, most = self.price.calls, self.work.most
        return None if each is None or most is None else each * most

    @property
    def max_cost_usd(self) -> float | None:
        """The most that evaluations can cost."""
        free = self.price.cost_usd == 0
        most = 0.0 if free else self.price.times(self.work.most)
        limit = self.budget.max_cost_usd
        if limit is None:
            return most
        return limit if most is None else min(most, limit)

    def to_json(self) -> dict[str, Any]:
        """As `optimize --dry-run --json` prints it."""
        search = self.search
        return {
            "dry_run": True,
            "agent": self.settings.agent.name,
            "optimizer": search.name,
            "seed": search.seed,
            "racing": search.racing_in_effect.value,
            "objective": search.objective.to_json(),
            "notes": list(search.notes),
            "splits": dict(self.work.splits),
            "budget": self.budget.to_json(),
            "evaluations": self.work.to_json(),
            "each_evaluation": self.price.to_json(),
            "max_calls": self.max_calls,
            "max_cost_usd": self.max_cost_usd,
        }


async def plan_request(
    workspace: Workspace, project: ServedProject, request: RunRequest
) -> tuple[RunPlan, str]:
    """The plan of what a request asks for, checked as starting it would, and the suite's name."""
    settings = await settings_of(workspace, project, request)
    async with prepared(workspace, settings) as optimization:
        search = SearchSpec.of(settings.optimizer)
        require_price(search.objective, settings.agent.model, settings.models)
        budget = settings.budget_spec()

        def plan() -> RunPlan:
            require_room(optimization.suite, budget)
            return RunPlan(
                settings=settings,
                search=search,
                budget=budget,
                work=PlannedWork.of(optimization.suite, budget),
                price=estimate_cost(optimization.agent, optimization.suite, settings.models),
            )

        return await asyncio.to_thread(plan), suite_name(settings)
