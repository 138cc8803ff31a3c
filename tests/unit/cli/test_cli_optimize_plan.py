"""Options of `burnish optimize`, and what a dry run says it would cost."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from burnish.app.optimize.cost_estimate import estimate_cost
from burnish.app.optimize.required_prices import require_price
from burnish.app.optimize.run_plan import PlannedWork, RunPlan
from burnish.app.wiring import ModelPool, build_agent, build_suite
from burnish.cli.display.optimizations.plan import _print
from burnish.cli.invocation import run_command
from burnish.cli.project_location import ProjectLocation
from burnish.config.search import SearchSpec, build_optimizer_of, limited
from burnish.config.settings import load_settings
from burnish.config.specs import AgentSpec, SuiteSpec
from burnish.domain import Budget, UsageError

CONFIG = """
[agent]
model = "scripted/echo"
[agent.sections]
user = "{{x}}"
[suite]
dataset = "rows.jsonl"
scorers = ["exact_match"]
[optimizer]
name = "edits"
patience = 3
seed = 5
racing = "conservative"
[budget]
max_trials = 9
"""
ROWS = [{"x": f"some words {n}", "label": "a"} for n in range(50)]
SPLIT = {"train": 0.2, "validation": 0.4, "test": 0.4}


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    path = tmp_path / "burnish.toml"
    path.write_text(CONFIG)
    return path


def test_options_become_overrides(monkeypatch):
    seen = []

    def settings(location, overrides):
        seen.append(overrides)
        raise UsageError(what="nothing is run", why="the overrides are enough", fix="none")

    monkeypatch.setattr(ProjectLocation, "settings", settings)
    run_command(
        [
            *("optimize", "--optimizer", "random", "--seed", "1", "--max-cost", "2.5"),
            *("--model", "m", "--set", "budget.max_trials=3"),
        ]
    )

    assert seen == [
        {
            "budget.max_trials": 3,
            "optimizer.name": "random",
            "optimizer.seed": 1,
            "budget.max_cost_usd": 2.5,
            "agent.model": "m",
        }
    ]


def test_another_optimizer_does_not_get_the_settings_of_the_files(config, monkeypatch):
    same = load_settings(config, {"optimizer.name": "edits"})
    other = load_settings(config, {"optimizer.name": "random", "optimizer.max_edits": 2})
    monkeypatch.setenv("BURNISH_OPTIMIZER_NAME", "grid")
    variable = load_settings(config)

    assert same.optimizer["patience"] == 3
    kept = {"seed": 5, "racing": "conservative"}
    assert other.optimizer == {"name": "random", "max_edits": 2, **kept}
    assert variable.optimizer == {"name": "grid", **kept}


@pytest.mark.parametrize(
    "table",
    [
        {"name": 3},
        {"seed": "x"},
        {"seed": True},
        {"seed": 2**70},
        {"candidates_per_step": "x"},
        {"candidates_per_step": 0},
        {"asynchronous": "yes"},
        {"timeout_seconds": 0},
        {"timeout_seconds": "x"},
        {"racing": 3},
        {"racing": ["off"]},
        {"space": []},
        {"space": {"sections": 3}},
        {"space": {"max_examples": "x"}},
        {"space": {"parameters": {"t": 3}}},
    ],
    ids=str,
)
def test_a_wrong_setting_of_the_framework_is_refused(table):
    with pytest.raises(UsageError) as caught:
        SearchSpec.of(table)

    assert caught.value.exit_code == 2


def suite_of(**changes):
    spec = SuiteSpec(dataset=ROWS, scorers=[{"kind": "exact_match", "field": "label"}], split=SPLIT)
    values = {**vars(spec), **changes}
    return SuiteSpec(**values)


@pytest.mark.parametrize(
    ("budget", "most"),
    [
        (Budget(max_trials=4), 20 * 5 + 40),
        (Budget(max_evaluations=100), 100),
        (Budget(max_trials=4, max_evaluations=100), 100),
        (Budget(max_trials=4, max_evaluations=10_000), 140),
        (Budget(max_cost_usd=1), None),
    ],
)
def test_the_work_is_bounded_by_the_nearest_limit(budget, most):
    suite = build_suite(suite_of(), ModelPool({}).model)

    assert PlannedWork.of(suite, budget).most == most


def test_repeats_multiply_the_work():
    suite = build_suite(suite_of(repeats=3), ModelPool({}).model)

    work = PlannedWork.of(suite, Budget(max_trials=1))

    assert (work.each_trial, work.confirmation, work.most) == (60, 120, 240)


def estimate(model, *, labels=("a", "b"), scorers=None, models=None, parameters=None):
    pool = ModelPool(models or {})
    configuration = {"sections": {"user": "Sort {{x}}."}, "parameters": parameters or {}}
    agent = build_agent(
        AgentSpec(model=model, configuration=configuration, labels=labels), pool.model
    )
    suite = build_suite(suite_of(**({"scorers": scorers} if scorers else {})), pool.model)
    return estimate_cost(agent, suite, models or {}).least


def test_a_known_model_is_priced_by_the_tokens_of_its_prompts(config):
    one = estimate("openai/gpt-4o-mini")
    free = estimate("openai/gpt-4o-mini", labels=(), parameters={"max_tokens": 1000})

    assert one.calls == 1
    assert 10 < one.input_tokens < 20
    assert one.output_tokens == 2
    # 0.15 and 0.60 dollars a million tokens.
    expected = (one.input_tokens * 0.15 + one.output_tokens * 0.60) / 1e6
    assert one.cost_usd == pytest.approx(expected)
    assert one.times(1000).cost_usd == pytest.approx(expected * 1000)
    assert free.output_tokens == 1000


def test_an_unknown_price_is_said_and_never_taken_for_nothing(config):
    unknown = estimate("openai/some-model-of-ours")

    assert unknown.cost_usd is None
    assert "the price of openai/some-model-of-ours is not known" in unknown.why
    assert unknown.times(10).cost_usd is None


def test_a_price_of_ones_own_counts(config):
    prices = {"openai/ours": {"input_price": 1000.0, "output_price": 0.0}}

    own = estimate("openai/ours", models=prices)

    assert own.cost_usd == pytest.approx(own.input_tokens / 1000)


def test_judges_are_calls_too(config):
    judge = {"kind": "judge", "model": "openai/gpt-4o-mini", "criteria": "Is it right?"}
    weighted = {"kind": "weighted", "scorers": [judge, {"kind": "exact_match", "field": "label"}]}

    assert estimate("scripted/echo", scorers=[judge, judge]).calls == 3
    judged = estimate("scripted/echo", scorers=[weighted])

    assert judged.calls == 2
    assert judged.cost_usd > 0


def test_local_models_cost_nothing_and_other_agents_cannot_be_known():
    assert estimate("scripted/first-label").cost_usd == 0.0
    pool = ModelPool({})
    agent = build_agent(AgentSpec(run=lambda configuration, item: "a"), pool.model)

    other = estimate_cost(agent, build_suite(suite_of(), pool.model), {}).least

    assert (other.calls, other.cost_usd) == (None, None)
    assert "cannot be seen" in other.why


PRICED = """
[agent]
model = "openai/task"
labels = ["a", "b"]
[agent.sections]
system = "Sort it."
user = "{{x}}"
[suite]
dataset = "rows.jsonl"
scorers = [{ kind = "exact_match", field = "label" }]
split = { train = 0.2, validation = 0.4, test = 0.4 }
[suite.refine]
model = "openai/refiner"
limit = 2
trials = true
[optimizer]
name = "gepa"
model = "openai/meta"
max_iterations = 24
[models.openai]
input_price = 1.0
output_price = 2.0
"""


def settings_of(config, **overrides):
    config.write_text(PRICED)
    rows = "".join(json.dumps(row) + "\n" for row in ROWS)
    (config.parent / "rows.jsonl").write_text(rows)
    return load_settings(config, {name.replace("__", "."): v for name, v in overrides.items()})


def plan_of(config, **overrides):
    settings = settings_of(config, **overrides)
    pool = ModelPool(settings.models)
    suite = build_suite(settings.suite_spec(), pool.model).for_trials()
    agent = build_agent(settings.agent_spec(), pool.model)
    return RunPlan.of(settings, agent, suite, build_optimizer_of(SearchSpec.of(settings.optimizer)))


def test_the_optimizers_questions_are_in_the_estimate_as_a_range(config):
    plan = plan_of(config, budget__max_evaluations=600)
    dearer = plan_of(
        config,
        budget__max_evaluations=600,
        **{"models.openai/meta": {"input_price": 100.0, "output_price": 200.0}},
    )

    asked, total = plan.questions, plan.total
    assert asked.least.calls == 8
    assert asked.most.calls == 8 + 600 // 12
    assert asked.most.input_tokens > asked.least.input_tokens > 0
    assert total.least.cost_usd > plan.each.least.times(600).cost_usd
    assert total.most.calls == plan.each.most.calls * 600 + asked.most.calls
    assert dearer.total.most.cost_usd > 10 * total.most.cost_usd


def test_the_estimate_is_told_by_purpose_and_its_parts_are_the_whole(config):
    judge = {"kind": "judge", "model": "openai/judge", "criteria": "Right?"}
    plan = plan_of(config, budget__max_evaluations=600, suite__scorers=[judge])

    parts = plan.by_purpose

    assert [one.value for one in parts] == ["agent", "judge", "refine", "propose"]
    for end in ("least", "most"):
        amounts = [getattr(one, end).cost_usd for one in parts.values()]
        assert sum(amounts) == pytest.approx(getattr(plan.total, end).cost_usd)
    assert all(one.most.cost_usd for one in parts.values())
    told = plan.to_json()["by_purpose"]
    assert told["judge"]["most"]["cost_usd"] == parts["judge"].most.cost_usd
    console = Console(file=(text := io.StringIO()), width=200)
    _print(console, plan)
    assert "of which" in text.getvalue()
    assert ", judge $" in text.getvalue()


def test_prompts_that_grow_and_outputs_that_are_refined_are_in_the_estimate(config):
    judge = {"kind": "judge", "model": "openai/judge", "criteria": "Right?"}
    each = plan_of(config, suite__scorers=[judge]).each
    bounded = plan_of(config, suite__scorers=[judge], optimizer__max_prompt_tokens=50).each
    unrefined = plan_of(config, suite__scorers=[judge], suite__refine__limit=0).each

    assert (each.least.calls, each.most.calls) == (2, 6)
    assert unrefined.most.input_tokens == pytest.approx(unrefined.least.input_tokens + 400)
    assert bounded.most.input_tokens < each.most.input_tokens
    assert each.least.input_tokens == unrefined.least.input_tokens


def test_an_optimizer_with_a_limit_of_trials_gets_no_other_and_shows_its_own(config):
    within, added = limited(settings_of(config))
    plan = plan_of(config)

    assert (within.budget_spec(), added) == (Budget(), False)
    assert plan.work.max_trials == 24
    assert plan.work.most is None, "candidates that run on some items are evaluations too"
    assert plan.work.about == 20 * (24 * 3 + 1) + 40


def test_limits_of_money_and_calls_end_the_estimate(config):
    dollars = plan_of(config, budget__max_cost_usd=0.01).total
    calls = plan_of(config, budget__max_calls=100).total

    assert dollars.most.cost_usd == 0.01
    assert calls.most.calls == 100


@pytest.mark.parametrize("dear", ["task", "refiner", "meta", "judge"])
def test_a_limit_of_dollars_needs_every_price(config, dear):
    judge = {"kind": "judge", "model": "openai/judge", "criteria": "Right?"}
    settings = settings_of(config, suite__scorers=[judge])
    names = [f"openai/{name}" for name in ("task", "refiner", "meta", "judge")]
    price = {"input_price": 1.0, "output_price": 1.0}
    tables = {name: price for name in names if name != f"openai/{dear}"}
    search, specs = (
        SearchSpec.of(settings.optimizer),
        (settings.agent_spec(), settings.suite_spec()),
    )

    with pytest.raises(UsageError) as caught:
        require_price(search, Budget(max_cost_usd=0.5), *specs, tables)

    assert caught.value.code == "unknown_price"
    assert f'set input_price and output_price in [models."openai/{dear}"]' in caught.value.fix
    require_price(search, Budget(max_calls=5), *specs, tables)
    require_price(search, Budget(max_cost_usd=0.5), *specs, dict.fromkeys(names, price))


@pytest.mark.parametrize("flags", [["--dry-run"], []])
def test_the_command_refuses_a_limit_of_dollars_without_prices(config, capfd, monkeypatch, flags):
    settings_of(config)
    config.write_text(PRICED.replace("input_price = 1.0\noutput_price = 2.0\n", ""))
    monkeypatch.chdir(config.parent)

    code = run_command(["optimize", "--max-cost", "0.5", *flags])

    assert code == 2
    assert "the price of openai/task is not known" in capfd.readouterr().err
    # Nothing was made.
    assert run_command(["list", "--json"]) == 0
    assert '"optimizations": []' in capfd.readouterr().out


def test_a_dry_run_says_from_about_to_about(config, capfd, monkeypatch):
    settings_of(config)
    monkeypatch.chdir(config.parent)

    assert run_command(["optimize", "--dry-run", "--max-evaluations", "600"]) == 0
    words = capfd.readouterr().out

    assert "8 to 58 calls" in words
    assert "from openai/meta" in words
    [cost] = [line for line in words.splitlines() if line.strip().startswith("cost")]
    assert " about $" in cost
    assert " to $" in cost
    assert "at most" not in cost
    assert "trials" in words


@pytest.mark.parametrize(
    ("model", "names"), [("", ["joint"]), ('model = "openai/meta"', ["joint", "gepa"])]
)
def test_a_dry_run_says_what_auto_would_choose(config, capfd, monkeypatch, model, names):
    labelled = CONFIG.replace('model = "scripted/echo"', 'model = "scripted/echo"\nlabels = ["a"]')
    labelled = labelled.replace('["exact_match"]', '[{ kind = "exact_match", field = "label" }]')
    search = f'name = "auto"\n{model}'
    config.write_text(labelled.replace('name = "edits"\npatience = 3', search))
    rows = "\n".join(json.dumps(row) for row in ROWS)
    (config.parent / "rows.jsonl").write_text(rows)
    monkeypatch.chdir(config.parent)

    assert run_command(["optimize", "--dry-run", "--json"]) == 0
    chosen = json.loads(capfd.readouterr().out)["chosen"]
    assert run_command(["optimize", "--dry-run"]) == 0
    words = capfd.readouterr().out

    assert [one["optimizer"] for one in chosen] == names
    assert all(f"{one['optimizer']}: {one['reason']}"[:30] in words for one in chosen)
