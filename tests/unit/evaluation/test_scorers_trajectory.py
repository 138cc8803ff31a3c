"""Scorers of trajectories: what they accept, and that their reasons name the step."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from burnish.app.report.html.reading import expected_fields
from burnish.domain import AgentOutput, Item, Score, UsageError
from burnish.evaluation.scorers.catalog import build_scorer
from burnish.models.scripted import ScriptedModel


def call(name: str, call_id: str = "", **arguments) -> dict:
    return {"id": call_id or name, "name": name, "arguments": arguments}


def assistant(*calls: dict, content: str = "") -> dict:
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def run(*messages: dict, ended: str = "answer") -> AgentOutput:
    return AgentOutput(text="done", trace={"transcript": list(messages), "ended": ended})


ORDERS = run(
    {"role": "system", "content": "Help."},
    {"role": "user", "content": "Where is order 7?"},
    assistant(call("lookup", "a", customer="Ann")),
    {"role": "tool", "tool_call_id": "a", "name": "lookup", "content": "customer 3"},
    assistant(call("find_order", "b", status="open", total=9.99), call("log", "c")),
    {"role": "tool", "tool_call_id": "b", "name": "find_order", "content": "no", "error": True},
    assistant(content="Done."),
)


def score(spec: dict, output: AgentOutput = ORDERS, **data) -> Score:
    scorer = build_scorer(spec, open_model=lambda model: model, folder=Path())
    return asyncio.run(scorer.score(output, Item(id="i", data={"q": "?", **data})))


def test_a_reason_names_the_step_and_the_argument() -> None:
    expected = [{"name": "find_order", "arguments": {"status": "shipped"}}]
    got = score({"kind": "tool_arguments"}, expected_calls=expected)

    assert (got.value, got.step) == (0.0, 2)
    assert got.reason == 'step 2: find_order was called with status="open", expected "shipped"'


@pytest.mark.parametrize(
    ("spec", "expected", "value", "said"),
    [
        ({}, [{"name": "find_order", "arguments": {"status": "open"}}], 1.0, ""),
        ({}, '[{"name": "find_order", "arguments": {"status": "open"}}]', 1.0, ""),
        ({}, {"name": "find_order", "arguments": {"status": ["shipped", "open"]}}, 1.0, ""),
        ({}, [{"name": "find_order", "arguments": {"total": 10}}], 0.0, "total=9.99, expected 10"),
        ({"absolute": 0.02}, [{"name": "find_order", "arguments": {"total": 10}}], 1.0, ""),
        ({"exact": True}, [{"name": "log", "arguments": {}}], 1.0, ""),
        (
            {"exact": True},
            [{"name": "find_order", "arguments": {"status": "open"}}],
            0.0,
            "total=9.99, which is not expected",
        ),
        ({}, [{"name": "find_order", "arguments": {"id": 7}}], 0.0, "without id, expected 7"),
        ({}, ["lookup", {"name": "refund", "arguments": {"id": 7}}], 0.5, "call of refund(id=7)"),
        ({"tool": "find_order"}, {"status": "open"}, 1.0, ""),
        ({}, ["lookup", "lookup"], 0.5, "step 3: the run ended without a call of lookup"),
        ({}, [], 1.0, ""),
    ],
)
def test_arguments_are_compared_by_field(spec, expected, value, said) -> None:
    got = score({"kind": "tool_arguments", **spec}, expected_calls=expected)

    assert got.value == value and got.error is None
    assert said in got.reason


def test_arguments_are_held_to_a_schema() -> None:
    schema = {"properties": {"status": {"enum": ["shipped", "lost"]}}}
    got = score({"kind": "tool_arguments", "tool": "find_order", "schema": schema})

    assert (got.value, got.step) == (0.0, 2)
    assert "step 2: the arguments of find_order do not fit: $.status" in got.reason
    assert score({"kind": "tool_arguments", "tool": "lookup", "schema": schema}).value == 1
    assert score({"kind": "tool_arguments", "tool": "x", "schema": schema}).value == 0


@pytest.mark.parametrize(
    ("spec", "value", "said"),
    [
        ({"kind": "tool_called", "tools": "log"}, 1.0, ""),
        ({"kind": "tool_called", "tools": ["log", "refund"]}, 0.5, "step 3: the run ended without"),
        ({"kind": "tool_not_called", "tools": "refund"}, 1.0, ""),
        ({"kind": "tool_not_called", "tools": ["re*", "find_*"]}, 0.0, "step 2: find_order(status"),
        (
            {
                "kind": "tool_not_called",
                "tools": [{"name": "find_order", "arguments": {"status": "lost"}}],
            },
            1.0,
            "",
        ),
        ({"kind": "tool_order", "calls": ["lookup", "find_order"]}, 1.0, ""),
        (
            {"kind": "tool_order", "calls": ["find_order", "lookup"]},
            0.5,
            "step 1: lookup was called before find_order; expected in this order",
        ),
        ({"kind": "tool_order", "calls": ["lookup", "refund"]}, 0.5, "call of refund() after"),
        ({"kind": "tool_order", "calls": ["lookup", "log"], "strict": True}, 2 / 3, "step 2: find"),
        ({"kind": "steps", "most": 3}, 1.0, "3 steps"),
        ({"kind": "steps", "most": 2}, 2 / 3, "step 3: 3 steps were used, at most 2"),
        ({"kind": "steps", "least": 4}, 0.75, "at least 4"),
        ({"kind": "turns", "most": 1}, 1.0, "1 turn"),
        ({"kind": "goal_reached"}, 0.0, "(ended: answer)"),
    ],
)
def test_calls_order_and_numbers(spec, value, said) -> None:
    got = score(spec)

    assert got.value == pytest.approx(value) and got.error is None
    assert said in got.reason
    assert (got.step is None) == (value == 1)


def test_expectations_come_from_the_items_columns() -> None:
    assert score({"kind": "tool_called", "field": "tools"}, tools="log").value == 1
    assert score({"kind": "steps", "field": "limit"}, limit="2").step == 3
    assert score({"kind": "tool_not_called", "field": "never"}, never=["log"]).step == 2
    missing = score({"kind": "tool_called", "field": "tools"})
    assert missing.error is not None and "no field 'tools'" in missing.error
    broken = score({"kind": "tool_called", "field": "tools"}, tools=[7])
    assert broken.error is not None and "cannot be read: 7 is not" in broken.error


def test_calls_as_chat_endpoints_write_them_are_read_too() -> None:
    function = {"name": "find_order", "arguments": json.dumps({"status": "lost"})}
    made = {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": function}]}

    got = score(
        {"kind": "tool_arguments"},
        run(made),
        expected_calls={"name": "find_order", "arguments": {"status": "lost"}},
    )

    assert got.value == 1


@pytest.mark.parametrize(
    "kind", ["tool_called", "tool_arguments", "tool_order", "goal_reached", "judge"]
)
def test_an_agent_without_a_transcript_is_an_error_that_says_so(kind) -> None:
    judge = {"model": ScriptedModel(["x"]), "criteria": "good", "transcript": True}
    spec = {"kind": kind, **(judge if kind == "judge" else {})}

    got = score(spec, AgentOutput(text="done", trace={"answer": "x"}), expected_calls=["a"])

    assert got.error is not None and "leaves no transcript" in got.error


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"kind": "tool_called", "tools": [7]}, "7 is not"),
        ({"kind": "tool_called", "tools": "a", "field": "b"}, "given as well"),
        ({"kind": "tool_not_called"}, "it is missing"),
        ({"kind": "steps"}, "it is missing"),
        ({"kind": "turns", "most": -1}, "whole number"),
        ({"kind": "tool_arguments", "schema": {}, "field": "x"}, "not both"),
        ({"kind": "tool_arguments", "exact": "yes"}, "neither true nor false"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(spec, said) -> None:
    with pytest.raises(UsageError, match=said):
        build_scorer(spec, open_model=lambda model: model, folder=Path())


def test_the_judge_sees_the_transcript_when_asked_to() -> None:
    verdict = json.dumps({"score": 1, "reason": "good", "pass": True})
    seen: list[str] = []

    def answer(request) -> str:
        seen.append(request.messages[-1].content)
        return verdict

    judge = {"kind": "judge", "model": ScriptedModel(answer), "criteria": "It asks before it acts."}

    assert score({**judge, "transcript": True}).value == 1
    score(judge)

    with_it, without = seen
    assert 'step 2: calls find_order(status="open", total=9.99)' in with_it
    assert "tool find_order (error): no" in with_it
    assert "TRANSCRIPT" not in without


def test_the_first_wrong_step_of_weighted_scorers_counts() -> None:
    parts = [{"kind": "steps", "most": 2}, {"kind": "tool_not_called", "tools": "lookup"}]
    assert score({"kind": "weighted", "scorers": parts}).step == 1


def test_pages_show_the_expected_calls_apart_from_the_input() -> None:
    scorers = [
        "tool_called",
        {"kind": "tool_order", "field": "order"},
        {"kind": "steps", "most": 3},
    ]
    assert list(expected_fields({"suite": {"scorers": scorers}})) == ["expected_calls", "order"]
