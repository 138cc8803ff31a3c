"""Cost of tool agents and conversations before they run: a range by steps, and unknown where it is."""

import io

import pytest
from rich.console import Console

from burnish.app.optimize.cost_estimate import estimate_cost
from burnish.app.optimize.run_plan import RunPlan, expected_spending
from burnish.app.optimize.tool_steps import CALL_TOKENS, RESULT_TOKENS
from burnish.app.wiring import ModelPool, build_agent, build_suite
from burnish.cli.display.optimizations.plan import _print
from burnish.config.search import SearchSpec, build_optimizer_of
from burnish.config.settings import load_settings
from burnish.config.specs import AgentSpec, SuiteSpec
from burnish.domain import Purpose

PRICES = {
    "openai/task": {"input_price": 1.0, "output_price": 2.0},
    "openai/user": {"input_price": 1.0, "output_price": 2.0},
}
STEP = CALL_TOKENS + RESULT_TOKENS


def look(order: str) -> str:
    """Look an order up."""
    return order


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")


def estimated(*, models=PRICES, user=None, section="{{x}}", **agent):
    pool = ModelPool(models)
    spec = AgentSpec(
        model="openai/task",
        configuration={
            "sections": {"system": "Help.", "user": section},
            "parameters": {"max_tokens": 100},
        },
        **agent,
    )
    rows = [{"x": "some words", "goal": "an answer", "label": "a"}]
    suite = build_suite(
        SuiteSpec(dataset=rows, scorers=[{"kind": "exact_match", "field": "label"}], user=user),
        pool.model,
    )
    built = build_agent(spec, pool.model)
    return estimate_cost(built, suite, models), expected_spending(built, suite, models)


def test_an_agent_with_tools_answers_at_once_or_takes_all_of_its_steps():
    plain, _ = estimated()
    cost, expected = estimated(tools=[look], max_steps=4)
    first = cost.least.input_tokens

    assert (cost.least.calls, cost.most.calls) == (1, 4)
    assert first > plain.least.input_tokens, "the tools are told with each request"
    assert cost.least.output_tokens == 100
    assert cost.most.output_tokens == 100 + 3 * CALL_TOKENS
    assert cost.most.input_tokens == pytest.approx(4 * first + (1 + 2 + 3) * STEP, rel=0.02)
    spent = cost.most.input_tokens * 1.0 + cost.most.output_tokens * 2.0
    assert cost.most.cost_usd == pytest.approx(spent / 1e6, rel=0.02)
    assert expected == {}, "a budget does not keep back what hardly any run takes"


def test_its_own_limits_end_the_range():
    few, _ = estimated(tools=[look], max_steps=4, max_tokens=200)
    cheap, _ = estimated(tools=[look], max_steps=4, max_cost_usd=0.000001)

    assert few.most.calls == 2, "the answer that passes a limit is the last"
    assert cheap.most.calls == 1


def test_nothing_limits_how_often_sub_agents_are_asked():
    cost, _ = estimated(agents={"clerk": {"description": "Looks.", "instructions": "Look."}})

    assert (cost.least.calls, cost.most) == (1, None)


def test_an_unknown_price_is_unknown_for_tool_agents_too():
    cost, _ = estimated(models={}, tools=[look])

    assert cost.least.cost_usd is None and cost.most.cost_usd is None
    assert "the price of openai/task is not known" in cost.least.why
    assert cost.most.calls == 20


def test_a_conversation_multiplies_the_steps_by_its_turns_and_pays_the_user():
    user = {"model": "openai/user", "max_turns": 3}
    cost, _ = estimated(user=user, section="{{turn}}", tools=[look], max_steps=2)

    agent, talk = cost.parts[Purpose.AGENT], cost.parts[Purpose.USER]
    assert (agent.least.calls, agent.most.calls) == (1, 3 * 2)
    assert (talk.least.calls, talk.most.calls) == (1, 3)
    assert cost.most.cost_usd > 6 * cost.least.cost_usd > 0


CONFIG = """
[agent]
model = "openai/task"
[agent.sections]
user = "{{x}}"
AGENTS
[suite]
dataset = "rows.jsonl"
scorers = ["exact_match"]
[optimizer]
name = "edits"
[budget]
max_trials = 9
[models.openai]
input_price = 1.0
output_price = 2.0
"""
TOOL = '[[agent.tools]]\nname = "look"\nurl = "http://127.0.0.1:1/o"\n'
SUB = '[agent.agents.clerk]\ndescription = "Looks."\ninstructions = "Look."\n'


@pytest.mark.parametrize(
    ("agents", "told"),
    [
        (TOOL, ("1 to 20 calls", "as prompts grow and tools are called", "about $")),
        (SUB, ("and more as sub-agents are asked", "nothing limits how often sub-agents")),
    ],
    ids=["tools", "sub-agents"],
)
def test_a_dry_run_tells_the_range(tmp_path, agents, told):
    path = tmp_path / "burnish.toml"
    path.write_text(CONFIG.replace("AGENTS", agents))
    (tmp_path / "rows.jsonl").write_text('{"x": "a", "expected": "b"}\n' * 6)
    settings = load_settings(path)
    pool = ModelPool(settings.models)
    suite = build_suite(settings.suite_spec(), pool.model).for_trials()
    agent = build_agent(settings.agent_spec(), pool.model)
    search = SearchSpec.of(settings.optimizer)
    console = Console(file=(text := io.StringIO()), width=200)

    plan = RunPlan.of(settings, agent, suite, build_optimizer_of(search))
    _print(console, plan)

    assert all(words in text.getvalue() for words in told), text.getvalue()
    assert plan.to_json()["total"]["least"]["cost_usd"] > 0
