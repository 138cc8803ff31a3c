"""Model as a parameter: what a search may choose, what is refused, and what a winner is written as."""

import json
from dataclasses import replace

import pytest

import burnish
from burnish.app.agents.project_files import plan_writes
from burnish.config.settings import load_settings
from burnish.domain import (
    AgentOutput,
    Configuration,
    ModelResponse,
    Purpose,
    Spending,
    ToolCall,
    Usage,
    UsageError,
)

ROWS = [{"q": f"question {n}", "a": "yes"} for n in range(6)]


class Priced:
    """A model with an answer and a price of its own; None is a price that nobody knows."""

    def __init__(self, name, answer, cost):
        self.name = self.fingerprint = name
        self.answer, self.cost, self.asked = answer, cost, 0

    async def complete(self, request):
        self.asked += 1
        assert "model" not in request.parameters
        usage = Usage(calls=1, input_tokens=10, output_tokens=1, cost_usd=self.cost)
        return ModelResponse(text=self.answer, usage=usage, latency_ms=5.0)

    async def close(self):
        pass


def searched(tmp_path, models, *, optimizer="grid", choices=None, **options):
    first = next(iter(models))
    agent = burnish.Agent(
        name="chooser",
        configuration={"sections": {"user": "{{q}}"}},
        model=first,
        models=models,
        labels=["yes", "no"],
    )
    suite = burnish.Suite(dataset=ROWS, scorers=[{"kind": "exact_match", "field": "a"}])
    return burnish.optimize(
        agent,
        suite,
        optimizer,
        burnish.Budget(max_trials=6),
        7,
        space={"parameters": {"model": choices or list(models)}},
        db=tmp_path / "choice.db",
        progress=False,
        **options,
    )


@pytest.mark.parametrize("optimizer", ["grid", "parameters", "random", "joint"])
def test_the_better_model_is_found_and_named_everywhere(tmp_path, optimizer):
    models = {"weak": Priced("w", "no", 0.001), "strong": Priced("s", "yes", 0.01)}

    result = searched(tmp_path, models, optimizer=optimizer)

    assert result.baseline.configuration.parameters == {"model": "weak"}
    assert result.best.configuration.parameters["model"] == "strong"
    assert (result.baseline.score, result.best.score) == (0.0, 1.0)
    assert {one["model"] for one in result.rows} == {"weak", "strong"}
    assert [one.model for one in result.front] == ["strong"]
    assert result.objective["chosen"]["model"] == "strong"
    # The cache never answers for the other model.
    assert min(one.asked for one in models.values()) >= len(ROWS)


def test_of_models_that_answer_alike_the_cheaper_one_wins(tmp_path):
    models = {"dear": Priced("d", "yes", 0.01), "cheap": Priced("c", "yes", 0.001)}

    result = searched(tmp_path, models, objective={"pareto": ["cost"]})

    assert result.best.configuration.model == "cheap"
    assert result.objective["chosen"]["cost_usd"] == pytest.approx(0.001)


def test_a_model_of_unknown_price_never_looks_cheap(tmp_path):
    models = {"dear": Priced("d", "yes", 0.01), "unknown": Priced("u", "yes", None)}

    for objective in ({"pareto": ["cost"]}, {"cost": 0.1}):
        result = searched(tmp_path, models, objective=objective)

        assert result.best.configuration.model == "dear"
        assert result.objective["unmeasured"] == 1


def test_a_model_that_was_not_declared_is_refused_before_anything_runs(tmp_path):
    models = {"weak": Priced("w", "no", 0.0)}

    with pytest.raises(UsageError) as caught:
        searched(tmp_path, models, choices=["weak", "openai/other"])

    assert caught.value.code == "undeclared_model"
    assert models["weak"].asked == 0


def test_a_range_of_models_is_refused(tmp_path):
    with pytest.raises(UsageError, match="no order"):
        searched(tmp_path, {"weak": Priced("w", "no", 0.0)}, choices={"low": 0, "high": 1})


def test_a_functions_own_parameter_of_that_name_stays_its_own(tmp_path):
    def run(configuration, item):
        text = "yes" if configuration.parameters.get("model") == "v2" else "no"
        return AgentOutput(text=text, spending=Spending.on(Purpose.AGENT, Usage(calls=1)))

    result = burnish.optimize(
        burnish.Agent(
            run=run, configuration={"sections": {"user": "{{q}}"}, "parameters": {"model": "v1"}}
        ),
        burnish.Suite(dataset=ROWS, scorers=[{"kind": "exact_match", "field": "a"}]),
        "grid",
        space={"parameters": {"model": ["v1", "v2"]}},
        db=tmp_path / "own.db",
        progress=False,
    )

    assert result.best.configuration.parameters["model"] == "v2"


class Judging(Priced):
    """Says of every output what its answer is, by the model's own opinion."""

    def __init__(self, name, *, right, cost):
        super().__init__(name, "", cost)
        self.right = right

    async def complete(self, request):
        good = "good" in request.messages[-1].content
        verdict = {"reason": "so", "score": float(good is self.right), "pass": good is self.right}
        return replace(await super().complete(request), text=json.dumps(verdict))


def test_a_judge_s_own_model_is_chosen_by_how_often_it_agrees(tmp_path):
    models = {
        "dull": Judging("d", right=False, cost=0.01),
        "keen": Judging("k", right=True, cost=0.001),
    }
    rows = [
        {"output": ("good" if n % 2 else "poor"), "label": ("pass" if n % 2 else "fail")}
        for n in range(6)
    ]

    result = burnish.optimize(
        burnish.Agent(
            model="dull",
            models=models,
            configuration={"sections": {"criteria": "Is it right?"}},
            judge={"output": "output"},
        ),
        burnish.Suite(dataset=rows, scorers=[{"kind": "exact_match", "field": "label"}]),
        "grid",
        space={"parameters": {"model": list(models)}},
        objective={"cost": 0.1},
        db=tmp_path / "judge.db",
        progress=False,
    )

    assert result.baseline.configuration.parameters == {"model": "dull"}
    assert (result.baseline.score, result.best.score) == (0.0, 1.0)
    assert result.best.configuration.model == "keen"


class Calling(Priced):
    """Calls the tool, and answers what it returned or something else."""

    async def complete(self, request):
        response = await super().complete(request)
        told = [one.content for one in request.messages if one.role == "tool"]
        if told:
            return replace(response, text=told[-1] if self.answer == "told" else self.answer)
        call = ToolCall(id="c", name="look", arguments={"word": "x"})
        return replace(response, text="", tool_calls=(call,))


def look(word: str) -> str:
    """Look at a word."""
    return "yes"


def test_the_model_of_an_agent_with_tools_is_chosen_too(tmp_path):
    models = {"weak": Calling("w", "no", 0.001), "strong": Calling("s", "told", 0.01)}

    result = burnish.optimize(
        burnish.Agent(
            model="weak",
            models=models,
            tools=[look],
            configuration={"sections": {"user": "{{q}}"}},
        ),
        burnish.Suite(dataset=ROWS, scorers=[{"kind": "exact_match", "field": "a"}]),
        "grid",
        space={"parameters": {"model": list(models)}},
        db=tmp_path / "tools.db",
        progress=False,
    )

    assert (result.baseline.score, result.best.score) == (0.0, 1.0)
    assert result.best.configuration.model == "strong"
    assert {one["model"] for one in result.rows} == {"weak", "strong"}


CONFIG = """\
[agent]
model = "scripted/echo"  # the one we trust
[agent.sections]
user = "{{q}}"
[suite]
dataset = "rows.jsonl"
scorers = [{ kind = "exact_match", field = "a" }]
[models."scripted/first-label"]
"""
UNDER = {"sections": {"user": "{{q}}"}}


def naming(model):
    return Configuration.of({**UNDER, "parameters": {"model": model}})


def test_a_winners_model_is_written_where_the_file_names_it(tmp_path):
    config = tmp_path / "burnish.toml"
    config.write_text(CONFIG)

    (write,) = plan_writes(naming("scripted/echo"), naming("scripted/first-label"), config, "agent")

    assert 'model = "scripted/first-label"  # the one we trust' in write.text
    assert "parameters" not in write.text
    with pytest.raises(burnish.BurnishError, match="has changed"):
        plan_writes(naming("openai/x"), naming("scripted/first-label"), config, "agent")


def test_a_project_declares_models_in_its_file(tmp_path):
    config = tmp_path / "burnish.toml"
    config.write_text(CONFIG)

    spec = load_settings(config).agent_spec()

    assert spec.models == ["scripted/echo", "scripted/first-label"]


def test_a_configuration_without_a_model_means_the_agents_own():
    plain, named = Configuration.of(UNDER), naming("openai/a")

    assert plain.same_as(named, "openai/a")
    assert not plain.same_as(named, "openai/b")
    assert not plain.same_as(named, None)
