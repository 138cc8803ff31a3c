"""Programs of DSPy of several makes; tests/integration/test_frameworks.py runs this."""

import asyncio
import json
import sys
import warnings

import dspy
from dspy.utils import DummyLM
from dspy.utils.callback import BaseCallback
from dspy.utils.exceptions import LMAuthError, LMServerError

import burnish
from burnish.app.wiring import build_agent
from burnish.domain import Configuration, Item, UnavailableError, UsageError

warnings.simplefilter("ignore")
PAID = []


def run(spec, configuration, **fields):
    agent = build_agent(spec, None)
    item = Item(id="1", data=fields)
    return asyncio.run(agent.run(configuration, item, repeat=0))


def asked(lm):
    """What the model was shown, without what differs from call to call."""
    return [json.dumps([one["messages"], one["kwargs"].get("tools")]) for one in lm.history]


def changed_by(spec, changes):
    assert set(changes) <= set(spec.configuration.sections), list(spec.configuration.sections)
    return spec.configuration.with_sections(changes)


class Route(dspy.Signature):
    """Say which team answers."""

    message: str = dspy.InputField(desc="What a customer wrote.")
    team: str = dspy.OutputField()


class Desk(dspy.Module):
    """Several predictors, one of them in a list, one with two outputs."""

    def __init__(self):
        super().__init__()
        self.plan = dspy.Predict("message -> plan")
        self.steps = [dspy.ChainOfThought(Route)]

    def forward(self, message):
        plan = self.plan(message=message).plan
        return self.steps[0](message=f"{message} ({plan})")


def check_several_predictors():
    program = Desk()
    answers = [{"plan": "look"}, {"reasoning": "r", "team": "Lima"}]
    first, tried, own = DummyLM(answers), DummyLM(answers), DummyLM(answers)
    spec = burnish.from_dspy(program, lm=first)
    assert dict(spec.configuration.sections) == {
        "plan.instructions": "Given the fields `message`, produce the fields `plan`.",
        "plan.fields.plan": "",
        "steps.0.predict.instructions": "Say which team answers.",
        "steps.0.predict.fields.message": "What a customer wrote.",
        "steps.0.predict.fields.team": "",
    }, dict(spec.configuration.sections)
    run(spec, spec.configuration, message="hi", label="Lima")
    changed = changed_by(
        spec,
        {
            "plan.instructions": "Plan in three steps.",
            "steps.0.predict.fields.message": "MESSAGE",
            "steps.0.predict.fields.team": "TEAM",
        },
    )
    output = run(burnish.from_dspy(program, lm=tried), changed, message="hi", label="Lima")
    assert "Plan in three steps." in asked(tried)[0]
    assert "MESSAGE" in asked(tried)[1] and "TEAM" in asked(tried)[1]
    assert (output.text, output.data) == ("Lima", {"reasoning": "r", "team": "Lima"})
    assert output.spending.total.calls == 2 and output.spending.total.cost_usd is None
    transcript = output.trace["transcript"]
    assert [(one["role"], one["agent"]) for one in transcript] == [
        *((role, "plan") for role in ("system", "user", "assistant")),
        *((role, "steps.0.predict") for role in ("system", "user", "assistant")),
    ], transcript
    assert transcript[4]["content"] == "hi (look)"

    # Equal in effect, and nothing of the user's has changed.
    winner = spec.apply(changed)
    with dspy.context(lm=own):
        assert winner(message="hi").team == "Lima"
    assert asked(own) == asked(tried)
    again = DummyLM(answers)
    with dspy.context(lm=again):
        program(message="hi")
    assert asked(again) == asked(first) != asked(tried)
    assert burnish.to_dspy(program, changed).dump_state() == winner.dump_state()

    # What dspy saves of the winner is the winner.
    loaded = Desk()
    loaded.load_state(json.loads(json.dumps(winner.dump_state())))
    third = DummyLM(answers)
    with dspy.context(lm=third):
        loaded(message="hi")
    assert asked(third) == asked(tried)


def check_demos():
    short = dspy.ChainOfThought("question -> answer")
    short.predict.demos = [dspy.Example(question="q0", reasoning="r0", answer="a0")]
    shown = burnish.from_dspy(short).configuration
    assert [dict(one) for one in shown.examples] == [
        {"input": {"question": "q0"}, "output": '{"reasoning": "r0", "answer": "a0"}'}
    ]
    example = {"input": {"question": "q1"}, "output": "a1"}
    lm = DummyLM([{"reasoning": "r", "answer": "x"}])
    fewer = Configuration.of({**shown.to_json(), "examples": [example]})
    run(burnish.from_dspy(short, lm=lm), fewer, question="q")
    assert "q1" in asked(lm)[0] and "q0" not in asked(lm)[0]
    assert short.predict.demos[0].answer == "a0"


def refund(order: str, reason: str = "") -> str:
    """Pay an order back."""
    PAID.append(order)
    return f"paid {order}"


class Till:
    """Tools that are methods keep the state of the object that the user gave."""

    def __init__(self):
        self.asked = []

    def price(self, item: str) -> str:
        """The price."""
        self.asked.append(item)
        raise KeyError(item)


def react_answers():
    call = {"next_thought": "t", "next_tool_name": "refund", "next_tool_args": {"order": "7"}}
    lost = {"next_thought": "t", "next_tool_name": "price", "next_tool_args": {"item": "pen"}}
    end = {"next_thought": "e", "next_tool_name": "finish", "next_tool_args": {}}
    return [call, lost, end, {"reasoning": "r", "team": "Lima"}]


def check_react():
    till = Till()
    pay = dspy.Tool(refund, arg_desc={"order": "The order."})

    class Agent(dspy.Module):
        def __init__(self):
            super().__init__()
            self.agent = dspy.ReAct(Route, tools=[pay, till.price], max_iters=4)

        def forward(self, message):
            return self.agent(message=message)

    program = Agent()
    first, tried, own = (DummyLM(react_answers()) for _ in range(3))
    spec = burnish.from_dspy(program, lm=first)
    sections = spec.configuration.sections
    head = sections["agent.react.instructions"]
    assert head.startswith("Say which team answers.") and "whose description" not in head
    assert sections["agent.tools.refund.description"] == "Pay an order back."
    assert sections["agent.tools.refund.parameters.order"] == "The order."
    assert sections["agent.tools.refund.parameters.reason"] == ""
    assert "agent.tools.finish.description" in sections
    assert "agent.extract.predict.fields.team" in sections
    assert not [one for one in sections if "next_" in one or "trajectory" in one]
    run(spec, spec.configuration, message="hi")
    changed = changed_by(
        spec,
        {
            "agent.react.instructions": "Use one of:",
            "agent.tools.refund.description": "REFUND",
            "agent.tools.refund.parameters.order": "DIGITS",
            "agent.tools.price.parameters.item": "ITEM",
            "agent.extract.predict.instructions": "Extract.",
            "agent.react.fields.message": "MESSAGE",
        },
    )
    output = run(burnish.from_dspy(program, lm=tried), changed, message="hi")
    for text in ("Use one of:", "(1) refund", "REFUND", "DIGITS", "ITEM", "MESSAGE", "JSON format"):
        assert text in asked(tried)[0], (text, asked(tried)[0])
    assert "Pay an order back" not in asked(tried)[0] and "Extract." in asked(tried)[3]
    assert (output.text, output.data) == ("Lima", {"reasoning": "r", "team": "Lima"})
    assert output.spending.total.calls == 4
    transcript = output.trace["transcript"]
    roles = [one["role"] for one in transcript]
    steps = ["assistant", "tool"] * 3
    assert roles == ["system", "user", *steps, "system", "user", "assistant"], roles
    call = transcript[2]["tool_calls"][0]
    assert (call["name"], call["arguments"]) == ("refund", {"order": "7"})
    assert transcript[3]["content"] == "paid 7" and transcript[3]["tool_call_id"] == call["id"]
    assert transcript[5]["error"] is True and "pen" in transcript[5]["content"]
    assert PAID == ["7", "7"] and till.asked == ["pen", "pen"], "the user's own tools were called"

    # ReAct shows tracebacks to the model, and dspy's own line in them depends on callbacks.
    winner = spec.apply(changed)
    with dspy.context(lm=own, callbacks=[BaseCallback()]):
        assert winner(message="hi").team == "Lima"
    assert asked(own) == asked(tried)
    again = DummyLM(react_answers())
    with dspy.context(lm=again, callbacks=[BaseCallback()]):
        program(message="hi")
    assert asked(again) == asked(first) != asked(tried)
    assert pay.desc == "Pay an order back."

    # A winner of an earlier version holds the list of the tools itself.
    whole = program.agent.react.signature.instructions
    old = burnish.to_dspy(program, {"sections": {"agent.react.instructions": f"OLD {whole}"}})
    assert old.agent.react.signature.instructions == f"OLD {whole}"
    kept = burnish.to_dspy(program, {"sections": {"agent.react.instructions": head}})
    assert kept.agent.react.signature.instructions == whole


def check_tools_that_are_handed_over():
    """ReActV2, where there is one, gives its tools with each call."""
    if not hasattr(dspy, "ReActV2"):
        return
    program = dspy.ReActV2(Route, tools=[refund])
    calls = dspy.ToolCalls.from_dict_list
    answers = [
        {"next_thought": "t", "tool_calls": calls([{"name": "refund", "args": {"order": "7"}}])},
        {"next_thought": "t", "tool_calls": calls([{"name": "submit", "args": {"team": "Lima"}}])},
    ]
    texts = [{**one, "tool_calls": one["tool_calls"].model_dump_json()} for one in answers]
    tried, own = DummyLM(texts), DummyLM(texts)
    spec = burnish.from_dspy(program, lm=tried)
    changed = changed_by(
        spec, {"tools.refund.description": "REFUND", "tools.submit.parameters.team": "TEAM"}
    )
    output = run(spec, changed, message="hi")
    assert "REFUND" in asked(tried)[0] and "TEAM" in asked(tried)[0], asked(tried)[0]
    assert output.text == "Lima", output
    tools = [one for one in output.trace["transcript"] if one["role"] == "tool"]
    assert tools[0]["content"] == "paid 7" and tools[0]["tool_call_id"]
    with dspy.context(lm=own):
        assert spec.apply(changed)(message="hi").team == "Lima"
    assert asked(own) == asked(tried)


def check_versions():
    """Results are reused only where model, code and tools can be seen."""
    lm = dspy.LM("openai/x")
    assert burnish.from_dspy(Desk(), lm=lm).version.startswith("dspy-")
    assert burnish.from_dspy(Desk(), lm=DummyLM([])).version is None
    one = burnish.from_dspy(dspy.ReAct(Route, tools=[refund]), lm=lm).version
    other = burnish.from_dspy(
        dspy.ReAct(Route, tools=[dspy.Tool(lambda order: order, name="refund", desc="x")]), lm=lm
    ).version
    assert one and one != other
    assert burnish.from_dspy(Desk(), version="3").version == "3"


def check_failures():
    """A model that is away is an outage, and a refused key ends the run."""

    class Failing(DummyLM):
        def __init__(self, error):
            super().__init__([])
            self.error = error

        def forward(self, *_, **__):
            raise self.error

        def __deepcopy__(self, memo):
            return self

    for error, ours in (
        (LMServerError("overloaded", status=503), UnavailableError),
        (LMServerError("overloaded"), UnavailableError),
        (LMAuthError("who?", status=401), UsageError),
    ):
        try:
            spec = burnish.from_dspy(Desk(), lm=Failing(error))
            run(spec, spec.configuration, message="hi")
        except ours as found:
            assert "DSPy" in str(found)
        else:
            raise AssertionError("it should have failed")


def check_many_at_once():
    """Each run sees its own texts."""

    class Echo(dspy.Module):
        def __init__(self):
            super().__init__()
            self.answer = dspy.Predict("question -> answer")

        def forward(self, question):
            return dspy.Prediction(answer=self.answer.signature.instructions)

    async def together():
        agent = build_agent(burnish.from_dspy(Echo()), None)
        item = Item(id="1", data={"question": "q"})
        texts = [f"I am {number}." for number in range(20)]
        tried = [agent.configuration.with_sections({"answer.instructions": one}) for one in texts]
        outputs = await asyncio.gather(*(agent.run(one, item, repeat=0) for one in tried))
        return [one.text for one in outputs] == texts

    assert asyncio.run(together())


check_several_predictors()
check_demos()
check_react()
check_tools_that_are_handed_over()
check_versions()
check_failures()
check_many_at_once()
print("all is well", file=sys.stderr)
