"""Graphs of LangGraph of every make; tests/integration/test_frameworks.py runs this."""

import asyncio
import json
import sys
import warnings
from typing import Annotated

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.tools import tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, create_react_agent, tools_condition
from pydantic import BaseModel, Field

import burnish
from burnish.app.wiring import build_agent
from burnish.domain import Item

warnings.simplefilter("ignore")
SEEN = []


class Recording(BaseChatModel):
    """Keeps what it is asked with; calls the first tool once, then ends."""

    @property
    def _llm_type(self):
        return "recording"

    def bind_tools(self, tools, **settings):
        return self.bind(tools=[convert_to_openai_tool(one) for one in tools], **settings)

    def _generate(self, messages, stop=None, run_manager=None, *, tools=(), **_):
        system = [one.content for one in messages if one.type == "system"]
        SEEN.append((system, json.dumps(tools)))
        if tools and messages[-1].type != "tool":
            name = tools[0]["function"]["name"]
            call = {"name": name, "args": {"place": {"city": "Rome"}}, "id": "c1"}
            answer = AIMessage("", tool_calls=[call])
        else:
            answer = AIMessage("done")
        return ChatResult(generations=[ChatGeneration(message=answer)])


class Place(BaseModel):
    """Where."""

    city: Annotated[str, Field(description="A city.")]


@tool
def look(place: Place, others: list[Place] | None = None) -> str:
    """Look a place up."""
    return place.city


def by_create_agent():
    return create_agent(Recording(), [look], system_prompt="You are helpful.")


def by_react_agent():
    return create_react_agent(Recording(), [look], prompt="You are helpful.")


SYSTEM_PROMPT = "You are helpful."
MODEL = Recording().bind_tools([look])


def call_model(state):
    return {"messages": [MODEL.invoke([SystemMessage(SYSTEM_PROMPT), *state["messages"]])]}


def by_hand():
    builder = StateGraph(MessagesState)
    builder.add_node("model", call_model)
    builder.add_node("tools", ToolNode([look]))
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", tools_condition)
    builder.add_edge("tools", "model")
    return builder.compile()


class Node:
    """A node that keeps its model and its prompt, and a chain of a template."""

    def __init__(self, prompt, model):
        self.chain = ChatPromptTemplate.from_messages([("system", prompt), ("placeholder", "{m}")])
        self.chain = self.chain | model

    async def __call__(self, state):
        return {"messages": [await self.chain.ainvoke({"m": state["messages"]})]}


def by_object():
    builder = StateGraph(MessagesState)
    builder.add_node("model", Node("You are helpful.", MODEL))
    builder.add_node("tools", ToolNode([look]))
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", tools_condition)
    builder.add_edge("tools", "model")
    return builder.compile()


def run(spec, configuration):
    SEEN.clear()
    agent = build_agent(spec, None)
    item = Item(id="1", data={"input": "hi"})
    output = asyncio.run(agent.run(configuration, item, repeat=0))
    return output, list(SEEN)


CHANGES = {
    "system": "You are brief.",
    "tools.look.description": "LOOK",
    "tools.look.parameters.place": "PLACE",
    "tools.look.parameters.place.city": "CITY",
}
for make in (by_create_agent, by_react_agent, by_hand, by_object):
    graph = make()
    spec = burnish.from_langgraph(graph)
    sections = spec.configuration.sections
    assert sections["system"] == "You are helpful.", (make, dict(sections))
    assert sections["tools.look.parameters.place.city"] == "A city.", make
    assert set(CHANGES) <= set(sections), (make, list(sections))

    baseline, first = run(spec, spec.configuration)
    changed = spec.configuration.with_sections(CHANGES)
    output, tried = run(spec, changed)
    assert all(system == ["You are brief."] for system, _ in tried), (make, tried)
    assert all(one in tried[0][1] for one in ("LOOK", "PLACE", "CITY")), (make, tried)
    assert output.text == "done"
    roles = [one["role"] for one in output.trace["transcript"]]
    assert roles == ["system", "user", "assistant", "tool", "assistant"], (make, roles)
    assert output.trace["transcript"][3]["content"] == "Rome"
    assert output.spending.total.cost_usd is None

    # Equal in effect, and nothing of the user's has changed.
    SEEN.clear()
    winner = spec.apply(changed)
    asked = {"messages": [{"role": "user", "content": "hi"}]}
    last = asyncio.run(winner.ainvoke(asked))
    assert tried == SEEN, make
    said = [one.content for one in last["messages"]]
    told = [one["content"] for one in output.trace["transcript"][1:]]
    assert said == told, (make, said, told)
    again, second = run(spec, spec.configuration)
    assert second == first, make
    SEEN.clear()
    asyncio.run(graph.ainvoke(asked))
    assert first == SEEN, make
    assert spec.apply(spec.configuration) is graph

# Several prompts, one of them in a graph within: told apart by node.
outer = StateGraph(MessagesState)
outer.add_node("plan", Node("You plan well.", Recording()))
outer.add_node("inner", by_create_agent())
outer.add_edge(START, "plan")
outer.add_edge("plan", "inner")
outer.add_edge("inner", END)
graph = outer.compile()
spec = burnish.from_langgraph(graph)
assert spec.configuration.sections["agents.plan.system"] == "You plan well."
assert spec.configuration.sections["agents.inner.model.system"] == "You are helpful."
changed = spec.configuration.with_sections({"agents.inner.model.system": "You are brief."})
_, seen = run(spec, changed)
assert [one[0] for one in seen] == [["You plan well."], ["You are brief."], ["You are brief."]], (
    seen
)


# Many at once, with different texts: each sees its own.
async def together():
    agent = build_agent(burnish.from_langgraph(by_create_agent()), None)
    tried = [agent.configuration.with_sections({"system": f"You are {n}."}) for n in range(20)]
    item = Item(id="1", data={"input": "hi"})
    return await asyncio.gather(*(agent.run(one, item, repeat=0) for one in tried))


SEEN.clear()
outputs = asyncio.run(together())
assert [one.trace["transcript"][0]["content"] for one in outputs] == [
    f"You are {n}." for n in range(20)
]
assert sorted(one[0][0] for one in SEEN) == sorted(f"You are {n}." for n in range(20) for _ in "12")
print("all is well", file=sys.stderr)
