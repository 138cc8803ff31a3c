"""A DSPy program, optimized: the tool of its ReAct is called wrongly until its parameter says how.

Runs offline: the model is scripted, and reads what a real one would read.
"""

import re
from types import SimpleNamespace

import dspy

import burnish


class Scripted(dspy.BaseLM):
    """Plans, calls the tool as its parameter is described, and answers as the field is described."""

    def __init__(self):
        super().__init__("scripted", cache=False)

    def forward(self, prompt=None, messages=None, **_):
        told, asked = messages[0]["content"], messages[-1]["content"]
        number = re.search(r"#(\d+)", asked).group(1)
        found = re.search(r"order \d+ was \w+", asked)
        if "`plan`" in told and "`trajectory`" not in told:
            fields = {"plan": f"look up #{number}"}
        elif "next_tool_name" not in told:
            word = found.group().split()[-1] if found else "lost"
            terse = "one word" in told
            fields = {"reasoning": "It is seen.", "answer": word if terse else f"It was {word}."}
        elif "observation_0" in asked:
            fields = {"next_thought": "Done.", "next_tool_name": "finish", "next_tool_args": "{}"}
        else:
            given = number if "digits only" in told else f"#{number}"
            fields = {
                "next_thought": "Look.",
                "next_tool_name": "orders",
                "next_tool_args": f'{{"number": "{given}"}}',
            }
        text = "\n".join(f"[[ ## {name} ## ]]\n{value}" for name, value in fields.items())
        message = SimpleNamespace(content=text, tool_calls=None)
        choice = SimpleNamespace(message=message, finish_reason="stop")
        return SimpleNamespace(choices=[choice], usage={}, model="scripted")


def orders(number: str) -> str:
    """Tell what became of an order."""
    if not number.isdigit():
        return f"no order {number}"
    return f"order {number} was {'sent' if int(number) % 2 else 'packed'}"


class Desk(dspy.Module):
    """Plans first, then looks orders up."""

    def __init__(self):
        super().__init__()
        self.plan = dspy.Predict("question -> plan")
        self.agent = dspy.ReAct("question, plan -> answer", tools=[orders], max_iters=3)

    def forward(self, question):
        return self.agent(question=question, plan=self.plan(question=question).plan)


desk = Desk()
rows = [
    {"question": f"Where is #{number}?", "answer": "sent" if number % 2 else "packed"}
    for number in range(10, 22)
]
tried = burnish.from_dspy(desk, lm=Scripted())
print(list(tried.configuration.sections))

result = burnish.optimize(
    agent=tried,
    suite=burnish.Suite(
        dataset=rows,
        scorers=[{"kind": "exact_match", "field": "answer"}],
        split={"validation": 0.5, "test": 0.5},
    ),
    optimizer="grid",  # with a model that writes: optimizer="gepa", model="openai/…"
    settings={
        "sections": {
            "agent.tools.orders.parameters.number": ["The order's number, digits only."],
            "agent.extract.predict.fields.answer": ["What became of it, in one word."],
        }
    },
    budget=burnish.Budget(max_trials=6),
)
print(result.baseline.score, "->", result.best.score)
assert (result.baseline.score, result.best.score) == (0.0, 1.0)

winner = tried.apply(result.best)
with dspy.context(lm=Scripted()):
    assert winner(question="Where is #99?").answer == "sent"
    for row in rows:  # Equal in effect: it answers as it did in the run.
        assert winner(question=row["question"]).answer == row["answer"]
    assert desk(question="Where is #99?").answer == "It was lost."
