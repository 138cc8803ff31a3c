from __future__ import annotations

from dataclasses import replace

import pytest

from burnish.domain import (
    Message,
    ModelRequest,
    Picture,
    ToolDefinition,
    UnavailableError,
    UsageError,
)
from burnish.models.local.model import chat_payload, chat_response, decided_label, leading_text
from burnish.models.local.worker import answer_label


def ask(**options) -> ModelRequest:
    return ModelRequest(messages=(Message("user", "Good?"),), **options)


def answer(text: str = "yes", **choice) -> dict:
    return {
        "choices": [{"message": {"content": text}, "finish_reason": "stop", **choice}],
        "usage": {
            "prompt_tokens": 30,
            "completion_tokens": 2,
            "prompt_tokens_details": {"cached_tokens": 21},
        },
        "timings": {"prompt_ms": 12.5, "predicted_ms": 7.5},
    }


def test_a_plain_request_decodes_greedily_and_reuses_the_cache():
    assert chat_payload(ask()) == {
        "messages": [{"role": "user", "content": "Good?"}],
        "temperature": 0,
        "seed": 0,
        "max_tokens": 256,
        "cache_prompt": True,
    }


def test_labels_become_a_grammar_with_room_for_the_longest():
    payload = chat_payload(ask(labels=("yes", "maybe"), parameters={"max_tokens": 1, "stop": "y"}))

    assert payload["grammar"] == 'root ::= "yes" | "maybe"'
    assert payload["max_tokens"] == 6
    assert "stop" not in payload


class Engine:
    """Says one label, a character a token."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.asked: list[int] = []

    def __call__(self, payload: dict) -> dict:
        self.asked.append(payload["max_tokens"])
        text = self.label[: payload["max_tokens"]]
        reason = "stop" if len(text) < payload["max_tokens"] else "length"
        said = answer(text, finish_reason=reason)
        said["timings"]["prompt_ms"] = 12.5 if len(self.asked) == 1 else 1.5
        return said


@pytest.mark.parametrize(
    ("label", "asked"), [("no", [1]), ("card_lost", [1, 2, 4, 8]), ("card", [1, 2, 4, 8])]
)
def test_a_label_is_written_until_no_other_is_possible(label, asked):
    request, engine = ask(labels=("no", "card_lost", "card_new", "card")), Engine(label)
    payload = chat_payload(request)
    labels = payload.pop("labels")

    said = answer_label(engine, payload, labels)

    response = decided_label(request, said) or chat_response(request, said)
    assert response.text == label
    assert engine.asked == asked
    assert response.ttft_ms == 12.5
    assert response.latency_ms == 20.0 + 9.0 * (len(asked) - 1)
    assert response.usage.cached_tokens == 21


def test_probabilities_that_the_engine_refuses_to_tell_are_not_made_up():
    request = ask(labels=("yes", "no"), parameters={"label_logprobs": True})
    payload = chat_payload(request)
    labels = payload.pop("labels")

    def engine(payload):
        refused = {"error": {"code": 400, "message": "no"}}
        return refused if payload.get("post_sampling_probs") else answer("yes")

    said = answer_label(engine, payload, labels)

    assert decided_label(request, said).text == "yes"
    assert decided_label(request, said).label_logprobs is None


def test_a_label_with_logprobs_is_written_out():
    request = ask(labels=("yes", "no"), parameters={"logprobs": True})

    assert "labels" not in chat_payload(request)
    assert decided_label(request, answer("y")) is None


def test_a_schema_is_handed_on():
    assert chat_payload(ask(schema={"type": "object"}))["json_schema"] == {"type": "object"}


def test_parameters_pass_through():
    given = {"temperature": 0.7, "top_p": 0.9, "stop": ["."], "logprobs": True, "top_logprobs": 2}

    assert given.items() <= chat_payload(ask(parameters=given)).items()


def test_repeats_of_a_sampled_answer_get_seeds_of_their_own():
    sampled = {"temperature": 1.0, "seed": 5}

    seeds = [chat_payload(ask(parameters=sampled, repeat=n))["seed"] for n in range(3)]

    assert seeds == [5, 6, 7]


def test_the_openai_name_of_the_token_limit_works_too():
    payload = chat_payload(ask(parameters={"max_completion_tokens": 7.0}))

    assert payload["max_tokens"] == 7
    assert "max_completion_tokens" not in payload


@pytest.mark.parametrize(
    ("options", "code", "hint"),
    [
        ({"parameters": {"temprature": 1}}, "unknown_parameter", "'temperature'"),
        ({"parameters": {"stream": True}}, "unknown_parameter", "use one of"),
        ({"parameters": {"max_tokens": 0}}, "parameter_out_of_range", "from 1 up"),
        ({"parameters": {"seed": "x"}}, "parameter_out_of_range", "whole number"),
        ({"labels": ("a",), "schema": {}}, "invalid_request", "not both"),
        ({"labels": ("",)}, "bad_labels", "every label"),
    ],
)
def test_a_request_that_cannot_be_sent_says_why(options, code, hint):
    with pytest.raises(UsageError) as caught:
        chat_payload(ask(**options))

    assert caught.value.code == code
    assert hint in caught.value.fix


def test_text_and_messages_are_checked():
    with pytest.raises(UsageError, match="no messages"):
        chat_payload(ModelRequest(messages=()))
    with pytest.raises(UsageError, match="surrogate"):
        chat_payload(ModelRequest.text("a\ud800"))


def test_the_leading_text_grows_with_the_conversation():
    system, user = Message("system", "Be brief."), Message("user", "Hi")

    whole = leading_text(ModelRequest(messages=(system, user)))

    assert whole.startswith(leading_text(ModelRequest(messages=(system,))))


def test_an_answer_carries_text_usage_and_time():
    response = chat_response(ask(), answer())

    assert (response.text, response.finish_reason, response.ttft_ms) == ("yes", "stop", 12.5)
    assert response.latency_ms == 20.0
    assert response.logprobs is None
    assert response.usage.to_json() == {
        "calls": 1,
        "input_tokens": 30,
        "output_tokens": 2,
        "cached_tokens": 21,
        "cost_usd": 0.0,
    }


def test_logprobs_leave_out_the_end_mark_and_impossible_numbers():
    def token(text: str, logprob: float | None) -> dict:
        return {"id": 1, "token": text, "bytes": list(text.encode()), "logprob": logprob}

    content = [
        {**token("yes", -0.5), "top_logprobs": [token("yes", -0.5), token("no", None)]},
        {**token("", -1.0), "top_logprobs": []},
    ]

    response = chat_response(ask(), answer(logprobs={"content": content}))

    assert response.logprobs == (
        {
            "token": "yes",
            "logprob": -0.5,
            "top_logprobs": [
                {"token": "yes", "logprob": -0.5},
                {"token": "no", "logprob": -9999.0},
            ],
        },
    )


def test_a_prompt_too_long_says_how_long():
    error = {"code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": 9, "n_ctx": 8}

    with pytest.raises(UsageError, match="9 tokens, and 8 fit") as caught:
        chat_response(ask(), {"error": error})

    assert caught.value.code == "prompt_too_long"


def test_a_label_without_room_is_an_error_and_no_wrong_label():
    with pytest.raises(UsageError, match="no room for a label"):
        chat_response(ask(labels=("yes",)), answer("y", finish_reason="length"))


def test_the_engines_refusals_and_failures_are_told_apart():
    with pytest.raises(UsageError, match="bad schema"):
        chat_response(ask(), {"error": {"code": 400, "message": "bad schema"}})
    with pytest.raises(UnavailableError, match="out of memory"):
        chat_response(ask(), {"error": {"code": 500, "message": "out of memory"}})


@pytest.mark.parametrize(
    "beyond",
    [
        {"tools": (ToolDefinition("look", "Looks", {"type": "object"}),)},
        {"messages": (Message("user", "what?", pictures=(Picture("image/png", "AA=="),)),)},
        {"messages": (Message("tool", "seen", tool_call_id="1"),)},
    ],
)
def test_tools_and_pictures_are_refused(beyond):
    with pytest.raises(UsageError) as caught:
        chat_payload(replace(ask(), **beyond))

    assert caught.value.code == "unsupported_request"
    assert "local model" in caught.value.what
