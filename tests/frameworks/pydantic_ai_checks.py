"""Agents of pydantic-ai; tests/integration/test_frameworks.py runs this."""

import asyncio
import json
import sys

from pydantic import BaseModel, Field
from pydantic_ai import Agent, ModelRetry, NativeOutput, RunContext
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

import burnish
from burnish.app.wiring import build_agent
from burnish.domain import Item, UnavailableError

SEEN = []


class Place(BaseModel):
    """Where."""

    city: str = Field(description="A city.")


class Answer(BaseModel):
    """What is told."""

    team: str = Field(description="The team.")
    place: Place


def scripted(messages, info):
    tools = [[one.name, one.description, one.parameters_json_schema] for one in info.function_tools]
    outputs = [one.parameters_json_schema for one in info.output_tools]
    native = info.model_request_parameters.output_object
    system = [
        part.content
        for message in messages
        for part in message.parts
        if part.part_kind == "system-prompt"
    ]
    shown = native.json_schema if native else None
    SEEN.append(json.dumps([info.instructions, system, tools, outputs, shown]))
    if info.function_tools and len(messages) == 1:
        return ModelResponse(parts=[ToolCallPart("look", {"place": {"city": "nowhere"}})])
    if info.function_tools and len(messages) == 3:
        return ModelResponse(parts=[ToolCallPart("look", {"place": {"city": "Rome"}})])
    answer = {"team": "a", "place": {"city": "Rome"}}
    if info.output_tools:
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, answer)])
    return ModelResponse(parts=[TextPart(json.dumps(answer) if native else "plain")])


def run(spec, configuration, **data):
    SEEN.clear()
    agent = build_agent(spec, None)
    item = Item(id="1", data={"input": "hi", **data})
    return asyncio.run(agent.run(configuration, item, repeat=0)), list(SEEN)


agent = Agent(
    FunctionModel(scripted),
    name="router",
    instructions="Route it.",
    system_prompt="You are careful.",
    output_type=Answer,
    deps_type=str,
)


@agent.instructions
def today(context: RunContext[str]) -> str:
    return f"Today is {context.deps}."


@agent.tool
def look(context: RunContext[str], place: Place, year: int = 0) -> str:
    """Look a place up."""
    if place.city == "nowhere":
        raise ModelRetry("there is no such place")
    return f"{place.city} on {context.deps}"


spec = burnish.from_pydantic_ai(agent, deps=lambda item: item["day"])
sections = spec.configuration.sections
assert spec.name == "router"
assert dict(sections) == {
    "system.1": "You are careful.",
    "system.2": "Route it.",
    "tools.look.description": "Look a place up.",
    "tools.look.parameters.place": sections["tools.look.parameters.place"],
    "tools.look.parameters.place.city": "A city.",
    "tools.look.parameters.year": "",
    "output.team": "The team.",
    "output.place": sections["output.place"],
    "output.place.city": "A city.",
    "user": "{{input}}",
}, dict(sections)

_, first = run(spec, spec.configuration, day="Monday")
assert "Today is Monday." in first[0]
changed = spec.configuration.with_sections(
    {
        "system.1": "You are bold.",
        "system.2": "Send it.",
        "tools.look.description": "LOOK",
        "tools.look.parameters.place.city": "CITY",
        "output.team": "TEAM",
        "user": "Please: {{input}}",
    }
)
output, tried = run(spec, changed, day="Monday")
for text in ("You are bold.", "Send it.\\n\\nToday is Monday.", "LOOK", "CITY", "TEAM"):
    assert all(text in one for one in tried), (text, tried)
assert output.data == {"team": "a", "place": {"city": "Rome"}}
transcript = output.trace["transcript"]
assert [one["role"] for one in transcript[:4]] == ["system", "system", "user", "assistant"]
assert transcript[0]["content"] == "Send it.\n\nToday is Monday."
assert transcript[2]["content"] == "Please: hi"
tools = [one for one in transcript if one["role"] == "tool"]
assert tools[0]["error"] is True and "no such place" in tools[0]["content"], tools
assert tools[1]["content"] == "Rome on Monday" and "error" not in tools[1]
assert (output.spending.total.calls, output.spending.total.cost_usd) == (3, None)

# Equal in effect, and nothing of the user's has changed.
SEEN.clear()
winner = spec.apply(changed)
assert winner.run_sync("Please: hi", deps="Monday").output == Answer(
    team="a", place={"city": "Rome"}
)
assert tried == SEEN
_, again = run(spec, spec.configuration, day="Monday")
assert again == first
SEEN.clear()
agent.run_sync("hi", deps="Monday")
assert first == SEEN

# Output that the provider's own schema holds.
native = Agent(FunctionModel(scripted), output_type=NativeOutput(Answer))
spec = burnish.from_pydantic_ai(native)
_, tried = run(spec, spec.configuration.with_sections({"output.place.city": "CITY"}))
assert "CITY" in tried[0], tried

# Agents that tools run: their texts are sections too, also in what `apply` gives.
helper = Agent(FunctionModel(scripted), instructions="You help.")


def call_helper(messages, info):
    if len(messages) == 1:
        return ModelResponse(parts=[ToolCallPart("ask", {})])
    return ModelResponse(parts=[TextPart("done")])


boss = Agent(FunctionModel(call_helper), instructions="You lead.")


@boss.tool_plain
async def ask() -> str:
    """Ask the helper."""
    return (await helper.run("now")).output


spec = burnish.from_pydantic_ai(boss, agents={"helper": helper})
assert spec.configuration.sections["agents.helper.system"] == "You help."
changed = spec.configuration.with_sections({"agents.helper.system": "You serve."})
_, tried = run(spec, changed)
assert "You serve." in tried[0]
SEEN.clear()
spec.apply(changed).run_sync("hi")
assert tried == SEEN
SEEN.clear()
boss.run_sync("hi")
assert "You help." in SEEN[0]


# Many at once, with different texts: each sees its own.
async def together():
    one = build_agent(
        burnish.from_pydantic_ai(Agent(FunctionModel(scripted), instructions="I.")), None
    )
    tried = [one.configuration.with_sections({"system": f"I am {n}."}) for n in range(20)]
    item = Item(id="1", data={"input": "hi"})
    return await asyncio.gather(*(one.run(text, item, repeat=0) for text in tried))


SEEN.clear()
asyncio.run(together())
assert sorted(json.loads(one)[0] for one in SEEN) == sorted(f"I am {n}." for n in range(20))


# A model that is away is an outage, no result of the agent.
def away(messages, info):
    raise ModelHTTPError(503, "scripted")


spec = burnish.from_pydantic_ai(Agent(FunctionModel(away), instructions="I."))
try:
    run(spec, spec.configuration)
except UnavailableError as error:
    assert "503" in str(error)
else:
    raise AssertionError("it should have been an outage")
print("all is well", file=sys.stderr)
