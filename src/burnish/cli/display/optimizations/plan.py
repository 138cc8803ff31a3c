"""What an optimization would run and cost; nothing is called and nothing is stored."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from burnish.app.optimize.cost_estimate import CostEstimate
from burnish.app.optimize.model_choices import chosen_models
from burnish.app.optimize.required_prices import require_price
from burnish.app.optimize.run_plan import RunPlan
from burnish.app.suite_fit import check_fit
from burnish.app.wiring import ModelPool, build_agent, build_suite
from burnish.cli.console import Streams
from burnish.cli.display.rows import print_rows
from burnish.cli.wording import harmless, money
from burnish.config.schema import Settings
from burnish.config.search import SearchSpec, build_optimizer_of
from burnish.config.served_project import models_in
from burnish.domain.wording import counted
from burnish.evaluation.power import detectable_words

_ASKING = "sub-agents are asked"
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
        agent_spec, suite_spec = settings.agent_spec(), settings.suite_spec()
        suite = build_suite(suite_spec, models.model).for_trials()
        agent = build_agent(agent_spec, models.model)
        check_fit(agent, suite)
        search, budget = SearchSpec.of(settings.optimizer), settings.budget_spec()
        chosen_models(search, agent)
        for _, name in models_in(search.settings):
            models.model(name)
        require_price(search, budget, agent_spec, suite_spec, settings.models)
        plan = RunPlan.of(settings, agent, suite, build_optimizer_of(search))
        await agent.close()
    finally:
        await models.close()
    if streams.json_output:
        streams.print_document(plan.to_json())
    else:
        _print(streams.console, plan)


def _print(console: Console, plan: RunPlan) -> None:
    title = f"{plan.search.name} of {plan.settings.agent.name}"
    console.print(Text.assemble((harmless(title), "bold"), ("  dry run: nothing is called", "dim")))
    console.print()
    limits = [f"{value:,} {_LIMITS[name]}" for name, value in plan.budget.to_json().items()]
    rows = [(label, Text(words)) for label, words in _rows(plan)]
    rows += [("budget", Text(", ".join(limits))), ("cost", Text(_cost(plan), style="bold"))]
    rows += [(label, Text(words)) for label, words in _by_purpose(plan)]
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
    search, work = plan.search, plan.work
    splits = ", ".join(f"{number:,} {name}" for name, number in work.splits.items())
    held = work.splits.get("test", 0)
    held_out = (
        f"{work.confirmation:,} at the end, on held-out items"
        if work.confirmation
        else "none held out: the result will not be confirmed"
    )
    in_all = "no limit" if work.about is None else f"about {counted(work.about, 'evaluation')}"
    if work.most is not None:
        in_all = f"at most {counted(work.most, 'evaluation')}"
    rows = [
        ("items", splits),
        ("baseline", counted(work.each_trial, "evaluation")),
        (
            "each trial",
            f"up to {counted(work.each_trial, 'evaluation')}; racing {search.racing_in_effect}",
        ),
        ("confirmation", held_out),
        *([("power", detectable_words(held, "held-out item"))] if held else []),
        ("in all", in_all),
    ]
    if work.max_trials is not None:
        rows.insert(2, ("trials", f"at most {work.max_trials:,}"))
    if search.objective.measures:
        rows.insert(0, ("objective", search.objective.in_words()))
    for place, one in enumerate(plan.chosen):
        rows.insert(place, ("then" if place else "chosen", f"{one.name}: {one.reason}"))
    rows += [("note", note) for note in plan.notes]
    return [*rows, *_calls(plan)]


def _calls(plan: RunPlan) -> list[tuple[str, str]]:
    each, asked, total = plan.each, plan.questions, plan.total
    rows = []
    if each.least.calls is not None:
        why = "as prompts grow and tools are called" if _has_tools(plan) else "as prompts grow"
        if each.most is None:
            why = f"and more as {_ASKING}, which nothing limits"
        rows.append(("each evaluation", f"{_span(each.least, each.most)}, {why}"))
    if asked is not None:
        often = f"{_span(asked.least, asked.most)}, from {plan.search.settings['model']}"
        unknown = "; how often it is asked is not known"
        rows.append(("optimizer", often + unknown if asked.most is None else often))
    if total is not None and total.most is not None and total.most.calls is not None:
        rows.append(("calls", _span(total.least, total.most)))
    return rows


def _has_tools(plan: RunPlan) -> bool:
    agent = plan.settings.agent
    return bool(agent.tools or agent.agents)


def _span(least: CostEstimate, most: CostEstimate | None) -> str:
    """Calls and tokens, from about to about."""
    most = most or least
    calls = _from_to(f"{least.calls:,.0f}", f"{most.calls:,.0f}")
    read = _from_to(f"{least.input_tokens:,.0f}", f"{most.input_tokens:,.0f}")
    written = _from_to(f"{least.output_tokens:,.0f}", f"{most.output_tokens:,.0f}")
    word = "call" if calls == "1" else "calls"
    return f"{calls} {word}, about {read} tokens in and {written} out"


def _by_purpose(plan: RunPlan) -> list[tuple[str, str]]:
    """What each purpose costs, where more than one does."""
    parts = {
        purpose: (one.least.cost_usd, one.least if one.most is None else one.most)
        for purpose, one in plan.by_purpose.items()
    }
    known = {
        purpose: (least, most.cost_usd)
        for purpose, (least, most) in parts.items()
        if least is not None and most.cost_usd
    }
    if len(known) < 2:
        return []
    words = [
        f"{purpose} {_from_to(money(low), money(high))}" for purpose, (low, high) in known.items()
    ]
    return [("of which", ", ".join(words))]


def _from_to(least: str, most: str) -> str:
    return least if least == most else f"{least} to {most}"


def _cost(plan: RunPlan) -> str:
    each, total = plan.each.least, plan.total
    unknown = each.why or ("" if plan.questions is None else plan.questions.least.why)
    if unknown:
        return f"unknown: {unknown}"
    if total is None or each.cost_usd is None:
        words = f"about {money((each.cost_usd or 0.0) * 1000)} a thousand evaluations, and no limit"
        return f"{words}; give --max-cost or --max-trials" if each.cost_usd else money(0.0)
    least = total.least.cost_usd or 0.0
    if total.most is None:
        asking = _ASKING if plan.each.most is None else "the optimizer asks"
        return f"from about {money(least)}; nothing limits how often {asking}"
    most = total.most.cost_usd or 0.0
    return money(0.0) if most == 0 else f"about {_from_to(money(least), money(most))}"
