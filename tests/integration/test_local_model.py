"""The embedded model itself: llama.cpp in worker processes on the pulled file."""

from __future__ import annotations

import asyncio
import json
import math
import os
import random
import select
import signal
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path

import jsonschema
import pytest
import pytest_asyncio

from burnish.domain import Message, Model, ModelRequest, ModelResponse, UnavailableError, UsageError
from burnish.models import open_model
from burnish.models.local import worker as local_worker
from burnish.models.local.model import LocalModel, open_local
from burnish.models.local.pull import pull
from burnish.models.settings import ModelSettings

_LABELS = ("positive", "negative")
_SHORT = "Classify the sentiment of the movie review as positive or negative."
# Longer than one batch of the engine, where order used to change answers.
_LONG = _SHORT + " Read every word with care and think about what the writer felt." * 5
_REVIEWS = (
    "A dull, lifeless movie.",
    "I laughed the whole way through.",
    "Not a good use of two hours, whatever the poster promises about its famous cast.",
    "The acting is superb and the story moving.",
)


@pytest.fixture(scope="session")
def model_path():
    return pull("smollm2-135m")


# One loop, for a model's workers belong to the loop that started them, and take a second to start.
on_one_loop = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def model(model_path):
    """One that many tests ask."""
    opened = open_local("smollm2-135m", ModelSettings(workers=1))
    yield opened
    await opened.close()


@pytest_asyncio.fixture(loop_scope="module")
async def fresh_model(model_path):
    opened = open_local("smollm2-135m", ModelSettings(workers=1))
    yield opened
    await opened.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def two_workers(model_path):
    opened = open_local("smollm2-135m", ModelSettings(workers=2))
    yield opened
    await opened.close()


def review(text: str, *, system: str = _SHORT, **parameters) -> ModelRequest:
    return ModelRequest(
        messages=(Message("system", system), Message("user", text)),
        labels=_LABELS,
        parameters={"logprobs": True, "top_logprobs": 3, **parameters},
    )


async def ask_all(model: Model, requests: list[ModelRequest]) -> list[ModelResponse]:
    return list(await asyncio.gather(*(model.complete(request) for request in requests)))


def meaning(responses: list[ModelResponse]) -> list[object]:
    return [(one.text, one.logprobs, one.finish_reason) for one in responses]


@on_one_loop
async def test_answers_are_the_same_bits_whatever_the_order_and_the_worker(model, two_workers):
    requests = [review(text, system=system) for system in (_SHORT, _LONG) for text in _REVIEWS[:2]]
    shuffled = list(enumerate(requests))
    random.Random(3).shuffle(shuffled)

    one_by_one = [await model.complete(request) for request in requests]
    mixed = await ask_all(two_workers, [request for _, request in shuffled])

    assert len(two_workers.worker_pids()) == 2
    by_number = dict(zip((number for number, _ in shuffled), mixed, strict=True))
    assert meaning(one_by_one) == meaning([by_number[n] for n in range(len(requests))])
    assert {response.text for response in mixed} <= set(_LABELS)


@on_one_loop
async def test_a_prompt_that_was_read_before_is_not_read_again(fresh_model):
    first = await fresh_model.complete(review(_REVIEWS[0]))
    second = await fresh_model.complete(review(_REVIEWS[1]))

    assert first.usage.cached_tokens == 0
    assert second.usage.cached_tokens >= 15
    assert second.usage.cached_tokens < second.usage.input_tokens
    assert second.usage.cost_usd == 0.0
    assert second.ttft_ms
    assert second.ttft_ms > 0


@on_one_loop
async def test_labels_come_out_exactly_as_written(model):
    for label in ('say "no"\\', " two\nlines ", "café 😀", "a\u200bb"):
        request = ModelRequest(messages=(Message("user", "Hi"),), labels=(label,))

        assert (await model.complete(request)).text == label


@on_one_loop
async def test_labels_have_probabilities_that_do_not_depend_on_what_was_asked_before(
    model, fresh_model
):
    def question(text: str, **parameters) -> ModelRequest:
        labels = ("(good)", "(bad)", "good", "goods", "gold")
        messages = (Message("system", _SHORT), Message("user", text))
        return ModelRequest(messages=messages, labels=labels, parameters=parameters)

    plain = await model.complete(question(_REVIEWS[0]))
    asked = await model.complete(question(_REVIEWS[0], label_logprobs=True))
    await fresh_model.complete(question(_REVIEWS[1]))
    again = await fresh_model.complete(question(_REVIEWS[0], label_logprobs=True))

    assert plain.label_logprobs is None
    assert asked.text == plain.text
    assert asked.label_logprobs == again.label_logprobs
    assert set(asked.label_logprobs) == {"(good)", "(bad)", "good", "goods", "gold"}
    assert sum(map(math.exp, asked.label_logprobs.values())) == pytest.approx(1)
    assert ModelResponse.of(asked.to_json()).label_logprobs == asked.label_logprobs


@on_one_loop
async def test_json_follows_the_schema(model):
    schema = {
        "type": "object",
        "properties": {
            "label": {"enum": list(_LABELS)},
            "stars": {"type": "integer", "minimum": 1, "maximum": 5},
        },
        "required": ["label", "stars"],
        "additionalProperties": False,
    }
    request = ModelRequest(messages=(Message("user", _REVIEWS[3]),), schema=schema)

    response = await model.complete(request)

    jsonschema.validate(json.loads(response.text), schema)
    assert response.finish_reason == "stop"


@on_one_loop
async def test_parameters_reach_the_engine(model):
    story = ModelRequest.text("Tell me a story.", max_tokens=4)

    cut = await model.complete(story)
    sampled = [
        await model.complete(
            ModelRequest(
                messages=story.messages,
                parameters={"max_tokens": 6, "temperature": 1.5, "seed": 1},
                repeat=repeat,
            )
        )
        for repeat in (0, 1, 0)
    ]

    assert (cut.finish_reason, cut.usage.output_tokens) == ("length", 4)
    assert sampled[0].text == sampled[2].text != sampled[1].text


@on_one_loop
async def test_what_the_engine_refuses_is_the_users_to_correct(model):
    with pytest.raises(UsageError, match="and 2048 fit") as caught:
        await model.complete(ModelRequest.text("word " * 3000))
    assert caught.value.code == "prompt_too_long"
    assert "context_tokens" in caught.value.fix

    with pytest.raises(UsageError, match="frob"):
        await model.complete(
            ModelRequest(messages=(Message("user", "Hi"),), schema={"type": "frob"})
        )
    with pytest.raises(UsageError, match="temperature"):
        await model.complete(ModelRequest.text("Hi", temperature="hot"))


@on_one_loop
async def test_the_context_is_a_setting_and_part_of_the_fingerprint(model):
    smaller = open_local("smollm2-135m", ModelSettings(workers=1, context_tokens=256))
    request = ModelRequest.text("word " * 300, max_tokens=1)
    try:
        with pytest.raises(UsageError, match="and 256 fit"):
            await smaller.complete(request)
    finally:
        await smaller.close()
    answer = await model.complete(request)

    assert answer.usage.input_tokens > 300
    assert smaller.fingerprint != model.fingerprint


@on_one_loop
async def test_a_worker_killed_in_the_middle_costs_no_answer(two_workers):
    requests = [review(text) for text in _REVIEWS * 3]
    running = [asyncio.create_task(two_workers.complete(request)) for request in requests]
    await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)

    victim = two_workers.worker_pids()[0]
    os.kill(victim, signal.SIGKILL)
    responses = await asyncio.gather(*running)

    assert meaning(responses[:4]) == meaning(responses[4:8]) == meaning(responses[8:])
    assert victim not in two_workers.worker_pids()


@on_one_loop
async def test_a_request_over_its_deadline_does_not_block_the_next(model):
    endless = ModelRequest(
        messages=(Message("user", "Count to ten thousand."),),
        parameters={"max_tokens": 2000},
        timeout_seconds=0.3,
    )

    with pytest.raises(UnavailableError, match="no answer within"):
        await model.complete(endless)

    assert (await model.complete(review(_REVIEWS[0]))).text in _LABELS


def test_two_event_loops_in_a_row(model_path):
    model = open_local("smollm2-135m", ModelSettings(workers=1))

    first = asyncio.run(model.complete(review(_REVIEWS[0])))
    second = asyncio.run(model.complete(review(_REVIEWS[0])))
    asyncio.run(model.close())

    assert meaning([first]) == meaning([second])


def test_the_worker_ends_at_once_when_its_parent_goes_in_the_middle_of_an_answer(model_path):
    request = {"messages": [{"role": "user", "content": "Count."}], "max_tokens": 2000}
    with subprocess.Popen(
        [sys.executable, local_worker.__file__, str(model_path), "2048"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as worker:
        assert worker.stdin
        assert worker.stdout
        assert json.loads(worker.stdout.readline()) == {"ready": True}
        worker.stdin.write(json.dumps(request).encode() + b"\n")
        worker.stdin.flush()
        loaded = cpu_seconds(worker.pid)
        while cpu_seconds(worker.pid) < loaded + 0.1:
            time.sleep(0.01)

        worker.stdin.close()

        assert worker.wait(120) == 0
        assert worker.stdout.read() == b""


# An engine that loads for ever and lets no other thread run meanwhile.
_LOADING = """
import ctypes, os, sys
sys.setswitchinterval(1000)
held, said = ctypes.PyDLL(None), os.open(os.environ["SAID"], os.O_WRONLY)
pid = b"%d\\n" % os.getpid()
held.write(said, pid, len(pid))
held.pause()
"""
_PARENT = """
import subprocess, sys
subprocess.Popen([sys.executable, *sys.argv[1:]], stdin=subprocess.PIPE).wait()
"""


def test_the_worker_ends_with_a_killed_parent_while_the_engine_loads(tmp_path):
    (tmp_path / "xllamacpp.py").write_text(_LOADING)
    said = tmp_path / "said"
    os.mkfifo(said)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "SAID": str(said)}
    command = [sys.executable, "-c", _PARENT, local_worker.__file__, "model", "2048"]

    with subprocess.Popen(command, env=environment) as parent, said.open() as told:
        worker = int(told.readline())
        parent.kill()

        ended, _, _ = select.select([told], [], [], 30)  # its writer is gone
        if not ended:
            os.kill(worker, signal.SIGKILL)
        assert ended


def cpu_seconds(pid: int) -> float:
    """What a process has worked."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_file_is_opened_by_its_path_and_told_apart_by_its_content(model_path, tmp_path):
    link = tmp_path / "other-name.gguf"
    link.symlink_to(model_path)
    named = open_local("smollm2-135m", ModelSettings())
    by_path = open_model(f"local/{link}")

    assert isinstance(by_path, LocalModel)
    assert by_path.fingerprint == named.fingerprint
    assert named.name == "local/smollm2-135m"
    assert by_path.name == f"local/{link}"


@pytest.mark.parametrize("content", [None, b"not a model", b"GGUF but broken"])
async def test_a_bad_file_is_named(tmp_path, content):
    path = tmp_path / "bad.gguf"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(UsageError, match=r"cannot be (used|loaded)"):
        model = open_local(str(path), ModelSettings(workers=1))
        try:
            await model.complete(ModelRequest.text("Hi"))
        finally:
            await model.close()


def test_a_missing_engine_says_how_to_install_it(monkeypatch):
    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)

    with pytest.raises(UsageError, match=r"burnish\[local\]"):
        open_local("smollm2-135m", ModelSettings())
