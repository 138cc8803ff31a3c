"""What an optimization would run and cost; nothing is called and nothing is stored."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from burnish.app.optimize.run_plan import (
    CostEstimate,
    PlannedWork,
    RunPlan,
    estimate_cost,
    require_price,
    require_room,
)
from burnish.app.wiring import ModelPool, build_agent, build_suite, check_fit
from burnish.cli.console import Streams
from burnish.cli.display.rows import print_rows
from burnish.cli.wording import count, harmless, money
from burnish.config.schema import Settings
from burnish.config.search import SearchSpec, build_optimizer_of

_LIMITS = {
    "max_trials": "trials",
    "max_evaluations": "evaluations",
    "max_calls": "calls",
    "max_tokens": "tokens",
    "max_cost_usd": "dollars",
    "max_seconds": "seconds",
}


async def show_plan(streams: Streams, settings: Settings) -> None:
    """Check everything as a run would, and print what it would take."""
    models = ModelPool(settings.models)
    try:
        suite = build_suite(settings.suite_spec(), models.model).for_trials()
        agent = build_agent(settings.agent_spec(), models.model)
        check_fit(agent, suite)
        search = SearchSpec.of(settings.optimizer)
        build_optimizer_of(search)
        require_price(search.objective, settings.agent.model, settings.models)
        budget = settings.budget_spec()
        require_room(suite, budget)
        work = PlannedWork.of(suite, budget)
        price = estimate_cost(agent, suite, settings.models)
        await agent.close()
    finally:
        await models.close()
    plan = RunPlan(settings=settings, search=search, budget=budget, work=work, price=price)
    if streams.json_output:
        streams.print_document(plan.to_json())
    else:
        _print(streams.console, plan)


def _print(console: Console, plan: RunPlan) -> None:
    work, price = plan.work, plan.price
    title = f"{plan.search.name} of {plan.settings.agent.name}"
    console.print(Text.assemble((harmless(title), "bold"), ("  dry run: nothing is called", "dim")))
    console.print()
    limits = [f"{value:,} {_LIMITS[name]}" for name, value in plan.budget.to_json().items()]
    most = plan.max_cost_usd
    cost = f"at most about {money(most)}" if most is not None else _unknown_cost(work, price)
    rows = [(label, Text(words)) for label, words in _rows(plan)]
    rows += [("budget", Text(", ".join(limits))), ("cost", Text(cost, style="bold"))]
    print_rows(console, rows)
    console.print()
    console.print(
        Text(
            "What earlier runs have answered is not paid again; racing ends weak trials early.",
            style="dim",
        ),
        soft_wrap=not console.is_terminal,
    )


def _rows(plan: RunPlan) -> list[tuple[str, str]]:
    search, work, price = plan.search, plan.work, plan.price
    splits = ", ".join(f"{number:,} {name}" for name, number in work.splits.items())
    held_out = (
        f"{work.confirmation:,} at the end, on held-out items"
        if work.confirmation
        else "none held out: the result will not be confirmed"
    )
    most = "no limit" if work.most is None else f"at most {count(work.most, 'evaluation')}"
    rows = [
        ("items", splits),
        ("baseline", count(work.each_trial, "evaluation")),
        (
            "each trial",
            f"up to {count(work.each_trial, 'evaluation')}; racing {search.racing_in_effect}",
        ),
        ("confirmation", held_out),
        ("in all", most),
    ]
    if search.objective.measures:
        rows.insert(0, ("objective", search.objective.in_words()))
    rows += [("note", note) for note in search.notes]
    calls = plan.max_calls
    if price.calls is not None:
        each = (
            f"{count(price.calls, 'call')}, about {price.input_tokens:,.0f} tokens in "
            f"and {price.output_tokens:,.0f} out"
        )
        rows.append(("each evaluation", each))
        rows.append(("calls", "no limit" if calls is None else f"at most {calls:,}"))
    return rows


def _unknown_cost(work: PlannedWork, price: CostEstimate) -> str:
    if price.cost_usd is None:
        return f"unknown: {price.why}"
    if price.cost_usd == 0:
        return money(0.0)
    each = money(price.cost_usd * 1000)
    return f"about {each} a thousand evaluations, and no limit; give --max-cost or --max-trials"
