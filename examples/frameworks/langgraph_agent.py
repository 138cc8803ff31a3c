"""A graph of LangGraph, optimized: two tools are confused until their descriptions tell them apart.

Runs offline: the model is scripted, and reads what a real one would read.
"""

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langchain_core.utils.function_calling import convert_to_openai_tool

import burnish


class Scripted(BaseChatModel):
    """Takes the first tool whose description fits the question, and says no more than it is told to."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools, **settings):
        return self.bind(tools=[convert_to_openai_tool(one) for one in tools], **settings)

    def _generate(self, messages, stop=None, run_manager=None, *, tools=(), **_):
        terse = "number alone" in messages[0].content
        if messages[-1].type == "tool":
            found = messages[-1].content
            answer = AIMessage(found if terse else f"The answer is {found}.")
        else:
            question = messages[-1].content
            known = {one["function"]["name"]: one["function"]["description"] for one in tools}
            wanted = "sent" if "sent" in question else "placed"
            name = next((one for one, text in known.items() if wanted in text), "orders")
            call = {"name": name, "args": {"day": question.split()[-1]}, "id": f"call-{name}"}
            answer = AIMessage("", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=answer)])


@tool
def orders(day: str) -> str:
    """Count orders."""
    return f"1{day}"


@tool
def parcels(day: str) -> str:
    """Count things."""
    return f"2{day}"


graph = create_agent(Scripted(), [orders, parcels], system_prompt="You count things.")

rows = [
    {"question": f"How many were {word} on day {day}", "expected": f"{first}{day}"}
    for word, first in (("placed", 1), ("sent", 2))
    for day in range(1, 7)
]
tried = burnish.from_langgraph(graph, prompt="{{question}}")
print(list(tried.configuration.sections))

result = burnish.optimize(
    agent=tried,
    suite=burnish.Suite(
        dataset=rows, scorers=["exact_match"], split={"validation": 0.5, "test": 0.5}
    ),
    optimizer="grid",  # with a model that writes: optimizer="gepa", model="openai/…"
    settings={
        "sections": {
            "system": ["You count things. Answer with the number alone."],
            "tools.parcels.description": ["Count parcels that were sent."],
        }
    },
    budget=burnish.Budget(max_trials=6),
)
print(result.baseline.score, "->", result.best.score)
assert (result.baseline.score, result.best.score) == (0.0, 1.0)


def answer(graph, question):
    asked = {"messages": [{"role": "user", "content": question}]}
    return graph.invoke(asked)["messages"][-1].content


winner = tried.apply(result.best)
assert answer(winner, "How many were sent on day 9") == "29"
for row in rows:  # Equal in effect: it answers as it did in the run.
    assert answer(winner, row["question"]) == row["expected"]
assert answer(graph, "How many were sent on day 9") == "The answer is 19."
