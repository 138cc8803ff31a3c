"""Agents of the OpenAI Agents SDK, optimized: a handoff and a tool's parameter, by their descriptions.

Runs offline: the model is scripted, and reads what a real one would read.
"""

import json

from agents import Agent, ModelResponse, Usage, function_tool, set_tracing_disabled
from agents.models.interface import Model
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

import burnish

set_tracing_disabled(True)


class Scripted(Model):
    """Hands over where the description fits, and calls the tool as its parameter is described."""

    async def get_response(self, *, input, tools, handoffs, **_):  # noqa: A002 - the SDK's names
        said = [one for one in input if isinstance(one, dict)]
        text = next(one["content"] for one in said if one.get("role") == "user")
        returned = [one for one in said if one.get("type") == "function_call_output"]
        if handoffs:
            refunds = "money back" in handoffs[0].tool_description
            return _call(handoffs[0].tool_name, {}) if refunds else _message("I cannot help.")
        if tools and not any("order" in str(one["output"]) for one in returned):
            schema = tools[0].params_json_schema["properties"]["number"]
            number = text.split()[-1]
            digits = "digits" in schema.get("description", "")
            return _call("refund", {"number": number.lstrip("#") if digits else number})
        return _message(returned[-1]["output"])

    def stream_response(self, *_, **__):
        raise NotImplementedError


calls = iter(range(10_000))


def _call(name: str, arguments: dict) -> ModelResponse:
    call = ResponseFunctionToolCall(
        type="function_call",
        call_id=f"call-{next(calls)}",
        name=name,
        arguments=json.dumps(arguments),
    )
    return ModelResponse(output=[call], usage=Usage(requests=1), response_id=None)


def _message(text: str) -> ModelResponse:
    content = ResponseOutputText(type="output_text", text=text, annotations=[])
    message = ResponseOutputMessage(
        id="message", type="message", role="assistant", status="completed", content=[content]
    )
    return ModelResponse(output=[message], usage=Usage(requests=1), response_id=None)


@function_tool
def refund(number: str) -> str:
    """Pay an order back.

    Args:
        number: The order.
    """
    return f"order {number} paid back" if number.isdigit() else f"no order {number}"


payments = Agent(
    name="payments",
    handoff_description="Payments.",
    instructions="Pay back.",
    tools=[refund],
    model=Scripted(),
)
desk = Agent(name="desk", instructions="Help.", handoffs=[payments], model=Scripted())

rows = [{"input": f"Refund #{n}", "expected": f"order {n} paid back"} for n in range(10, 18)]
tried = burnish.from_openai_agents(desk)
print(list(tried.configuration.sections))

result = burnish.optimize(
    agent=tried,
    suite=burnish.Suite(
        dataset=rows, scorers=["exact_match"], split={"validation": 0.5, "test": 0.5}
    ),
    optimizer="grid",  # with a model that writes: optimizer="gepa", model="openai/…"
    settings={
        "sections": {
            "agents.payments.description": ["Whoever wants money back."],
            "agents.payments.tools.refund.parameters.number": ["The order, digits only."],
        }
    },
    budget=burnish.Budget(max_trials=6),
)
print(result.baseline.score, "->", result.best.score)
assert (result.baseline.score, result.best.score) == (0.0, 1.0)

from agents import Runner  # noqa: E402 - as you would use the winner

winner = tried.apply(result.best)
assert Runner.run_sync(winner, "Refund #99").final_output == "order 99 paid back"
for row in rows:  # Equal in effect: it answers as it did in the run.
    assert Runner.run_sync(winner, row["input"]).final_output == row["expected"]
assert Runner.run_sync(desk, "Refund #99").final_output == "I cannot help."
