"""Tools for local models: what the engine is asked instead, and what its JSON means."""

import json

import pytest

from burnish.domain import (
    Message,
    ModelRequest,
    ModelResponse,
    Picture,
    ToolCall,
    ToolDefinition,
    UsageError,
)
from burnish.models.local.tools import read_calls, told_as_text

FIELDS = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "Where."},
        "unit": {"enum": ["C", "F"]},
    },
    "required": ["city"],
}
TOOLS = (ToolDefinition("weather", "Tells the weather.", FIELDS), ToolDefinition("now", "", {}))


def asked(*messages, **settings):
    settings = {"tools": TOOLS, **settings}
    return ModelRequest(messages=messages or (Message("user", "Rome?"),), **settings)


def test_texts_of_tools_stand_in_the_system_message_and_a_schema_leaves_calls_or_an_answer():
    request = told_as_text(asked(Message("system", "Be kind."), Message("user", "Rome?")))

    system, user = request.messages
    assert system.content.startswith("Be kind.\n\nYou may call these tools:\n- weather: Tells")
    assert '  - unit (one of "C", "F", optional)' in system.content
    assert "  - city (string): Where." in system.content
    assert user == Message("user", "Rome?") and not request.tools
    ways = request.schema["anyOf"]
    assert [one["properties"].get("tool") for one in ways] == [
        {"const": "weather"},
        {"const": "now"},
        None,
    ]
    assert ways[0]["properties"]["arguments"] == FIELDS


def test_calls_and_results_are_told_as_text():
    call = ToolCall("c1", "weather", {"city": "Rome"})
    request = told_as_text(
        asked(
            Message("user", "Rome?"),
            Message("assistant", "", tool_calls=(call,)),
            Message("tool", "sunny", tool_call_id="c1"),
        )
    )

    assert all(one.plain for one in request.messages)
    assert [one.role for one in request.messages] == ["system", "user", "assistant", "user"]
    assert json.loads(request.messages[2].content) == {
        "tool": "weather",
        "arguments": {"city": "Rome"},
    }
    assert request.messages[3].content == "weather returned:\nsunny"


@pytest.mark.parametrize(
    ("settings", "count", "answer"),
    [
        ({}, 3, {"type": "string"}),
        ({"tool_choice": "required"}, 2, None),
        ({"tool_choice": "now"}, 1, None),
        ({"labels": ("a", "b")}, 3, {"type": "string", "enum": ["a", "b"]}),
        ({"schema": {"type": "integer"}}, 3, {"type": "integer"}),
    ],
)
def test_the_choice_of_tools_and_the_form_of_answers_are_kept(settings, count, answer):
    request = told_as_text(asked(**settings))

    ways = request.schema["anyOf"]
    assert len(ways) == count and not request.labels
    assert ways[-1]["properties"].get("answer") == answer


def test_answers_are_read():
    def read(text, **settings):
        return read_calls(asked(**settings), ModelResponse(text=text))

    call = read('{"tool": "weather", "arguments": {"city": "Rome"}}')
    assert call.tool_calls == (ToolCall("", "weather", {"city": "Rome"}),) and call.text == ""
    assert read('{"answer": "sunny"}').text == "sunny"
    assert read('{"answer": {"n": 1}}').text == '{"n": 1}'
    assert read('{"tool": "wea').text == '{"tool": "wea'
    assert read('{"answer": "x"}', tools=()).text == '{"answer": "x"}'


def test_what_cannot_be_asked_is_refused():
    picture = Message("user", "what?", pictures=(Picture("image/png", "aGk="),))
    with pytest.raises(UsageError) as refused:
        told_as_text(asked(picture))
    assert refused.value.code == "unsupported_request"
    with pytest.raises(UsageError, match="none of its tools"):
        told_as_text(asked(tool_choice="other"))


def test_a_request_without_tools_is_left_alone():
    request = ModelRequest.text("hi")

    assert told_as_text(request) is request
