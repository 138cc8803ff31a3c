"""Requests to image endpoints, their answers, and verdicts, without a network."""

import base64
import json

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.domain import ModelRequest, UnavailableError, Usage, UsageError
from burnish.domain.images.runs import Quality
from burnish.images.models import OpenAIImageJudge, OpenAIImageModel
from burnish.images.models.openai.images import rules_beside
from burnish.images.models.openai.judge import NUMBERS, read_verdict, verdict_schema
from burnish.images.models.openai.wire import image_body, picture_file, read_picture
from burnish.models.failures import BadAnswerError
from burnish.models.openai.responses import ResponsesWire, read_response_text, strict_format
from burnish.models.outbound_rules import OutboundRules
from burnish.models.pricing import price_call
from burnish.models.settings import ModelSettings

GOOD = {
    **dict.fromkeys(NUMBERS, 0.5),
    "failure_tags": [" soft\n edges ", "", "soft edges"],
    "strength_tags": [],
    "rationale": "fine\x00 \ud800",
}


@pytest.mark.parametrize(
    ("model", "quality", "expected"),
    [
        ("gpt-image-1-mini", Quality.LOW, {"quality": "low", "size": "1024x1024"}),
        ("gpt-image-1", Quality.HIGH, {"quality": "high", "size": "1024x1024"}),
        ("dall-e-3", Quality.HIGH, {"quality": "hd", "response_format": "b64_json"}),
        ("dall-e-3", Quality.LOW, {"quality": "standard"}),
        ("dall-e-2", Quality.LOW, {"size": "256x256", "response_format": "b64_json"}),
        ("flux", Quality.MEDIUM, {"quality": "medium", "response_format": "b64_json"}),
    ],
)
def test_quality_is_told_in_the_words_of_the_model(model, quality, expected):
    body = image_body(model, "a door", quality)

    assert {name: body[name] for name in expected} == expected
    assert ("response_format" in body) == (not model.startswith("gpt-image"))


@pytest.mark.parametrize(
    ("data", "name", "media_type"),
    [
        (b"\x89PNG\r\n\x1a\n rest", "base.png", "image/png"),
        (b"\xff\xd8\xff rest", "base.jpg", "image/jpeg"),
        (b"RIFF\0\0\0\0WEBP", "base.webp", "image/webp"),
    ],
)
def test_the_first_bytes_tell_the_type(data, name, media_type):
    assert picture_file(data) == (name, data, media_type)


@pytest.mark.parametrize("data", [b"", b"<svg>", b"RIFF\0\0\0\0WAVE", b"GIF89a"])
def test_other_bytes_are_not_sent(data):
    with pytest.raises(UsageError, match="neither PNG"):
        picture_file(data)


def test_bytes_are_preferred_to_an_address():
    encoded = base64.b64encode(b"picture").decode()

    answer = read_picture({"data": [{"b64_json": encoded, "url": "http://elsewhere/"}]})

    assert (answer.value.data, answer.value.url) == (b"picture", "")
    assert answer.usage.calls == 1


@pytest.mark.parametrize(
    "body", [{}, {"data": None}, {"data": [7]}, {"data": [{}]}, {"data": [{"b64_json": "%"}]}]
)
def test_an_answer_without_a_picture_is_none(body):
    with pytest.raises(BadAnswerError):
        read_picture(body)


def test_tokens_of_pictures_have_a_price_of_their_own():
    usage, settings = Usage(calls=1, input_tokens=1000), ModelSettings()
    words = price_call("gpt-image-1-mini", usage, settings=settings)
    pictures = price_call("gpt-image-1-mini", usage, settings=settings, image_tokens=1000)

    assert 0 < words < pictures


def test_tokens_of_a_drawn_picture_have_a_price_of_their_own():
    usage = Usage(calls=1, input_tokens=50, output_tokens=1056)
    body = {
        "data": [{"url": "http://x/1.png"}],
        "usage": {"input_tokens": 50, "output_tokens": 1056},
    }
    answer = read_picture(body)

    price = price_call(
        "gpt-image-1.5",
        usage,
        settings=ModelSettings(),
        image_tokens=40,
        output_image_tokens=answer.output_image_tokens,
    )
    assert price == pytest.approx(0.0342, abs=0.0001)


def test_an_endpoints_own_address_may_be_followed_but_not_its_neighbours():
    rules = rules_beside("http://127.0.0.1:7860/v1", OutboundRules.of(["files.local"]))

    assert rules.require_listed("http://127.0.0.1:7860/x.png").port == 7860
    assert rules.listed == {("127.0.0.1", 7860), ("files.local", None)}
    assert rules_beside("https://[::1]/v1", None).listed == {("::1", 443)}


def test_a_verdict_is_read_and_cleaned():
    rubric = read_verdict(json.dumps(GOOD), judge="j")

    assert rubric.failure_tags == ("soft edges",)
    assert rubric.rationale == "fine ?"


def test_the_schema_admits_a_good_verdict_and_no_other():
    schema = verdict_schema()
    jsonschema.validate(GOOD, schema)

    for broken in ({**GOOD, "confidence": 2}, {**GOOD, "extra": 1}, {}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, schema)


@pytest.mark.parametrize(
    "change",
    [
        {"failure_tags": "soft"},
        {"failure_tags": [1]},
        {"strength_tags": ["x"] * 13},
        {"rationale": None},
        {"confidence": "0.5"},
        {"confidence": None},
        {"confidence": float("inf")},
    ],
)
def test_an_unfit_verdict_is_refused(change):
    with pytest.raises(UnavailableError) as caught:
        read_verdict(json.dumps({**GOOD, **change}), judge="j")

    assert caught.value.code == "INVALID_VERDICT"
    assert next(iter(change)) in caught.value.why


def test_long_words_of_a_judge_are_cut():
    given_ = {**GOOD, "failure_tags": ["x" * 500], "rationale": "y" * 10_000}

    rubric = read_verdict(json.dumps(given_), judge="j")

    assert (len(rubric.failure_tags[0]), len(rubric.rationale)) == (80, 2000)


@given(st.text(max_size=40) | st.lists(st.none() | st.floats()).map(json.dumps))
@settings(max_examples=30, derandomize=True)
def test_no_text_breaks_the_reader(text):
    with pytest.raises(UnavailableError):
        read_verdict(text, judge="j")


@pytest.mark.parametrize("kind", [OpenAIImageModel, OpenAIImageJudge])
def test_without_a_key_openai_is_refused_with_the_variable_to_set(kind):
    with pytest.raises(UsageError) as caught:
        kind("gpt-image-1-mini")

    assert caught.value.code == "missing_key"
    assert "OPENAI_API_KEY" in caught.value.fix


def test_parameters_that_are_set_for_you_are_refused():
    with pytest.raises(UsageError, match="store"):
        ResponsesWire("m", ModelSettings()).body(ModelRequest.text("x", store=True))


def test_strict_schemas_are_closed_at_every_depth():
    inner = {"type": "object", "properties": {"b": {"type": "string"}}}
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": inner}}}

    closed = strict_format("answer", schema)["schema"]

    assert closed["additionalProperties"] is False
    assert closed["properties"]["a"]["items"]["required"] == ["b"]
    assert "required" not in inner


@pytest.mark.parametrize("body", [{}, {"output": "x"}, {"output": [{"content": [{"x": 1}]}]}])
def test_a_response_without_text_is_no_answer(body):
    with pytest.raises(BadAnswerError):
        read_response_text(body)


def test_a_refusal_is_text():
    body = {"output": [{"content": [{"type": "refusal", "refusal": "I will not"}]}]}

    assert read_response_text(body) == "I will not"
