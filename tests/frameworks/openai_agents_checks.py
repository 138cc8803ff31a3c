"""Agents of the OpenAI Agents SDK; tests/integration/test_frameworks.py runs this."""

import asyncio
import json
import sys

from agents import (
    Agent,
    ModelResponse,
    RunContextWrapper,
    Runner,
    Usage,
    function_tool,
    handoff,
    set_tracing_disabled,
)
from agents.models.interface import Model
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)
from pydantic import BaseModel, Field

import burnish
from burnish.app.wiring import build_agent
from burnish.domain import Item

set_tracing_disabled(True)
SEEN = []


class Answer(BaseModel):
    """What is told."""

    team: str = Field(description="The team.")


class Scripted(Model):
    """Hands over if it can, calls each tool once, then answers."""

    async def get_response(self, **asked):
        tools, output_schema, handoffs = asked["tools"], asked["output_schema"], asked["handoffs"]
        shown = [[one.name, one.description, one.params_json_schema] for one in tools]
        given = [one.tool_description for one in handoffs]
        schema = output_schema.json_schema() if output_schema else None
        SEEN.append(json.dumps([asked["system_instructions"], shown, given, schema]))
        called = {one.get("name") for one in asked["input"] if isinstance(one, dict)}
        if handoffs:
            return _call(handoffs[0].tool_name, {})
        left = [one for one in tools if one.name not in called]
        if left:
            return _call(left[0].name, {"order": "7"})
        return _message(json.dumps({"team": "a"}) if schema else "done")

    def stream_response(self, *_, **__):
        raise NotImplementedError


numbers = iter(range(100_000))


def _call(name, arguments):
    call = ResponseFunctionToolCall(
        type="function_call",
        call_id=f"c{next(numbers)}",
        name=name,
        arguments=json.dumps(arguments),
    )
    usage = Usage(requests=1, input_tokens=10, output_tokens=2)
    return ModelResponse(output=[call], usage=usage, response_id=None)


def _message(text):
    content = ResponseOutputText(type="output_text", text=text, annotations=[])
    message = ResponseOutputMessage(
        id="m", type="message", role="assistant", status="completed", content=[content]
    )
    usage = Usage(requests=1, input_tokens=10, output_tokens=2)
    return ModelResponse(output=[message], usage=usage, response_id=None)


@function_tool
def refund(context: RunContextWrapper[str], order: str) -> str:
    """Pay an order back.

    Args:
        order: The order.
    """
    return f"{order} of {context.context}"


payments = Agent(
    name="payments",
    handoff_description="Payments.",
    instructions="Pay back.",
    tools=[refund],
    output_type=Answer,
    model=Scripted(),
)
chosen = []
desk = Agent(
    name="desk",
    instructions="Help.",
    handoffs=[handoff(payments, on_handoff=lambda context: chosen.append(1))],
    model=Scripted(),
)
payments.handoffs = []


def run(spec, configuration):
    SEEN.clear()
    agent = build_agent(spec, None)
    item = Item(id="1", data={"input": "hi", "who": "ada"})
    return asyncio.run(agent.run(configuration, item, repeat=0)), list(SEEN)


spec = burnish.from_openai_agents(desk, context=lambda item: item["who"])
assert dict(spec.configuration.sections) == {
    "system": "Help.",
    "agents.payments.system": "Pay back.",
    "agents.payments.description": "Payments.",
    "agents.payments.tools.refund.description": "Pay an order back.",
    "agents.payments.tools.refund.parameters.order": "The order.",
    "agents.payments.output.team": "The team.",
    "user": "{{input}}",
}, dict(spec.configuration.sections)
_, first = run(spec, spec.configuration)
changed = spec.configuration.with_sections(
    {
        "system": "Serve.",
        "agents.payments.description": "MONEY",
        "agents.payments.system": "Refund.",
        "agents.payments.tools.refund.description": "REFUND",
        "agents.payments.tools.refund.parameters.order": "DIGITS",
        "agents.payments.output.team": "TEAM",
    }
)
output, tried = run(spec, changed)
assert chosen, "what the user does at a handoff is still done"
assert "Serve." in tried[0] and "MONEY" in tried[0], tried
assert all(text in tried[1] for text in ("Refund.", "REFUND", "DIGITS", "TEAM")), tried
assert output.data == {"team": "a"}
transcript = output.trace["transcript"]
assert transcript[0] == {"role": "system", "content": "Serve."}
assert [one["role"] for one in transcript[1:]] == [
    "user",
    "assistant",
    "tool",
    "assistant",
    "tool",
    "assistant",
], transcript
assert transcript[4]["tool_calls"][0]["arguments"] == {"order": "7"}
assert transcript[4]["agent"] == "payments"
assert transcript[5]["content"] == "7 of ada" and transcript[5]["name"] == "refund"
usage = output.spending.total
assert (usage.calls, usage.input_tokens, usage.cost_usd) == (3, 30, None)

# Equal in effect, and nothing of the user's has changed.
SEEN.clear()
winner = spec.apply(changed)
assert Runner.run_sync(winner, "hi", context="ada").final_output == Answer(team="a")
assert tried == SEEN
SEEN.clear()
Runner.run_sync(desk, "hi", context="ada")
assert first == SEEN

# Agents that hand over to one another in a circle.
one = Agent(name="one", instructions="One.", model=Scripted())
two = Agent(name="two", instructions="Two.", handoffs=[one], model=Scripted())
one.handoffs = [two]
winner = burnish.from_openai_agents(one).apply({"sections": {"agents.two.system": "TWO"}})
assert winner.handoffs[0].instructions == "TWO" and two.instructions == "Two."
assert winner.handoffs[0].handoffs[0] is winner


# Many at once, with different texts: each sees its own.
async def together():
    agent = build_agent(
        burnish.from_openai_agents(Agent(name="a", instructions="I.", model=Scripted())), None
    )
    tried = [agent.configuration.with_sections({"system": f"I am {n}."}) for n in range(20)]
    item = Item(id="1", data={"input": "hi"})
    return await asyncio.gather(*(agent.run(text, item, repeat=0) for text in tried))


SEEN.clear()
asyncio.run(together())
assert sorted(json.loads(seen)[0] for seen in SEEN) == sorted(f"I am {n}." for n in range(20))
print("all is well", file=sys.stderr)
