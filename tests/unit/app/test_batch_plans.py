"""Plans of runs in batches: half the price for waves, the whole for questions, and how races wait."""

import json
from pathlib import Path

import pytest

from burnish.app.optimize.optimizations import Optimization
from burnish.app.optimize.run_plan import RunPlan
from burnish.app.optimize.runners import MailboxRunner
from burnish.app.wiring import ModelPool, Workspace, build_agent, build_suite
from burnish.app.worker.shard_worker import shard_evaluator
from burnish.cli.invocation import run_command
from burnish.config.schema import Settings
from burnish.config.search import SearchSpec, build_optimizer_of
from burnish.config.specs import AgentSpec, SuiteSpec
from burnish.domain import Budget, ModelRequest, UsageError
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


@pytest.mark.parametrize("judged", [False, True])
def test_batches_on_workers_are_refused_before_anything_is_stored(judged):
    workspace = Workspace(None, {"batch": True})
    workspace.models = pool({"batch": True})
    judge = {"kind": "judge", "model": "openai/judge", "criteria": "Right?"}
    model = "scripted/echo" if judged else "openai/task"
    agent = AgentSpec(name="a", model=model, configuration={"sections": {"user": "{{x}}"}})
    scorers = [judge] if judged else TABLES["suite"]["scorers"]

    suite = SuiteSpec(dataset=ROWS, scorers=scorers)
    stores = {"overlays": object(), "repository": object()}
    parts = (workspace, agent, suite, SearchSpec(), Budget(max_trials=3))

    Optimization(*parts, **stores)
    workspace.datasets = workspace.call_cache = workspace.tool_calls = object()
    for begin in (
        lambda: Optimization(*parts, **stores, make_adapter=MailboxRunner("redis://far:6379/0")),
        lambda: shard_evaluator(workspace, Path(), agent=agent, suite=suite),
    ):
        with pytest.raises(UsageError, match="without --runner") as refusal:
            begin()
        assert refusal.value.code == "batches_on_workers"
        assert ("openai/judge" if judged else "openai/task") in refusal.value.why


@pytest.mark.parametrize(
    "command", [["validate"], ["doctor", "--offline"], ["optimize", "--dry-run"]], ids=" ".join
)
def test_what_calls_nothing_needs_no_database_for_batches(command, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    models = (
        "[agent]\nmodel = 'openai/task'\nsections = { user = '{{x}}' }\n[models]\nbatch = true\n"
    )
    scorer = "{ kind = 'exact_match', field = 'label' }"
    suite = f"[suite]\ndataset = 'rows.jsonl'\nscorers = [{scorer}]\n"
    search = "[optimizer]\nname = 'edits'\n[budget]\nmax_trials = 2\n"
    (tmp_path / "burnish.toml").write_text(models + suite + search)
    (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))

    assert run_command(command) == 0, capfd.readouterr().err


async def test_a_batched_model_without_a_database_is_known_and_not_asked():
    model = ModelPool({"batch": True}).model("openai/task")

    assert is_batched(model)
    with pytest.raises(UsageError, match="no database to record them in"):
        await model.complete(ModelRequest.text("hello"))
