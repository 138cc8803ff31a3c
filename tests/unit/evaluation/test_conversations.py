"""Conversations: scripted and simulated users against any agent, and what they cost."""

from __future__ import annotations

import asyncio
import json

import pytest

import burnish
from burnish.domain import (
    AgentOutput,
    Configuration,
    ErrorKind,
    Item,
    Message,
    ModelResponse,
    Payer,
    Purpose,
    Spending,
    ToolCall,
    UnavailableError,
    Usage,
    UsageError,
    current_payer,
    paying_for,
)
from burnish.evaluation.agents import PromptAgent, PythonAgent
from burnish.evaluation.conversations.agent import UserPlan, require_user
from burnish.evaluation.conversations.policy import UserPolicy
from burnish.evaluation.item_runner import ItemRunner
from burnish.evaluation.scorers.scorer_set import ScorerSet
from burnish.evaluation.scorers.transcripts import GoalReached
from burnish.models.catalog import CachedModel

SECTIONS = {"system": "Help {{name}}.", "user": "Customer: {{turn}}"}


class Scripted:
    """Answers of a model, one after the other; an exception among them is raised."""

    fingerprint = "scripted"

    def __init__(self, *answers, name: str = "fake/model") -> None:
        self.name = name
        self._answers = list(answers)
        self.requests = []

    async def complete(self, request) -> ModelResponse:
        self.requests.append(request)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return ModelResponse(text=answer, usage=Usage(calls=1, input_tokens=10, cost_usd=0.5))

    async def close(self) -> None: ...


class MemoryCache:
    def __init__(self) -> None:
        self._kept = {}

    async def get(self, key):
        return self._kept.get(key)

    async def put(self, key, value) -> None:
        self._kept[key] = json.loads(json.dumps(value))


def says(message: str = "", status: str = "continue") -> str:
    return json.dumps({"status": status, "message": message})


def prompt_agent(model) -> PromptAgent:
    return PromptAgent(
        name="desk", configuration=Configuration.of({"sections": SECTIONS}), model=model
    )


def talk(agent, item: dict, model=None, repeat: int = 0, **policy) -> AgentOutput:
    plan = UserPlan(policy=UserPolicy(model=model, **policy), model=model)
    return asyncio.run(
        plan.around(agent).run(agent.configuration, Item(id="i", data=item), repeat=repeat)
    )


def test_scripted_turns_reach_a_prompt_one_after_the_other() -> None:
    model = Scripted("Which order?", "It is on its way.")

    output = talk(prompt_agent(model), {"name": "Ann", "turns": ["Where is it?", "Order 7."]})

    assert output.text == "It is on its way."
    assert output.trace["ended"] == "answer"
    assert [one["role"] for one in output.trace["transcript"]] == ["user", "assistant"] * 2
    assert model.requests[1].messages == (
        Message("system", "Help Ann."),
        Message("user", "Customer: Where is it?"),
        Message("assistant", "Which order?"),
        Message("user", "Customer: Order 7."),
    )
    assert output.spending.by_purpose["agent"].calls == 2


def test_a_simulated_user_ends_at_its_goal_and_is_paid_for_by_itself() -> None:
    user = Scripted(says("Where is it?"), says("Order 7."), says(status="goal_reached"))
    item = {"name": "Ann", "goal": "to know where order 7 is", "who": "curt", "expected": "SECRET"}

    output = talk(prompt_agent(Scripted("Which?", "Here.")), item, user, persona="who")

    assert output.trace["ended"] == "goal" and output.text == "Here."
    assert {name: one.calls for name, one in output.spending.by_purpose.items()} == {
        "agent": 2,
        "user": 3,
    }
    seen = [message.content for request in user.requests for message in request.messages]
    assert "to know where order 7 is" in seen[0] and "curt" in seen[0]
    assert not any("SECRET" in text for text in seen)
    assert "Which?" in seen[-1] and "Help Ann" not in seen[-1]


@pytest.mark.parametrize(
    ("answers", "ended"),
    [
        ([says("a"), says("b"), says("c")], "max_turns"),
        ([says("a"), says("b"), says(status="goal_reached")], "goal"),
        ([says("a"), says(status="gave_up")], "gave_up"),
        ([says("a"), "no JSON", says(status="gave_up")], "gave_up"),
    ],
)
def test_a_conversation_ends_at_its_limit_or_by_the_users_word(answers, ended) -> None:
    agent = prompt_agent(Scripted("1", "2", "3"))

    output = talk(agent, {"name": "A", "goal": "g"}, Scripted(*answers), max_turns=2)

    assert output.trace["ended"] == ended


def test_a_script_comes_before_the_simulated_user() -> None:
    user = Scripted(says("and then?"), says(status="goal_reached"))
    output = talk(
        prompt_agent(Scripted("1", "2")),
        {"name": "A", "goal": "g", "turns": '["Hello."]'},
        user,
        turns="turns",
    )

    told = [one["content"] for one in output.trace["transcript"]]
    assert told == ["Hello.", "1", "and then?", "2"]


class ToolAgent:
    """As an agent with tools leaves its transcript: everything that it was sent, then its steps."""

    name, fingerprint = "tools", "f"
    configuration = Configuration.of({"sections": SECTIONS})

    def __init__(self) -> None:
        self.seen = []
        self.payers = []

    async def run(self, configuration, item, *, repeat) -> AgentOutput:
        self.seen.append(item.messages)
        self.payers.append(current_payer())
        sent = [{"role": "system", "content": "Help."}] + [one.to_json() for one in item.messages]
        call = {"id": "call_1", "name": "find", "arguments": {"n": len(self.seen)}}
        steps = [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "user", "content": "a task", "agent": "helper"},
            {"role": "assistant", "content": "done", "agent": "helper"},
            {"role": "tool", "content": "found", "tool_call_id": "call_1", "name": "find"},
            {"role": "assistant", "content": "Found."},
        ]
        trace = {"transcript": [*sent, *steps], "ended": "answer"}
        spending = Spending.on(Purpose.AGENT, Usage(calls=1, cost_usd=1.0))
        return AgentOutput(text="Found.", trace=trace, spending=spending)

    async def close(self) -> None: ...


def test_earlier_tool_calls_are_there_in_later_turns() -> None:
    agent, payer = ToolAgent(), Payer("run/i/0")

    with paying_for(payer):
        output = talk(agent, {"turns": ["one", "two"]})

    roles = [one["role"] for one in output.trace["transcript"]]
    steps = ["user", "assistant", "user", "assistant", "tool", "assistant"]
    assert roles == ["system", *steps, *steps]
    history = agent.seen[1]
    assert [one.role for one in history] == ["user", "assistant", "tool", "assistant", "user"]
    assert history[1].tool_calls[0].arguments == {"n": 1}
    ids = [one["tool_call_id"] for one in output.trace["transcript"] if one["role"] == "tool"]
    assert ids == ["call_1", "call_1_2"]
    # Tools that were called in one turn are called anew in the next, and nothing is counted twice.
    assert [one.name for one in agent.payers] == ["run/i/0/turn-1", "run/i/0/turn-2"]
    assert all(one.keys is payer.keys for one in agent.payers)


def test_a_function_gets_the_messages() -> None:
    def answer(configuration, item) -> str:
        return f"{len(item['messages'])}: {item['turn']}"

    agent = PythonAgent(name="f", configuration=Configuration.of({}), run=answer)
    output = talk(agent, {"turns": ["a", "b"]})

    assert output.text == "3: b"


def scored(agent, plan, item: dict):
    runner = ItemRunner(
        plan.around(agent),
        agent.configuration,
        ScorerSet([GoalReached()]),
        pass_threshold=None,
        timeout_seconds=None,
    )
    return asyncio.run(runner.run(Item(id="i", data=item), 0))


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (UnavailableError(what="away", why="w", fix="f"), ErrorKind.INFRASTRUCTURE),
        (RuntimeError("broken"), ErrorKind.AGENT),
    ],
)
def test_what_was_paid_before_a_failure_is_counted_by_purpose(error, kind) -> None:
    user = Scripted(says("a"), says("b"))
    plan = UserPlan(policy=UserPolicy(model=user), model=user)

    result = scored(prompt_agent(Scripted("1", error)), plan, {"name": "A", "goal": "g"})

    assert result.error is not None and result.error.kind is kind
    paid = result.spending.by_purpose
    assert {name: one.cost_usd for name, one in paid.items()} == {"agent": 0.5, "user": 1.0}


def test_a_user_that_says_nothing_usable_is_no_result() -> None:
    user = Scripted("hm", "hm")
    plan = UserPlan(policy=UserPolicy(model=user), model=user)

    result = scored(prompt_agent(Scripted()), plan, {"name": "A", "goal": "g"})

    assert result.error is not None and result.error.kind is ErrorKind.INFRASTRUCTURE
    assert result.spending.by_purpose["user"].calls == 2


def test_an_interrupted_conversation_asks_only_for_what_is_missing() -> None:
    cache, away = MemoryCache(), UnavailableError(what="away", why="w", fix="f")
    user, model = Scripted(says("a"), says("b"), says(status="goal_reached")), Scripted("1", away)
    item = {"name": "A", "goal": "g"}
    with pytest.raises(UnavailableError):
        talk(prompt_agent(CachedModel(model, cache)), item, CachedModel(user, cache))
    model._answers = ["2"]

    output = talk(prompt_agent(CachedModel(model, cache)), item, CachedModel(user, cache))

    assert output.trace["ended"] == "goal" and output.text == "2"
    assert len(model.requests) == 3  # one of them failed
    assert len(user.requests) == 3


@pytest.mark.parametrize(
    ("policy", "columns", "said"),
    [
        ({}, {"name"}, "no column 'turns'"),
        ({"model": "m"}, {"name"}, "no column 'goal'"),
        ({"model": "m", "persona": "who"}, {"goal"}, "no column 'who'"),
    ],
)
def test_columns_are_looked_for_before_anything_is_paid(policy, columns, said) -> None:
    with pytest.raises(UsageError, match=said):
        require_user(UserPlan(policy=UserPolicy(**policy)), columns, None)


def test_a_prompt_without_the_turn_is_refused() -> None:
    configuration = Configuration.of({"sections": {"system": "{{turn}}", "user": "{{name}}"}})
    agent = PromptAgent(name="p", configuration=configuration, model=Scripted())
    with pytest.raises(UsageError, match=r"no section of the user holds \{\{turn\}\}"):
        require_user(UserPlan(policy=UserPolicy()), {"turns", "name"}, agent)


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ({"max_turns": 0}, "whole number"),
        ({"goal": "g"}, "no model is named"),
        ({"colour": 1}, "no such setting"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(policy, said) -> None:
    with pytest.raises(UsageError, match=said):
        UserPolicy.of(policy)


@pytest.mark.parametrize("turns", [[], [7], [" "], None])
def test_turns_that_are_none_are_told(turns) -> None:
    with pytest.raises(UsageError, match="the conversation cannot begin"):
        talk(prompt_agent(Scripted()), {"name": "A", "turns": turns})


def test_an_evaluation_of_conversations_is_not_paid_twice(tmp_path) -> None:
    user, model = Scripted(says("Where?"), says(status="goal_reached")), Scripted("Here.")
    agent = burnish.Agent(
        configuration={"sections": {"system": "Help.", "user": "{{turn}}"}},
        model=model,
    )
    suite = burnish.Suite(
        dataset=[{"goal": "order 7"}],
        scorers=["goal_reached", {"kind": "turns", "most": 1}],
        user={"model": user},
    )

    first = burnish.evaluate(agent, suite, db=tmp_path / "b.db")
    again = burnish.evaluate(agent, suite, db=tmp_path / "b.db")

    assert first.score == again.score == 1
    paid = {name: one["cost_usd"] for name, one in first.usage["by_purpose"].items()}
    assert paid == {"agent": 0.5, "user": 1.0}
    assert len(user.requests) == 2 and len(model.requests) == 1


def test_an_agent_with_tools_calls_them_anew_in_each_turn(tmp_path) -> None:
    called = []

    def find(what: str) -> str:
        """Find it."""
        called.append(what)
        return what.upper()

    class Calling(Scripted):
        async def complete(self, request) -> ModelResponse:
            self.requests.append(request)
            last = request.messages[-1]
            asked = (ToolCall("", "find", {"what": last.content}),) if last.role == "user" else ()
            text = "" if asked else f"found {last.content}"
            return ModelResponse(text=text, tool_calls=asked, usage=Usage(calls=1))

    model = Calling()
    agent = burnish.Agent(
        configuration={"sections": {"system": "Help.", "user": "{{turn}}"}},
        model=model,
        tools=[find],
    )
    suite = burnish.Suite(
        dataset=[{"turns": ["a", "a"], "expected": "found A"}],
        scorers=["exact_match", {"kind": "tool_order", "calls": ["find", "find"], "strict": True}],
        user={"turns": "turns"},
    )

    result = burnish.evaluate(agent, suite, db=tmp_path / "b.db")

    assert result.score == 1 and called == ["a", "a"]
    turn = ["user", "assistant", "tool"]
    assert [one.role for one in model.requests[-1].messages] == [
        "system",
        *turn,
        "assistant",
        *turn,
    ]
