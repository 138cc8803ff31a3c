"""The larger embedded model, Qwen2.5-Coder-1.5B: its chat form, its context, answers by schema."""

from __future__ import annotations

import json
import os

import jsonschema
import pytest
import pytest_asyncio

from burnish.domain import Message, ModelRequest, UsageError
from burnish.models.local.model import open_local
from burnish.models.local.pull import path_of
from burnish.models.settings import ModelSettings

pytestmark = [
    pytest.mark.skipif(
        os.environ.get("BURNISH_TEST_LARGE_MODELS") != "1",
        reason="it needs a file of 1.1 GB, 2 GB of memory and minutes: make test-qwen",
    ),
    pytest.mark.asyncio(loop_scope="module"),
]
_NAME = "qwen2.5-coder-1.5b"
_SCORE = {
    "type": "object",
    "properties": {"score": {"enum": [0, 1]}},
    "required": ["score"],
    "additionalProperties": False,
}
_REFLECTION = {
    "type": "object",
    "properties": {"diagnosis": {"type": "string"}, "new_instruction": {"type": "string"}},
    "required": ["diagnosis", "new_instruction"],
    "additionalProperties": False,
}
_STATEMENTS = {
    "The capital of France is Paris.": 1,
    "2 + 2 = 5.": 0,
    "Water freezes at 0 degrees Celsius.": 1,
    "The sun is a planet.": 0,
    "A triangle has three sides.": 1,
    "Dogs are reptiles.": 0,
    "Python is a programming language.": 1,
    "The moon is larger than the earth.": 0,
    "January is the first month of the year.": 1,
    "Fish breathe with wings.": 0,
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def model():
    # No machine is too slow for these tests.
    opened = open_local(_NAME, ModelSettings(workers=1, timeout_seconds=7200))
    yield opened
    await opened.close()


async def test_the_chat_form_is_the_models_own():
    """A chat is answered as its text in ChatML is."""
    engine = pytest.importorskip("xllamacpp")
    parameters = engine.CommonParams()
    parameters.model.path = str(path_of(_NAME))
    parameters.n_ctx = 256
    parameters.warmup = False
    parameters.verbosity = 0
    server = engine.Server(parameters)
    options = {"temperature": 0, "seed": 0, "max_tokens": 12}
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Name three colours."},
    ]
    written = (
        "<|im_start|>system\nBe brief.<|im_end|>\n"
        "<|im_start|>user\nName three colours.<|im_end|>\n<|im_start|>assistant\n"
    )

    chat = server.handle_chat_completions({**options, "messages": messages})
    plain = server.handle_completions({**options, "prompt": written})

    assert chat["usage"]["prompt_tokens"] == plain["usage"]["prompt_tokens"]
    assert chat["choices"][0]["message"]["content"] == plain["choices"][0]["text"]


async def test_it_judges_by_a_schema_of_a_score_alone(model):
    found = {}
    for statement in _STATEMENTS:
        request = ModelRequest(
            messages=(
                Message("system", "Score 1 if the statement is true, 0 if it is false."),
                Message("user", f"Statement: {statement}"),
            ),
            schema=_SCORE,
            parameters={"max_tokens": 16},
        )
        response = await model.complete(request)
        assert response.finish_reason == "stop"
        found[statement] = json.loads(response.text)["score"]

    assert sum(found[one] == right for one, right in _STATEMENTS.items()) >= 9


async def test_it_reflects_by_a_schema_in_a_context_that_holds_many_failures(model):
    failure = "input: 'A dull, lifeless movie.' expected: negative, got: 'It is a movie review.'\n"
    prompt = f"The instruction was: Classify the review. It failed:\n{failure * 90}Improve it."

    response = await model.complete(
        ModelRequest(
            messages=(Message("user", prompt),), schema=_REFLECTION, parameters={"max_tokens": 300}
        )
    )

    assert response.usage.input_tokens > 2048
    assert response.finish_reason == "stop"
    jsonschema.validate(json.loads(response.text), _REFLECTION)


async def test_an_answer_that_was_cut_says_so(model):
    response = await model.complete(ModelRequest.text("Count to a hundred.", max_tokens=4))

    assert (response.finish_reason, response.usage.output_tokens) == ("length", 4)


async def test_a_prompt_that_is_too_long_says_what_fits(model):
    with pytest.raises(UsageError, match="and 8192 fit") as caught:
        await model.complete(ModelRequest.text("word " * 9000))

    assert caught.value.code == "prompt_too_long"
    assert "context_tokens" in caught.value.fix
