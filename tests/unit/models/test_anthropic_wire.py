import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.domain import (
    Message,
    ModelRequest,
    ModelResponse,
    Picture,
    ToolCall,
    ToolDefinition,
    UsageError,
)
from burnish.models.anthropic.messages import ANTHROPIC, MessagesStream, MessagesWire, read_usage
from burnish.models.batches.endpoint import BatchAnswer
from burnish.models.catalog import open_model
from burnish.models.failures import (
    BadAnswerError,
    ErrorAnswer,
    RefusedRequestError,
    TransientError,
)
from burnish.models.settings import ModelSettings

MARK = {"type": "ephemeral"}
LOOK = ToolDefinition("look", "Looks", {"type": "object", "properties": {}})
SYSTEM = Message("system", "Be kind.")
THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "signed"}
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


def ask(*messages, **request):
    return ModelRequest(messages=messages or (SYSTEM, Message("user", "hi")), **request)


def body_of(request, **settings):
    return MessagesWire("claude", ModelSettings(**settings)).body(request)


def marked(body):
    """Texts of the blocks that are cache points."""
    blocks = [*body.get("tools", ()), *body.get("system", ())]
    blocks += [block for turn in body["messages"] for block in turn["content"]]
    return [
        block.get("text") or block.get("name") or block["type"]
        for block in blocks
        if "cache_control" in block
    ]


def answer(*content, **more):
    return {"content": list(content), "stop_reason": "end_turn", **more}


def read(body, request=None):
    return MessagesWire("claude", ModelSettings()).read(body, request or ask()).value


def test_instructions_stand_apart_and_turns_alternate():
    body = body_of(
        ask(SYSTEM, Message("user", "a"), Message("user", "b"), Message("assistant", " "))
    )

    assert body["system"] == [{"type": "text", "text": "Be kind.", "cache_control": MARK}]
    assert [(turn["role"], len(turn["content"])) for turn in body["messages"]] == [("user", 2)]
    assert body["max_tokens"] == 8192


def test_what_the_next_request_begins_with_is_marked():
    example = (Message("user", "one"), Message("assistant", "two"))
    call = Message("assistant", "", tool_calls=(ToolCall("c", "look", {}),))
    told = Message("tool", "seen", tool_call_id="c")
    item = Message("user", "item")

    assert marked(body_of(ask(SYSTEM, item, tools=(LOOK,)))) == ["look", "Be kind."]
    assert marked(body_of(ask(SYSTEM, *example, item))) == ["Be kind.", "two"]
    assert marked(body_of(ask(SYSTEM, item, call, told, tools=(LOOK,))))[-1] == "tool_result"
    assert marked(body_of(ask(SYSTEM, item, tools=(LOOK,)), prompt_cache=False)) == []


def test_parameters_are_said_in_its_own_words():
    request = ask(
        parameters={"stop": "END", "max_completion_tokens": 9, "reasoning_effort": "minimal"}
    )

    body = body_of(request)

    assert body["stop_sequences"] == ["END"]
    assert body["max_tokens"] == 9
    assert body["output_config"] == {"effort": "low"}
    assert not {"stop", "max_completion_tokens", "reasoning_effort"} & set(body)


@pytest.mark.parametrize(
    ("given", "sent", "limit"),
    [
        (True, {"type": "adaptive"}, 8192),
        (False, {"type": "disabled"}, 8192),
        (2048, {"type": "enabled", "budget_tokens": 2048}, 10240),
        (
            {"type": "enabled", "budget_tokens": 1024},
            {"type": "enabled", "budget_tokens": 1024},
            9216,
        ),
    ],
)
def test_thinking_is_a_switch_a_number_or_what_the_api_takes(given, sent, limit):
    body = body_of(ask(parameters={"thinking": given}))

    assert (body["thinking"], body["max_tokens"]) == (sent, limit)


def test_a_schema_is_a_tool_that_must_be_called_unless_the_model_thinks_or_has_tools():
    schema = {"type": "object", "properties": {"a": {"type": "number"}}}

    forced = body_of(ask(schema=schema))
    thinking = body_of(
        ask(schema=schema, parameters={"thinking": True, "reasoning_effort": "high"})
    )
    tools = body_of(ask(schema=schema, tools=(LOOK,)))

    assert forced["tool_choice"] == {"type": "tool", "name": "answer"}
    form = {"type": "json_schema", "schema": schema}
    assert thinking["output_config"] == {"effort": "high", "format": form}
    assert "tools" not in thinking
    assert (tools["output_config"], tools["tool_choice"]) == ({"format": form}, {"type": "auto"})


def test_signed_thoughts_go_back_with_the_call():
    use = {"type": "tool_use", "id": "c", "name": "look", "input": {}}
    said = read(answer(THOUGHT, use, stop_reason="tool_use"), ask(tools=(LOOK,)))

    stored = ModelResponse.of(json.loads(json.dumps(said.to_json())))
    called = Message("assistant", stored.text, tool_calls=stored.tool_calls)
    turns = body_of(ask(SYSTEM, Message("user", "hi"), called))["messages"]

    assert stored.tool_calls == said.tool_calls
    assert turns[-1]["content"][:2] == [THOUGHT, use]


@pytest.mark.parametrize(
    ("reason", "ended"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "refusal"),
        ("pause_turn", "pause_turn"),
    ],
)
def test_reasons_to_stop(reason, ended):
    assert read(answer({"type": "text", "text": "x"}, stop_reason=reason)).finish_reason == ended


def test_a_refusal_without_text_says_why():
    details = {"type": "refusal", "explanation": "It could harm."}

    said = read(answer(stop_reason="refusal", stop_details=details))

    assert (said.text, said.finish_reason) == ("It could harm.", "refusal")


def test_cached_tokens_are_a_part_of_the_input():
    usage = {
        "input_tokens": 10,
        "cache_read_input_tokens": 2000,
        "cache_creation_input_tokens": 300,
        "output_tokens": 5,
    }

    found = read_usage({"usage": usage})

    assert (found.usage.input_tokens, found.usage.cached_tokens) == (2310, 2000)
    assert found.cache_write_tokens == 300


def test_what_it_cannot_take_is_refused():
    with pytest.raises(UsageError) as caught:
        body_of(ask(Message("user", "x", pictures=(Picture("image/bmp", "AA=="),))))

    assert caught.value.code == "unsupported_request"


@pytest.mark.parametrize(
    "error",
    [
        {"type": "billing_error", "message": "pay"},
        {"type": "invalid_request_error", "message": "Your credit balance is too low to access"},
    ],
)
def test_an_account_without_credit_is_told_as_one(error):
    said = ANTHROPIC.read_error(json.dumps({"type": "error", "error": error}).encode())

    assert said["code"] == "insufficient_quota"


def test_an_error_within_a_stream_is_no_answer():
    stream = MessagesStream()

    with pytest.raises(BadAnswerError, match="Overloaded"):
        stream.add('data: {"type": "error", "error": {"type": "x", "message": "Overloaded"}}')


@given(
    st.fixed_dictionaries(
        {"stop_reason": st.text(), "content": st.lists(anything)}, optional={"usage": anything}
    )
    | anything.filter(lambda value: isinstance(value, dict))
)
def test_any_json_object_is_an_answer_that_can_be_stored_or_a_bad_answer(body):
    try:
        response = read(body)
    except BadAnswerError:
        return

    stored = json.dumps(response.to_json(), allow_nan=False).encode()
    assert ModelResponse.of(json.loads(stored)).text == response.text


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "type": st.sampled_from(
                    ["message_start", "message_delta", "content_block_start", "content_block_delta"]
                ),
                "index": st.sampled_from([0, 1, None, []]),
                "message": anything | st.fixed_dictionaries({"usage": anything}),
                "content_block": anything,
                "usage": anything,
                "delta": st.fixed_dictionaries(
                    {
                        "type": st.sampled_from(["text_delta", "input_json_delta", 7]),
                        "text": anything,
                        "partial_json": anything,
                        "stop_reason": st.just("end_turn") | anything,
                    }
                ),
            }
        )
    )
)
def test_any_stream_is_put_together_or_a_bad_answer(events):
    stream = MessagesStream()
    try:
        for event in events:
            stream.add(f"data: {json.dumps(event)}")
        stream.add('data: {"type": "message_stop"}')
        read(stream.body())
    except BadAnswerError:
        pass


def test_an_answer_by_a_schema_that_is_cut_is_one_that_is_cut():
    use = {"type": "tool_use", "id": "c", "name": "answer", "input": '{"a": 1, "b": "lo'}

    said = read(answer(use, stop_reason="max_tokens"), ask(schema={"type": "object"}))

    assert (said.text, said.finish_reason) == ('{"a": 1, "b": "lo', "length")


def test_messages_without_text_are_refused():
    with pytest.raises(UsageError, match="no text"):
        body_of(ask(Message("system", " "), Message("user", "")))


def test_a_batch_of_a_model_that_always_thinks_is_asked_again_without_forced_tools(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key")
    batches = open_model("anthropic/claude").open_batches()
    request = ask(schema={"type": "object", "properties": {}})
    said = ErrorAnswer(
        status=400, message="Thinking may not be enabled when tool_choice forces tool use."
    )
    refusal = RefusedRequestError(what="refused", why="it said so", fix="none", said=said)

    assert "tool_choice" in batches.body(request)
    with pytest.raises(TransientError):
        batches.read(BatchAnswer("b-0", error=refusal), request, [])

    assert "tool_choice" not in batches.body(request)
