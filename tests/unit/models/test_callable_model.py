import asyncio
import importlib.util
import sys
import threading

import pytest

from burnish.domain import Message, ModelRequest, ToolDefinition, UnavailableError, UsageError
from burnish.models.callable_model import CallableModel, flatten


def shout(prompt: str) -> str:
    return prompt.upper()


async def whisper(prompt: str) -> str:
    await asyncio.sleep(0)
    return prompt.lower()


class Parrot:
    async def __call__(self, prompt: str) -> str:
        return prompt


def module_from(path, source):
    path.write_text(source)
    spec = importlib.util.spec_from_file_location("user_agent", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["user_agent"] = module
    spec.loader.exec_module(module)
    return module


async def test_a_plain_function_answers():
    response = await CallableModel(shout).complete(ModelRequest.text("hello world"))

    assert response.text == "HELLO WORLD"
    assert response.usage.calls == 1
    assert response.usage.input_tokens == 2
    assert response.usage.output_tokens > 0
    assert response.usage.cost_usd == 0.0


@pytest.mark.parametrize("function", [whisper, Parrot(), lambda p: whisper(p + "")])
async def test_async_functions_of_all_kinds_are_awaited(function):
    response = await CallableModel(function).complete(ModelRequest.text("quiet"))

    assert response.text == "quiet"


async def test_a_plain_function_does_not_block_the_event_loop():
    inside, go_on = threading.Event(), threading.Event()

    def slow(prompt):
        inside.set()
        assert go_on.wait(timeout=600)
        return prompt

    call = asyncio.create_task(CallableModel(slow).complete(ModelRequest.text("x")))
    while not inside.is_set():
        await asyncio.sleep(0)
    assert not call.done()
    go_on.set()

    assert (await call).text == "x"


async def test_a_function_that_never_returns_meets_the_deadline_and_does_not_hold_the_program():
    never = threading.Event()
    request = ModelRequest(messages=(Message("user", "x"),), timeout_seconds=0.02)

    def hang(prompt):
        never.wait()
        return prompt

    with pytest.raises(UnavailableError) as caught:
        await CallableModel(hang).complete(request)

    left = [t for t in threading.enumerate() if t.name == "burnish-work" and t.is_alive()]
    never.set()
    assert caught.value.code == "deadline"
    assert left
    assert all(thread.daemon for thread in left)


async def test_what_the_function_raises_is_passed_on():
    def broken(prompt):
        raise ZeroDivisionError("boom")

    with pytest.raises(ZeroDivisionError, match="boom"):
        await CallableModel(broken).complete(ModelRequest.text("x"))


async def test_a_timeout_of_the_functions_own_is_not_taken_for_our_deadline():
    def broken(prompt):
        raise TimeoutError("its own")

    with pytest.raises(TimeoutError, match="its own"):
        await CallableModel(broken).complete(ModelRequest.text("x"))


@pytest.mark.parametrize("error", [StopIteration, SystemExit, KeyboardInterrupt])
async def test_errors_that_would_end_the_loop_are_made_harmless(error):
    def broken(prompt):
        raise error

    with pytest.raises(RuntimeError, match=error.__name__):
        await CallableModel(broken).complete(ModelRequest.text("x"))


async def test_an_answer_that_is_not_text_is_refused():
    with pytest.raises(UsageError, match="int, not text"):
        await CallableModel(len).complete(ModelRequest.text("x"))


def test_instructions_stand_above_the_question():
    prompt = flatten((Message("system", "Be brief."), Message("user", "Why?")))

    assert prompt == "Be brief.\n\nWhy?"


def test_a_conversation_becomes_a_transcript():
    turns = (Message("user", "Hi"), Message("assistant", "Hello"), Message("user", "Why?"))

    assert flatten(turns) == "User: Hi\n\nAssistant: Hello\n\nUser: Why?\n\nAssistant:"


def test_a_fingerprint_is_stable_while_it_can_be_known():
    assert CallableModel(shout).fingerprint == CallableModel(shout).fingerprint
    assert CallableModel(shout).fingerprint != CallableModel(whisper).fingerprint


def test_a_closure_over_an_object_never_has_the_same_fingerprint_twice():
    state = object()

    def count(prompt):
        return f"{prompt}{state}"

    assert CallableModel(count).fingerprint != CallableModel(count).fingerprint


async def test_many_slow_functions_run_side_by_side():
    # Were they to wait for each other, none would pass it.
    barrier = threading.Barrier(40, timeout=600)

    def meet(prompt):
        barrier.wait()
        return prompt

    model = CallableModel(meet)
    answers = await asyncio.gather(*(model.complete(ModelRequest.text("x")) for _ in range(40)))

    assert [one.text for one in answers] == ["x"] * 40


async def test_tools_are_refused():
    tool = ToolDefinition("look", "Looks", {"type": "object"})
    request = ModelRequest(messages=(Message("user", "hi"),), tools=(tool,))

    with pytest.raises(UsageError) as caught:
        await CallableModel(shout).complete(request)

    assert caught.value.code == "unsupported_request"
