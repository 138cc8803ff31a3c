"""Bedrock: bodies and answers of Converse, regions, keys and signatures."""

import builtins
import json

import httpx2
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from burnish.domain import Message, ModelRequest, Picture, ToolDefinition, UsageError
from burnish.models.bedrock.wire import ConverseWire
from burnish.models.catalog import open_model
from burnish.models.failures import BadAnswerError, ErrorAnswer
from burnish.models.settings import ModelSettings

NAME = "bedrock/amazon.nova-lite-v1:0"
WIRE = ConverseWire("amazon.nova-lite-v1:0", ModelSettings())
ASK = ModelRequest.text("hi")
SCHEMA = {"type": "object", "properties": {"a": {"type": "number"}}}


@pytest.fixture(autouse=True)
def environment(monkeypatch, tmp_path):
    for name in ("AWS_PROFILE", "AWS_DEFAULT_REGION", "AWS_BEARER_TOKEN_BEDROCK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a-secret")
    monkeypatch.delenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", raising=False)


def answer(*blocks, reason="end_turn", usage=None):
    message = {"role": "assistant", "content": list(blocks)}
    told = usage or {"inputTokens": 5, "outputTokens": 2}
    return {"output": {"message": message}, "stopReason": reason, "usage": told}


def test_parameters_of_the_model_stand_apart():
    body = WIRE.body(
        ModelRequest.text("hi", max_tokens=5, stop="END", top_k=3, guardrailConfig={"trace": "off"})
    )

    assert body["inferenceConfig"] == {"maxTokens": 5, "stopSequences": ["END"]}
    assert body["additionalModelRequestFields"] == {"top_k": 3}
    assert body["guardrailConfig"] == {"trace": "off"}


def test_messages_of_one_role_stand_together_and_empty_ones_are_left_out():
    body = WIRE.body(
        ModelRequest(
            messages=(
                Message("system", "s"),
                Message("user", "a"),
                Message("user", "b"),
                Message("assistant", " "),
                Message("tool", "", tool_call_id="t1"),
            )
        )
    )

    (turn,) = body["messages"]
    assert [next(iter(block)) for block in turn["content"]] == [
        "text",
        "text",
        "toolResult",
        "cachePoint",
    ]
    assert body["system"][0] == {"text": "s"}


def test_a_schema_is_a_tool_that_must_be_called():
    request = ModelRequest(messages=ASK.messages, schema=SCHEMA)
    name = WIRE.body(request)["toolConfig"]["toolChoice"]["tool"]["name"]
    use = {"toolUse": {"toolUseId": "1", "name": name, "input": {"a": 1}}}
    told = WIRE.read(answer(use, reason="tool_use"), request).value

    assert (json.loads(told.text), told.finish_reason, told.tool_calls) == ({"a": 1}, "stop", ())


def test_with_other_tools_the_answer_is_one_of_them():
    tool = ToolDefinition("look", "", SCHEMA)
    body = WIRE.body(ModelRequest(messages=ASK.messages, schema=SCHEMA, tools=(tool,)))

    config = body["toolConfig"]
    assert config["toolChoice"] == {"any": {}}
    assert len(config["tools"]) == 2
    assert "description" not in config["tools"][0]["toolSpec"]


def test_of_a_model_that_cannot_be_forced_a_schema_is_asked_for_in_words():
    wire = ConverseWire("m", ModelSettings())
    wire.forces_tools = False
    body = wire.body(ModelRequest(messages=ASK.messages, schema=SCHEMA))

    assert "toolConfig" not in body
    assert "JSON schema" in body["system"][0]["text"]


def test_prompts_are_marked_for_the_cache_where_the_model_has_one():
    claude = ConverseWire("eu.anthropic.claude-haiku-4-5-20251001-v1:0", ModelSettings())
    request = ModelRequest(
        messages=(
            Message("system", "s"),
            Message("user", "a"),
            Message("assistant", "b"),
            Message("user", "c"),
        ),
        tools=(ToolDefinition("look", "Looks", SCHEMA),),
    )

    body = claude.body(request)

    assert all("cachePoint" in one[-1] for one in (body["system"], body["toolConfig"]["tools"]))
    assert ["cachePoint" in turn["content"][-1] for turn in body["messages"]] == [
        False,
        True,
        False,
    ]
    plain = ConverseWire("meta.llama3-3-70b-instruct-v1:0", ModelSettings())
    off = ConverseWire("anthropic.claude-haiku", ModelSettings(prompt_cache=False))
    assert all("cachePoint" not in json.dumps(one.body(request)) for one in (plain, off))


def test_what_a_model_cannot_do_is_learnt_once():
    wire = ConverseWire("anthropic.claude-3-haiku", ModelSettings())
    asked = ModelRequest(messages=ASK.messages, schema=SCHEMA)

    def learns(message, request):
        return wire.learn(ErrorAnswer(status=400, message=message), request)

    assert learns("Your request did not allow prompt caching", ASK)
    assert learns("This model doesn't support the toolConfig.toolChoice.tool field.", asked)
    assert (wire.caches, wire.forces_tools) == (False, False)
    assert not learns("the input is too long", asked)


def test_cached_tokens_are_a_part_of_the_input():
    usage = {
        "inputTokens": 5,
        "outputTokens": 2,
        "cacheReadInputTokens": 100,
        "cacheWriteInputTokens": 10,
    }
    told = WIRE.read(answer({"text": "a"}, usage=usage), ASK)

    assert (told.usage.input_tokens, told.usage.cached_tokens) == (115, 100)
    assert told.cache_write_tokens == 10


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("max_tokens", "length"),
        ("guardrail_intervened", "content_filter"),
        ("content_filtered", "content_filter"),
    ],
)
def test_every_end_has_our_word(reason, finish):
    assert WIRE.read(answer({"text": "a"}, reason=reason), ASK).value.finish_reason == finish


@pytest.mark.parametrize(
    "body", [{}, {"output": {}}, answer(reason="malformed_tool_use"), {"output": {"message": 1}}]
)
def test_what_is_no_message_is_no_answer(body):
    with pytest.raises(BadAnswerError):
        WIRE.read(body, ASK)


def test_a_picture_of_a_type_that_it_does_not_take_is_refused():
    asked = ModelRequest(messages=(Message("user", "", pictures=(Picture("image/bmp", "aGk="),)),))

    with pytest.raises(UsageError) as refused:
        WIRE.body(asked)

    assert refused.value.code == "unsupported_request"


def test_requests_are_signed_as_aws_signs_them():
    model = open_model(NAME)
    url = f"{model._access.base_url}/{model._wire.path}"
    request = httpx2.Request("POST", url, json=model._wire.body(ASK))

    model._access.vendor.sign(request)

    assert url == (
        "https://bedrock-runtime.eu-central-1.amazonaws.com/model/amazon.nova-lite-v1%3A0/converse"
    )
    again = AWSRequest(
        method="POST",
        url=f"https://{request.headers['host']}{request.url.raw_path.decode()}",
        data=request.content,
        headers={"Content-Type": "application/json"},
    )
    signer = SigV4Auth(Credentials("AKIDEXAMPLE", "a-secret"), "bedrock", "eu-central-1")
    again.context["timestamp"] = request.headers["x-amz-date"]
    again.headers["X-Amz-Date"] = request.headers["x-amz-date"]
    canonical = signer.canonical_request(again)
    signature = signer.signature(signer.string_to_sign(again, canonical), again)
    assert request.headers["authorization"].endswith(f"Signature={signature}")
    assert "a-secret" not in str(request.headers)


def test_a_key_of_bedrock_needs_no_package(monkeypatch):
    real = builtins.__import__

    def without_botocore(name, *arguments, **named):
        if name.startswith("botocore"):
            raise ImportError(name)
        return real(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", without_botocore)
    with pytest.raises(UsageError, match="botocore") as missing:
        open_model(NAME)
    assert missing.value.code == "missing_extra"
    assert "pip install 'burnish[bedrock]'" in missing.value.fix

    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "a-key")
    assert open_model(NAME)._access.vendor.headers("k") == {"Authorization": "Bearer k"}


def test_without_a_region_or_credentials_the_error_says_what_to_set(monkeypatch):
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    with pytest.raises(UsageError, match="credentials"):
        open_model(NAME)

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.delenv("AWS_REGION")
    with pytest.raises(UsageError, match="region") as missing:
        open_model(NAME)
    assert "AWS_REGION" in missing.value.fix


def test_streams_are_refused():
    with pytest.raises(UsageError, match="as a whole"):
        open_model(NAME, ModelSettings(stream=True))
