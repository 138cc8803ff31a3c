"""Gemini: bodies by Google's own types, answers, streams and errors."""

import json

import pytest
from google.genai import types

from burnish.domain import (
    Message,
    ModelRequest,
    Picture,
    ToolCall,
    ToolDefinition,
    UnavailableError,
    UsageError,
)
from burnish.models.catalog import open_model
from burnish.models.failures import BadAnswerError, Endpoint, ErrorAnswer, error_of_status
from burnish.models.gemini.vendor import read_error
from burnish.models.gemini.wire import GeminiWire
from burnish.models.settings import ModelSettings

WIRE = GeminiWire("gemini-2.5-flash", ModelSettings())
ASK = ModelRequest.text("hi")


def read(candidate, request=ASK, **more):
    return WIRE.read({"candidates": [candidate], **more}, request)


def said(*parts, reason="STOP", **more):
    return {"content": {"parts": list(parts)}, "finishReason": reason, **more}


def test_a_conversation_with_tools_and_pictures_is_valid_by_the_sdk_s_types():
    png = Picture("image/png", "aGk=")
    call = ToolCall("id-1", "look", {"at": "x"}, "c2lnbmVk")
    made_up = ToolCall("call_2", "look", "no object")
    request = ModelRequest(
        messages=(
            Message("developer", "Be brief."),
            Message("user", "See", pictures=(png,)),
            Message("assistant", "", tool_calls=(call, made_up)),
            Message("tool", '{"seen": 1}', tool_call_id="id-1", pictures=(png,)),
            Message("tool", "nothing", tool_call_id="call_2"),
        ),
        tools=(ToolDefinition("look", "Looks", {"type": "object", "properties": {}}),),
        tool_choice="look",
    )

    body = WIRE.body(request)

    contents = [types.Content.model_validate_json(json.dumps(one)) for one in body["contents"]]
    assert [one.role for one in contents] == ["user", "model", "user"]
    assert body["systemInstruction"] == {"parts": [{"text": "Be brief."}]}
    signed, unsigned = body["contents"][1]["parts"]
    assert signed["thoughtSignature"] == "c2lnbmVk"
    assert signed["functionCall"]["id"] == "id-1"
    assert unsigned == {"functionCall": {"name": "look", "args": {"text": "no object"}}}
    first, second = (one["functionResponse"] for one in body["contents"][2]["parts"])
    assert (first["name"], first["response"], first["id"]) == ("look", {"seen": 1}, "id-1")
    assert (second["response"], "id" in second) == ({"result": "nothing"}, False)
    assert body["toolConfig"]["functionCallingConfig"] == {
        "mode": "ANY",
        "allowedFunctionNames": ["look"],
    }


def test_parameters_have_google_s_names():
    body = WIRE.body(
        ModelRequest.text(
            "hi",
            max_tokens=5,
            stop="END",
            top_p=0.5,
            logprobs=True,
            top_logprobs=3,
            reasoning_effort="low",
            safety_settings=[{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "OFF"}],
        )
    )

    assert body["generationConfig"] == {
        "maxOutputTokens": 5,
        "stopSequences": ["END"],
        "topP": 0.5,
        "responseLogprobs": True,
        "logprobs": 3,
        "thinkingConfig": {"thinkingBudget": 1024},
    }
    assert body["safetySettings"][0]["threshold"] == "OFF"
    types.GenerationConfig.model_validate(body["generationConfig"])


def test_newer_models_think_by_level():
    body = GeminiWire("gemini-3-pro", ModelSettings()).body(
        ModelRequest.text("hi", reasoning_effort="low")
    )

    assert body["generationConfig"] == {"thinkingConfig": {"thinkingLevel": "low"}}


def test_what_burnish_sets_itself_is_no_parameter():
    with pytest.raises(UsageError, match="candidate_count"):
        WIRE.body(ModelRequest.text("hi", candidate_count=2))


def test_labels_and_schemas_are_the_form_of_the_answer():
    labels = WIRE.body(ModelRequest(messages=ASK.messages, labels=("a", "b")))
    schema = WIRE.body(ModelRequest(messages=ASK.messages, schema={"type": "object"}))

    assert labels["generationConfig"]["responseSchema"]["enum"] == ["a", "b"]
    assert schema["generationConfig"]["responseJsonSchema"] == {"type": "object"}
    for body in (labels, schema):
        types.GenerationConfig.model_validate(body["generationConfig"])
    quoted = read(said({"text": '"a"'}), ModelRequest(messages=ASK.messages, labels=("a", "b")))
    assert quoted.value.text == "a"


def test_thoughts_are_no_answer_but_are_paid_for():
    answer = read(
        said({"text": "hm", "thought": True}, {"text": "yes"}),
        usageMetadata={
            "promptTokenCount": 10,
            "cachedContentTokenCount": 4,
            "candidatesTokenCount": 2,
            "thoughtsTokenCount": 30,
            "toolUsePromptTokenCount": 3,
        },
    )

    assert answer.value.text == "yes"
    usage = answer.usage
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (13, 32, 4)


def test_calls_keep_their_signatures_and_missing_ids_are_made_up():
    signed = {"functionCall": {"name": "a", "args": {"x": 1}}, "thoughtSignature": "c2ln"}
    answer = read(said(signed, {"functionCall": {"name": "b"}}))

    first, second = answer.value.tool_calls
    assert (first.name, first.arguments, first.echo) == ("a", {"x": 1}, "c2ln")
    assert (second.arguments, second.echo) == ({}, None)
    assert answer.value.finish_reason == "tool_calls"


@pytest.mark.parametrize("reason", ["SAFETY", "RECITATION", "PROHIBITED_CONTENT", "SPII"])
def test_a_safety_block_is_an_outcome(reason):
    assert read({"finishReason": reason}).value.finish_reason == "content_filter"


def test_an_answer_that_is_cut_off_says_so():
    assert read(said({"text": "a"}, reason="MAX_TOKENS")).value.finish_reason == "length"


@pytest.mark.parametrize("reason", ["MALFORMED_FUNCTION_CALL", "OTHER", "SOMETHING_NEW", 3])
def test_what_ended_otherwise_is_no_answer(reason):
    with pytest.raises(BadAnswerError):
        read(said({"text": "a"}, reason=reason))


@pytest.mark.parametrize("body", [{}, {"candidates": []}, {"candidates": ["x"]}])
def test_what_has_no_candidate_is_no_answer(body):
    with pytest.raises(BadAnswerError):
        WIRE.read(body, ASK)


def test_a_blocked_prompt_in_a_stream_is_an_outcome_and_a_broken_one_is_none():
    stream = GeminiWire("m", ModelSettings(stream=True)).stream()
    stream.add('data: {"promptFeedback": {"blockReason": "SAFETY"}}')
    broken = WIRE.stream()
    broken.add('data: {"candidates": [{"content": {"parts": [{"text": "a"}]}}]}')

    assert WIRE.read(stream.body(), ASK).value.finish_reason == "content_filter"
    with pytest.raises(BadAnswerError, match="before its end"):
        broken.body()
    with pytest.raises(BadAnswerError, match="overloaded"):
        broken.add('data: {"error": {"message": "overloaded"}}')


def error(status, *details):
    told = {"error": {"code": status, "message": "so", "status": "X", "details": list(details)}}
    return read_error(json.dumps(told).encode())


def test_errors_of_google_are_those_of_everybody():
    endpoint = Endpoint("gemini/m", "https://x", "GEMINI_API_KEY")
    key = error(400, {"reason": "API_KEY_INVALID"})
    daily = error(429, {"violations": [{"quotaId": "RequestsPerDayPerProject"}]})
    soon = error(429, {"retryDelay": "34s"})

    bad = error_of_status(ErrorAnswer(status=400, code=key["code"]), endpoint)
    assert (isinstance(bad, UsageError), bad.code) == (True, "bad_key")
    used_up = error_of_status(ErrorAnswer(status=429, code=daily["code"]), endpoint)
    assert (isinstance(used_up, UnavailableError), used_up.code) == (True, "quota_used_up")
    assert (soon["code"], soon["retry_after"]) == ("X", "34")
    assert read_error(b'[{"error": {"message": "in a list"}}]')["message"] == "in a list"
    assert [read_error(one) for one in (b"", b"[]", b"3", b'{"error": 1}')] == [{}] * 4


def test_the_key_may_be_in_either_variable(monkeypatch):
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    with pytest.raises(UsageError, match="GEMINI_API_KEY"):
        open_model("gemini/gemini-2.5-flash")

    monkeypatch.setenv("GOOGLE_API_KEY", "a-key")
    assert open_model("gemini/gemini-2.5-flash").name == "gemini/gemini-2.5-flash"


def test_the_path_names_the_model():
    assert WIRE.path == "models/gemini-2.5-flash:generateContent"
    tuned = GeminiWire("tunedModels/mine", ModelSettings(stream=True))
    assert tuned.path == "tunedModels/mine:streamGenerateContent?alt=sse"
