import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.domain import Message, ModelRequest, ModelResponse, UsageError
from burnish.models.endpoint.answers import parse_body
from burnish.models.failures import BadAnswerError
from burnish.models.openai.chat import ChatWire
from burnish.models.settings import ModelSettings

QUESTION = ModelRequest.text("hello world")
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


def completion(**choice):
    message = {"role": "assistant", "content": "fine"}
    return {"choices": [{"message": message, "finish_reason": "stop", **choice}]}


def read(body):
    answer = ChatWire("gpt-4o-mini", ModelSettings()).read(body, QUESTION)
    return replace(answer.value, usage=answer.usage)


def request_body(request, **settings):
    return ChatWire("small", ModelSettings(**settings)).body(request)


def test_parameters_pass_through_known_or_not():
    request = ModelRequest.text("hi", temperature=0.5, seed=7, top_k=40, stop=["\n"])

    body = request_body(request)

    assert body == {
        "model": "small",
        "messages": [{"role": "user", "content": "hi"}],
        "temperature": 0.5,
        "seed": 7,
        "top_k": 40,
        "stop": ["\n"],
    }


def test_a_schema_becomes_a_response_format():
    schema = {"type": "object", "properties": {"a": {"type": "number"}}}
    request = ModelRequest(messages=(Message("user", "hi"),), schema=schema)

    sent = request_body(request)["response_format"]

    assert sent["type"] == "json_schema"
    assert sent["json_schema"]["schema"] == schema


def test_a_response_format_of_the_callers_own_wins():
    own = {"type": "json_object"}
    request = ModelRequest(
        messages=(Message("user", "hi"),), schema={}, parameters={"response_format": own}
    )

    assert request_body(request)["response_format"] == own


def test_labels_constrain_only_where_the_server_knows_grammars():
    request = ModelRequest(messages=(Message("user", "hi"),), labels=('say "yes"', "no"))

    plain = request_body(request)
    constrained = request_body(request, grammar=True)

    assert set(plain) == {"model", "messages"}
    assert constrained["grammar"] == 'root ::= "say \\"yes\\"" | "no"'


@pytest.mark.parametrize("name", ["stream", "n", "model", "messages"])
def test_parameters_that_would_break_the_answer_are_refused(name):
    with pytest.raises(UsageError, match=f"'{name}'"):
        request_body(ModelRequest.text("hi", **{name: 2}))


def test_usage_comes_from_the_provider():
    details = {"cached_tokens": 64}
    usage = {"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": details}

    response = read({**completion(finish_reason="length"), "usage": usage})

    assert response.text == "fine"
    assert response.finish_reason == "length"
    assert response.usage.calls == 1
    assert (response.usage.input_tokens, response.usage.output_tokens) == (100, 5)
    assert response.usage.cached_tokens == 64


@pytest.mark.parametrize(
    "usage",
    [None, {}, {"prompt_tokens": None}, {"prompt_tokens": -1}, {"prompt_tokens": 10**400}, 7],
)
def test_missing_usage_is_counted_here(usage):
    response = read({**completion(), "usage": usage})

    assert response.usage.input_tokens == 2 + 4 + 3
    assert response.usage.output_tokens == 1


def test_logprobs_are_kept_and_made_storable():
    rivals = [{"token": "fine", "logprob": -0.1}, {"token": "bad", "logprob": float("-inf")}]
    content = [{"token": "fine", "logprob": -0.1, "bytes": [1], "top_logprobs": rivals}]

    response = read(completion(logprobs={"content": content}))

    assert response.logprobs == (
        {
            "token": "fine",
            "logprob": -0.1,
            "top_logprobs": [
                {"token": "fine", "logprob": -0.1},
                {"token": "bad", "logprob": -9999.0},
            ],
        },
    )


@pytest.mark.parametrize("number", [None, "x", 10**400, float("nan"), 3.0, -1e300])
def test_a_logprob_that_is_none_counts_as_the_least(number):
    content = [{"token": "a", "logprob": number, "top_logprobs": 7}]

    response = read(completion(logprobs={"content": content}))

    assert response.logprobs == ({"token": "a", "logprob": -9999.0, "top_logprobs": []},)


def test_a_refusal_is_read_as_the_answer():
    refusal = completion(message={"content": None, "refusal": "I will not"})

    assert read(refusal).text == "I will not"
    assert read(completion(message={"content": None})).text == ""


def test_half_a_surrogate_pair_becomes_storable_text():
    body = parse_body(b'{"choices":[{"message":{"content":"a\\ud800b"}}]}', "application/json")

    assert read(body).text.encode("utf-8") == b"a?b"


@pytest.mark.parametrize(
    ("content", "kind", "why"),
    [
        (b"{", "application/json", "not valid JSON"),
        (b"\xff\xfe\x00", "application/json", "not valid JSON"),
        (b"[" * 100_000, "application/json", "not valid JSON"),
        (b"[]", "application/json", "not an object"),
        (b"<html>", "text/html; charset=utf-8", "type text/html"),
        (b"{}", "text/plain", "type text/plain"),
    ],
)
def test_a_body_that_is_no_json_object_is_told(content, kind, why):
    with pytest.raises(BadAnswerError, match=why):
        parse_body(content, kind)


@pytest.mark.parametrize(
    "kind", ["application/json; charset=utf-8", "application/problem+json", ""]
)
def test_json_is_read_under_its_usual_types(kind):
    assert parse_body(b'{"a": 1}', kind) == {"a": 1}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"choices": []},
        {"choices": None},
        {"choices": ["x"]},
        {"choices": [{"message": None}]},
        {"choices": [{"message": {"content": ["parts"]}}]},
    ],
)
def test_json_that_is_no_completion_is_told(body):
    with pytest.raises(BadAnswerError):
        read(body)


@given(
    st.fixed_dictionaries(
        {"choices": st.lists(st.fixed_dictionaries({"message": anything, "logprobs": anything}))},
        optional={"usage": anything},
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
