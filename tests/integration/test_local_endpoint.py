"""`burnish models serve`: our own OpenAI client, and plain HTTP, against the embedded model."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import pytest
from starlette.requests import Request

from burnish.domain import Message, ModelRequest, UsageError
from burnish.models import ModelSettings, OpenAIModel
from burnish.models.local.pull import pull
from burnish.server.local_models import read_body

_SERVE = "from burnish.cli import main; main()"
_MESSAGES = (Message("system", "Name the sentiment."), Message("user", "I loved it."))


@pytest.fixture(scope="module")
def base_url():
    pull("smollm2-135m")
    options = ["models", "serve", "smollm2-135m", "--port", "0", "--workers", "1"]
    command = [sys.executable, "-c", _SERVE, *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        yield process.stdout.readline().partition(" at ")[2].partition(",")[0]
        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 0


async def ask(base_url: str, request: ModelRequest, name: str = "smollm2-135m"):
    model = OpenAIModel(name, ModelSettings(base_url=base_url, api_key_env="", grammar=True))
    try:
        return await model.complete(request)
    finally:
        await model.close()


def send(url: str, body: object, **headers: str) -> tuple[int, str]:
    headers = {"content-type": "application/json", **headers}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


async def test_labels_logprobs_and_usage_come_back(base_url):
    parameters = {"logprobs": True, "top_logprobs": 2}
    labels = ("positive", "negative")

    said = await ask(
        base_url, ModelRequest(messages=_MESSAGES, labels=labels, parameters=parameters)
    )

    assert said.text in labels
    assert (said.finish_reason, said.usage.input_tokens > 10) == ("stop", True)
    assert len(said.logprobs[0]["top_logprobs"]) == 2


async def test_a_schema_holds_the_answer_to_json(base_url):
    score = {"type": "object", "properties": {"score": {"type": "integer"}}, "required": ["score"]}

    said = await ask(
        base_url, ModelRequest(messages=_MESSAGES, schema=score, parameters={"max_tokens": 40})
    )

    assert isinstance(json.loads(said.text)["score"], int)


async def test_what_cannot_be_answered_is_said_in_openais_form(base_url):
    with pytest.raises(UsageError, match="smollm2-135m"):
        await ask(base_url, ModelRequest(messages=_MESSAGES), name="other")

    url, chat = f"{base_url}/chat/completions", [{"role": "user", "content": "Hi"}]
    status, text = send(url, {"model": "smollm2-135m", "messages": chat, "frob": 1})
    error = json.loads(text)["error"]
    assert (status, error["type"], error["code"]) == (
        400,
        "invalid_request_error",
        "unknown_parameter",
    )
    assert send(url, {"model": "smollm2-135m"})[0] == 400
    assert send(url, {"model": "smollm2-135m", "messages": chat}, Host="evil.test")[0] == 400
    assert send(url, [], **{"content-type": "text/plain"})[0] == 400
    assert json.loads(send(f"{base_url}/nothing", {})[1])["error"]["message"]


async def test_a_body_that_no_model_could_read_is_refused():
    async def receive():
        return {"type": "http.request", "body": b"x" * 1_000_000, "more_body": True}

    headers = [(b"content-type", b"application/json")]
    request = Request({"type": "http", "method": "POST", "headers": headers}, receive)

    with pytest.raises(UsageError, match="over 4,000,000 bytes"):
        await read_body(request)


def test_models_are_listed_and_answers_stream(base_url):
    with urllib.request.urlopen(f"{base_url}/models") as response:
        assert [one["id"] for one in json.load(response)["data"]] == ["smollm2-135m"]
    body = {
        "model": "local/smollm2-135m",
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Yes or no?"}]}],
        "grammar": 'root ::= "yes" | "no"',
        "stream": True,
        "stream_options": {"include_usage": True},
        "n": 2,
    }

    status, text = send(f"{base_url}/chat/completions", body)

    events = [line.removeprefix("data: ") for line in text.splitlines() if line]
    assert (status, events.pop()) == (200, "[DONE]")
    usage = json.loads(events.pop())["usage"]
    said = [json.loads(event)["choices"][0]["delta"]["content"] for event in events]
    assert usage["completion_tokens"] > 0
    assert len(said) == 2
    assert set(said) <= {"yes", "no"}
