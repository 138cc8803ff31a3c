"""Agents with tools: the loop, its limits, its observations, and texts of tools as sections."""

import asyncio
import json
import threading
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field

import burnish
from burnish.app.wiring import build_agent
from burnish.domain import (
    Configuration,
    Item,
    ModelResponse,
    Payer,
    ToolCall,
    UnavailableError,
    UsageError,
    paying_for,
)
from burnish.evaluation.agents.tools.python_functions import FunctionTool, read_docstring
from burnish.models.scripted import ScriptedModel

ITEM = Item(id="i1", data={"message": "where is order 7?"})
SECTIONS = {"system": "You help.", "user": "{{message}}"}


class Status(Enum):
    OPEN = "open"
    DONE = "done"


@dataclass
class Address:
    street: str
    city: str = "Rome"


class Parcel(BaseModel):
    title: str = Field(description="What stands on it.")
    to: list[Address]


def find_order(order_id: str, status: Status = Status.OPEN) -> dict:
    """Find an order
    by its id.

    Args:
        order_id: The number,
            without a #.
        status (Status): Its state.

    Returns:
        The order.
    """
    return {"id": order_id, "status": status}


def calls(*wanted):
    """An answer that asks for tools."""
    return ModelResponse(
        text="",
        finish_reason="tool_calls",
        tool_calls=tuple(ToolCall(id_, name, given) for id_, name, given in wanted),
    )


def script(*answers):
    """A model that says one thing after another, by how often it spoke in the conversation."""

    def answer(request):
        spoken = sum(1 for one in request.messages if one.role == "assistant")
        return answers[min(spoken, len(answers) - 1)]

    return ScriptedModel(answer)


def agent_of(model, **settings):
    spec = burnish.Agent(
        name="helper", configuration={"sections": SECTIONS}, model=model, **settings
    )
    return build_agent(spec, lambda given: given)


def ask(agent, configuration=None, **options):
    async def run():
        try:
            return await agent.run(configuration or agent.configuration, ITEM, repeat=0, **options)
        finally:
            await agent.close()

    return asyncio.run(run())


class TestSections:
    def test_descriptions_become_sections_and_names_and_types_do_not(self):
        agent = agent_of(script("done"), tools=[find_order])

        assert agent.configuration.sections == {
            **SECTIONS,
            "tools.find_order.description": "Find an order by its id.",
            "tools.find_order.parameters.order_id": "The number, without a #.",
            "tools.find_order.parameters.status": "Its state.",
        }

    def test_the_configuration_wins_over_the_docstring_and_reaches_the_model(self):
        seen = []

        def answer(request):
            seen.append(request)
            return "ok"

        agent = agent_of(ScriptedModel(answer), tools=[find_order])
        changed = agent.configuration.with_sections(
            {"tools.find_order.description": "NEW", "tools.find_order.parameters.status": "open!"}
        )

        ask(agent, changed)

        tool = seen[0].tools[0]
        assert (tool.name, tool.description) == ("find_order", "NEW")
        assert tool.parameters["properties"]["status"]["description"] == "open!"
        assert tool.parameters["properties"]["status"]["enum"] == ["open", "done"]
        assert [one.content for one in seen[0].messages] == ["You help.", "where is order 7?"]

    def test_a_section_of_no_tool_is_refused_with_the_one_that_is_meant(self):
        sections = {**SECTIONS, "tools.find_ordr.description": "x"}

        with pytest.raises(UsageError, match="find_order.description") as refused:
            burnish.Agent(
                model=script("x"), tools=[find_order], configuration={"sections": sections}
            )

        assert refused.value.code == "unknown_section"

    def test_fields_of_an_output_schema_are_sections(self):
        seen = []

        def answer(request):
            seen.append(request.schema)
            return '{"label": "a"}'

        schema = {
            "type": "object",
            "properties": {"label": {"type": "string", "description": "One word."}},
        }
        agent = agent_of(ScriptedModel(answer), tools=[], output_schema=schema)

        output = ask(agent, agent.configuration.with_sections({"output.label": "Two words."}))

        assert output.data == {"label": "a"}
        assert seen[0]["properties"]["label"]["description"] == "Two words."


class TestFunctions:
    def test_nested_types_become_schemas_with_paths_and_arguments_become_those_types(self):
        seen = {}

        def ship(
            parcel: Parcel,
            kind: Literal["fast", "slow"] = "slow",
            count: Annotated[int, "How many."] = 1,
            note: str | None = None,
            idempotency_key: str = "",
        ) -> str:
            """Ship it."""
            seen.update(parcel=parcel, kind=kind, count=count, note=note, key=idempotency_key)
            return "shipped"

        tool = FunctionTool(ship)
        agent = agent_of(
            script(
                calls(("a", "ship", {"parcel": {"title": "T", "to": [{"street": "S"}]}})), "bye"
            ),
            tools=[tool],
        )
        output = ask(agent)

        assert output.trace["transcript"][3]["content"] == "shipped"
        assert seen["parcel"] == Parcel(title="T", to=[Address("S")])
        assert (seen["kind"], seen["count"], seen["note"]) == ("slow", 1, None)
        assert len(seen["key"]) == 64
        assert "idempotency_key" not in tool.parameters["properties"]
        paths = [one for one in agent.configuration.sections if one.startswith("tools.")]
        assert "tools.ship.parameters.parcel.to.street" in paths
        sections = agent.configuration.sections
        assert sections["tools.ship.parameters.parcel.title"] == "What stands on it."
        assert sections["tools.ship.parameters.count"] == "How many."

    @pytest.mark.parametrize(
        "text",
        [
            "Does it.\n\nArgs:\n    a (int): First\n        one.\n    b: Second.\n\nReturns:\n    x",
            "Does it.\n\n:param int a: First one.\n:type a: int\n:param b: Second.\n:returns: x",
            "Does it.\n\nParameters\n---\na : int\n    First one.\nb\n    Second.\n\nReturns\n---\nx",
        ],
    )
    def test_three_forms_of_docstrings_are_read(self, text):
        assert read_docstring(text) == ("Does it.", {"a": "First one.", "b": "Second."})

    def test_a_function_whose_types_have_no_schema_is_refused(self):
        def odd(lock: threading.Lock) -> None: ...

        with pytest.raises(UsageError, match="cannot be a tool"):
            FunctionTool(odd)


class TestLoop:
    def test_a_transcript_is_the_trace(self):
        answer = calls(("c1", "find_order", {"order_id": "7"}))
        output = ask(agent_of(script(answer, "It is open."), tools=[find_order]))

        assert output.text == "It is open."
        assert output.trace["ended"] == "answer"
        assert output.trace["transcript"] == [
            {"role": "system", "content": "You help."},
            {"role": "user", "content": "where is order 7?"},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": "c1", "name": "find_order", "arguments": {"order_id": "7"}}],
            },
            {
                "role": "tool",
                "content": '{"id": "7", "status": "open"}',
                "tool_call_id": "c1",
                "name": "find_order",
            },
            {"role": "assistant", "content": "It is open."},
        ]
        assert output.spending.total.calls == 2

    def test_calls_of_one_step_run_at_once_and_answer_in_their_order(self):
        both = threading.Barrier(2)
        order = []

        def first() -> str:
            both.wait(600)
            return "1"

        async def second() -> str:
            await asyncio.to_thread(both.wait, 600)
            order.append("second")
            return "2"

        output = ask(
            agent_of(
                script(calls(("", "first", {}), ("", "second", {})), "x"), tools=[first, second]
            )
        )

        said = [one for one in output.trace["transcript"] if one["role"] == "tool"]
        assert [one["content"] for one in said] == ["1", "2"]
        assert [one["tool_call_id"] for one in said] == ["call_1_1", "call_1_2"]

    @pytest.mark.parametrize(
        ("call", "told"),
        [
            (("c", "find_ordr", {}), "no tool 'find_ordr'"),
            (("c", "find_order", {"order_id": 7}), "order_id: 7 is not of type 'string'"),
            (("c", "find_order", {"order_id": "7", "status": "OPEN"}), "'OPEN' is not one of"),
            (("c", "find_order", {}), "'order_id' is a required property"),
            (("c", "find_order", '{"order_id"'), "no JSON object"),
            (("c", "fail", {}), "ValueError: out of stock"),
        ],
    )
    def test_what_goes_wrong_is_told_to_the_model(self, call, told):
        def fail() -> None:
            raise ValueError("out of stock")

        output = ask(agent_of(script(calls(call), "sorry"), tools=[find_order, fail]))

        observed = output.trace["transcript"][3]
        assert told in observed["content"] and observed["error"] is True
        assert output.text == "sorry"

    def test_an_outage_of_a_tool_is_no_answer_and_what_was_paid_is_told(self):
        def away() -> str:
            raise UnavailableError(what="the shop is away", why="maintenance", fix="wait")

        with pytest.raises(UnavailableError, match="the shop is away") as raised:
            ask(agent_of(script(calls(("c", "away", {})), "x"), tools=[away]))

        assert raised.value.usage.calls == 1

    @pytest.mark.parametrize(
        ("limits", "ended"),
        [
            ({"max_steps": 3}, "max_steps"),
            ({"max_tokens": 30}, "max_tokens"),
            ({"max_cost_usd": 0.00003}, "max_cost_usd"),
        ],
    )
    def test_limits_end_the_loop(self, limits, ended):
        model = script(calls(("", "find_order", {"order_id": "7"})))
        model._price = (1.0, 1.0)
        output = ask(agent_of(model, tools=[find_order], **limits))

        assert output.trace["ended"] == ended
        assert 1 < output.spending.total.calls < 10

    def test_seconds_end_the_loop_with_what_there_is(self):
        async def forever() -> str:
            await asyncio.Event().wait()

        output = ask(
            agent_of(script(calls(("c", "forever", {}))), tools=[forever], max_seconds=0.01)
        )

        assert output.trace["ended"] == "max_seconds"
        assert output.trace["transcript"][-1]["role"] in ("user", "assistant")

    def test_labels_are_read_from_the_last_answer(self):
        model = script(calls(("c", "find_order", {"order_id": "7"})), "It is Open.")
        output = ask(agent_of(model, tools=[find_order], labels=["open", "closed"]))

        assert output.text == "open"


class TestSubAgents:
    def test_a_sub_agent_is_a_tool_with_sections_of_its_own(self):
        seen = []

        def answer(request):
            seen.append(request)
            if request.messages[0].content == "You search.":
                spoken = [one for one in request.messages if one.role == "assistant"]
                return "found it" if spoken else calls(("s", "find_order", {"order_id": "7"}))
            asked = any(one.role == "tool" for one in request.messages)
            return "all good" if asked else calls(("m", "searcher", {"task": "look"}))

        agents = {
            "searcher": {
                "description": "Searches.",
                "instructions": "You search.",
                "tools": [find_order],
            }
        }
        agent = agent_of(ScriptedModel(answer), agents=agents)
        output = ask(agent)

        assert {
            "agents.searcher.description": "Searches.",
            "agents.searcher.system": "You search.",
            "agents.searcher.tools.find_order.description": "Find an order by its id.",
        }.items() <= agent.configuration.sections.items()
        assert output.text == "all good"
        inner = [one for one in output.trace["transcript"] if one.get("agent") == "searcher"]
        assert [one["role"] for one in inner] == [
            "system",
            "user",
            "assistant",
            "tool",
            "assistant",
        ]
        assert seen[0].tools[0].name == "searcher"
        assert [one.name for one in seen[1].tools] == ["find_order"]


class _Records:
    """Records in memory, as JSON."""

    def __init__(self):
        self.kept = {}

    async def load(self, work):
        return {call: json.loads(value) for (of, call), value in self.kept.items() if of == work}

    async def add(self, work, call, value):
        self.kept[work, call] = json.dumps(value)


class TestRecords:
    def run(self, records, tool, model, item=ITEM):
        spec = burnish.Agent(configuration={"sections": SECTIONS}, model=model, tools=[tool])
        agent = build_agent(spec, lambda given: given, records)

        async def once():
            with paying_for(Payer("e1/i1/0")):
                return await agent.run(agent.configuration, item, repeat=0)

        return asyncio.run(once())

    def test_work_that_goes_on_calls_no_tool_that_had_answered_and_keys_stay(self):
        keys, fails = [], [True]

        def pay(amount: int, idempotency_key: str) -> str:
            keys.append((amount, idempotency_key))
            if amount == 2 and fails:
                fails.clear()
                raise UnavailableError(what="away", why="", fix="")
            return f"paid {amount}"

        records = _Records()
        model = script(
            calls(("a", "pay", {"amount": 1})), calls(("b", "pay", {"amount": 2})), "done"
        )
        with pytest.raises(UnavailableError):
            self.run(records, pay, model)
        output = self.run(records, pay, model)

        assert output.text == "done"
        assert [amount for amount, _ in keys] == [1, 2, 2]
        assert keys[1] == keys[2] and keys[0][1] != keys[1][1]

    def test_turns_of_one_item_are_apart(self):
        keys = []

        def pay(idempotency_key: str) -> str:
            keys.append(idempotency_key)
            return "paid"

        records = _Records()
        model = script(calls(("a", "pay", {})), "done")
        self.run(records, pay, model)
        self.run(records, pay, model, Item(id="i1", data={"message": "once more"}))

        assert len(set(keys)) == 2

    def test_another_call_of_the_same_name_is_not_answered_by_the_record(self):
        seen = []

        def note(text: str) -> str:
            seen.append(text)
            return text

        records = _Records()
        self.run(records, note, script(calls(("a", "note", {"text": "x"})), "1"))
        self.run(records, note, script(calls(("a", "note", {"text": "y"})), "1"))

        assert seen == ["x", "y"]


def test_results_are_reused_only_where_all_code_can_be_seen():
    seen = agent_of(script("x"), tools=[find_order])
    away = {"url": "http://127.0.0.1:1/x", "name": "away"}

    assert seen.fingerprint is not None
    assert agent_of(script("x"), tools=[away]).fingerprint is None
    assert agent_of(script("x"), tools=[away], version="1").fingerprint is not None
    assert Configuration.of(seen.configuration).hash == seen.configuration.hash
