"""Projects with tools: burnish.toml, every optimizer on texts of tools, and winners written back."""

import asyncio
import json
import tomllib

import pytest

import burnish
from burnish.app.agents.project_files import plan_writes, staged
from burnish.app.evaluate.evaluations import Evaluation
from burnish.app.wiring import Workspace
from burnish.config.served_project import ServedProject
from burnish.config.settings import load_settings
from burnish.domain import Configuration, ConflictError, ModelResponse, ToolCall, UsageError
from burnish.models.scripted import ScriptedModel
from burnish.optimizers.catalog import build_optimizer

CONFIG = """
[agent]
name = "desk"
model = "scripted/first-tool"
max_steps = 5

[[agent.tools]]
run = "shop:find_order"   # the only one

[agent.agents.helper]
description = "Helps."
instructions = "You help."
tools = [{ run = "shop:find_order" }]

[agent.sections]
user = "{{message}}"

[suite]
dataset = "rows.jsonl"
scorers = [{ kind = "contains", field = "message" }]
"""
SHOP = '''
def find_order(order_id: str) -> dict:
    """Find an order.

    Args:
        order_id: Its number.
    """
    return {"found": order_id}
'''
DESCRIPTION = "tools.find_order.description"


@pytest.fixture
def project(tmp_path):
    (tmp_path / "burnish.toml").write_text(CONFIG)
    (tmp_path / "shop.py").write_text(SHOP)
    rows = [{"message": f"order {number}"} for number in range(4)]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path / "burnish.toml"


def test_an_agent_with_tools_is_evaluated_from_burnish_toml(project):
    settings = load_settings(project)

    async def evaluate():
        async with Workspace.open(str(project.parent / "x.db"), models=settings.models) as open_:
            evaluation = Evaluation(open_, settings.agent_spec(), settings.suite_spec())
            result = await evaluation.run()
            stored = open_.experiments.stream_results(result.experiment_id)
            traces = [one.output.trace async for one in stored]
            return result, traces[0]

    result, trace = asyncio.run(evaluate())

    assert (result.items, result.score) == (4, 1.0)
    assert [one["role"] for one in trace["transcript"]] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    sections = Configuration.of(settings.agent_spec().configuration).sections
    assert sections["tools.find_order.parameters.order_id"] == "Its number."
    assert sections["agents.helper.tools.find_order.description"] == "Find an order."


def test_a_text_of_a_docstring_is_written_back_as_a_section_over_it(project):
    before = Configuration.of(load_settings(project).agent_spec().configuration)
    after = before.with_sections({DESCRIPTION: "NEW", "agents.helper.system": "You help well."})

    with staged(plan_writes(before, after, project, "desk")):
        pass

    text = project.read_text()
    assert "# the only one" in text
    assert tomllib.loads(text)["agent"]["sections"] == {
        "user": "{{message}}",
        DESCRIPTION: "NEW",
        "agents.helper.system": "You help well.",
    }
    now = Configuration.of(load_settings(project).agent_spec().configuration)
    assert now.hash == after.hash
    # And back again, over what stands there now.
    with staged(plan_writes(after, before, project, "desk")):
        pass
    assert Configuration.of(load_settings(project).agent_spec().configuration).hash == before.hash


def test_a_docstring_that_changed_meanwhile_is_not_overwritten(project):
    before = Configuration.of(load_settings(project).agent_spec().configuration)
    changed = before.with_sections({DESCRIPTION: "Find one order."})

    with pytest.raises(ConflictError, match="has changed"):
        plan_writes(changed, before.with_sections({DESCRIPTION: "NEW"}), project, "desk")


def test_a_server_runs_no_tools_but_its_own(project):
    settings = load_settings(project)
    other = settings.agent.model_copy(update={"tools": [{"run": "os:system"}]})
    served = ServedProject(project)

    served.require_own(settings)
    with pytest.raises(UsageError, match="tools"):
        served.require_own(settings.model_copy(update={"agent": other}))


def test_tools_need_a_model(project):
    with pytest.raises(UsageError, match="no model that could call them"):
        burnish.Agent(run=lambda configuration, item: "x", tools=[print])


def shout(text: str) -> str:
    """Says it loudly. This sentence is of no use. Nor is this one, really."""
    return text.upper()


def answer(request):
    """Calls the tool rightly once its description names the exclamation mark."""
    returned = [one.content for one in request.messages if one.role == "tool"]
    if returned:
        return returned[-1]
    said = next(one.content for one in request.messages if one.role == "user")
    told = "!" in request.tools[0].description
    given = {"text": said + ("!" if told else "")}
    return ModelResponse(text="", tool_calls=(ToolCall("", "shout", given),))


def reflect(prompt):
    assert "tool" in prompt
    return "It lacks the mark.\n```\nSays it loudly. Add an ! to the text.\n```"


@pytest.mark.parametrize(
    ("optimizer", "settings"),
    [
        ("gepa", {"model": reflect, "mutation_strategies": ["tools.shout.description"]}),
        ("edits", {}),
        ("compress", {}),
        ("meta_prompt", {"model": reflect}),
    ],
)
def test_optimizers_work_on_texts_of_tools(tmp_path, optimizer, settings):
    rows = [
        {"message": word, "loud": f"{word.upper()}!"} for word in ("a", "b", "c", "d", "e", "f")
    ]
    model = ScriptedModel(answer)
    agent = burnish.Agent(
        name="shouter",
        configuration={"sections": {"system": "Shout.", "user": "{{message}}"}},
        model=model,
        tools=[shout],
    )
    result = burnish.optimize(
        agent=agent,
        suite=burnish.Suite(dataset=rows, scorers=[{"kind": "exact_match", "field": "loud"}]),
        optimizer=build_optimizer(optimizer, settings),
        budget=burnish.Budget(max_evaluations=60),
        seed=1,
        db=tmp_path / "x.db",
        progress=False,
    )

    assert DESCRIPTION.replace("find_order", "shout") in result.best.configuration.sections
    if optimizer == "gepa":
        assert result.best.score == 1.0
        assert result.best.configuration.sections["tools.shout.description"].endswith("the text.")
