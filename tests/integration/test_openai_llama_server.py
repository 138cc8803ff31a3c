"""The real SDK against a real model: llama.cpp's own OpenAI-compatible server."""

import json
import subprocess
import sys

import pytest

from burnish.domain import Message, ModelRequest, UsageError
from burnish.models import ModelSettings, OpenAIModel
from burnish.models.local.pull import pull

KEY = "the-servers-own-key"
SERVER = f"""
import sys, xllamacpp

parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
parameters.n_ctx, parameters.n_parallel, parameters.n_ubatch = 1024, 1, 32
parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
parameters.warmup, parameters.verbosity, parameters.ui = False, 0, False
parameters.api_keys, parameters.port = ["{KEY}"], 0
server = xllamacpp.Server(parameters)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def base_url():
    command = [sys.executable, "-c", SERVER, str(pull("smollm2-135m"))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield process.stdout.readline().decode().strip() + "/v1"
        process.kill()


@pytest.fixture
def ask(base_url, monkeypatch):
    async def complete(request, key=KEY):
        monkeypatch.setenv("LLAMA_KEY", key)
        settings = ModelSettings(base_url=base_url, api_key_env="LLAMA_KEY", grammar=True)
        model = OpenAIModel("smollm2", settings)
        try:
            return await model.complete(request)
        finally:
            await model.close()

    return complete


async def test_labels_go_as_a_grammar_and_logprobs_and_usage_come_back(ask):
    request = ModelRequest(
        messages=(Message("system", "Name the sentiment."), Message("user", "I loved it.")),
        labels=("positive", "negative"),
        parameters={"temperature": 0.0, "logprobs": True, "top_logprobs": 2},
    )

    response = await ask(request)

    assert response.text in request.labels
    assert response.finish_reason == "stop"
    assert response.usage.input_tokens > 10
    assert response.usage.output_tokens > 0
    assert len(response.logprobs[0]["top_logprobs"]) == 2


async def test_a_schema_holds_the_answer_to_json(ask):
    score = {"type": "object", "properties": {"score": {"type": "integer"}}, "required": ["score"]}
    parameters = {"temperature": 0.0, "max_tokens": 40}
    messages = (Message("user", "Rate the film: great."),)

    response = await ask(ModelRequest(messages=messages, schema=score, parameters=parameters))

    assert isinstance(json.loads(response.text)["score"], int)


async def test_a_wrong_key_is_a_usage_error(ask):
    with pytest.raises(UsageError) as caught:
        await ask(ModelRequest.text("hello"), key="some-other-key-0815")

    assert caught.value.code == "bad_key"
    assert "LLAMA_KEY" in caught.value.fix
    assert "some-other-key-0815" not in str(caught.value)
