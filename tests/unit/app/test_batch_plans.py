"""Plans of runs in batches: half the price for waves, the whole for questions, and how races wait."""

import pytest

from burnish.app.optimize.run_plan import RunPlan
from burnish.app.wiring import ModelPool, build_agent, build_suite
from burnish.config.schema import Settings
from burnish.config.search import SearchSpec, build_optimizer_of
from burnish.models.catalog import is_batched

TABLES = {
    "agent": {"model": "openai/task", "sections": {"user": "{{x}}"}},
    "suite": {
        "dataset": "rows",
        "scorers": [{"kind": "exact_match", "field": "label"}],
    },
    "optimizer": {"name": "gepa", "model": "openai/task", "racing": "aggressive"},
    "budget": {"max_evaluations": 600},
}
ROWS = [{"x": f"words {n}", "label": "a"} for n in range(50)]
PRICES = {"openai": {"input_price": 1.0, "output_price": 2.0}}


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def pool(models):
    # What nobody reads or writes before a call.
    return ModelPool(models, object, object)


def plan_of(*, batch):
    models = {**PRICES, "batch": batch}
    settings = Settings.model_validate({**TABLES, "models": models}).with_rows(ROWS)
    suite = build_suite(settings.suite_spec(), pool(models).model).for_trials()
    agent = build_agent(settings.agent_spec(), pool(models).model)
    return RunPlan.of(settings, agent, suite, build_optimizer_of(SearchSpec.of(settings.optimizer)))


def test_waves_cost_half_in_a_plan_and_the_optimizers_questions_all():
    halved, whole = plan_of(batch=True), plan_of(batch=False)

    assert halved.each.least.cost_usd == pytest.approx(whole.each.least.cost_usd / 2)
    assert halved.questions.least.cost_usd == whole.questions.least.cost_usd > 0


def test_a_race_in_batches_says_how_often_it_waits():
    [note] = plan_of(batch=True).notes

    assert "racing looks after every 8 of 50 items" in note
    assert "up to 7 batches" in note
    assert plan_of(batch=False).notes == ()


def test_one_pool_has_a_model_for_batches_and_the_same_for_single_questions():
    models = pool({"batch": True})

    assert is_batched(models.model("openai/task"))
    assert not is_batched(models.model("openai/task", batches=False))
    assert models.model("scripted/echo", batches=False) is models.model("scripted/echo")
