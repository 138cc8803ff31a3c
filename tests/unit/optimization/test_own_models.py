"""An optimizer's own calls: counted, limited, kept over a resume."""

from __future__ import annotations

import asyncio

import pytest

from burnish.domain import (
    Budget,
    BudgetReached,
    Model,
    ModelRequest,
    ModelResponse,
    ModelUser,
    Purpose,
    RunContext,
    SystemClock,
    UnavailableError,
    UsageError,
)
from burnish.models import as_model
from burnish.optimization.budget_gate import BudgetGate, OwnModels
from burnish.optimizers.shared import asking
from burnish.optimizers.shared.asking import Asker


def _models(limit: int | None = None) -> tuple[OwnModels, BudgetGate]:
    gate = BudgetGate(Budget(max_calls=limit), SystemClock())
    return OwnModels(as_model, gate), gate


async def test_an_own_call_is_counted_as_proposing() -> None:
    models, gate = _models()
    model: Model = models(lambda prompt: prompt.upper())

    answer = await model.complete(ModelRequest.text("abc"))

    assert answer.text == "ABC"
    assert gate.own.by_purpose[Purpose.PROPOSE.value].calls == 1
    assert gate.spending.total.calls == 1


async def test_no_call_starts_once_the_budget_is_spent() -> None:
    models, gate = _models(limit=2)
    asked = []
    model = models(lambda prompt: asked.append(prompt) or "x")

    await model.complete(ModelRequest.text("1"))
    await model.complete(ModelRequest.text("2"))
    with pytest.raises(BudgetReached, match="max_calls"):
        await model.complete(ModelRequest.text("3"))

    assert asked == ["1", "2"]
    assert gate.spending.total.calls == 2


async def test_equal_prompts_of_one_batch_are_told_apart() -> None:
    turns = []

    class Counting:
        name = fingerprint = "counting"

        async def complete(self, request: ModelRequest):
            turns.append(request.repeat)
            return await as_model(lambda _: "x").complete(request)

        async def close(self) -> None: ...

    asker = Asker(Counting())
    asker.connect(lambda source: source)

    await asker.ask_all(["a", "a", "b"])

    assert sorted(turns) == [0, 0, 1]


def _asker(complete, name: str = "fake") -> Asker:
    class Fake:
        fingerprint = "fake"

        async def complete(self, request: ModelRequest) -> ModelResponse:
            return await complete(request)

        async def close(self) -> None: ...

    model = Fake()
    model.name = name
    asker = Asker(model)
    asker.connect(lambda source: source)
    return asker


async def test_a_call_that_fails_costs_its_own_answer_only() -> None:
    down = UnavailableError(what="it is down", why="a 503", fix="wait")
    errors = {"b": down, "c": ConnectionError("reset"), "d": RuntimeError("of a client")}

    async def complete(request):
        prompt = request.messages[0].content
        if prompt in errors:
            raise errors[prompt]
        return ModelResponse(text=prompt.upper())

    asker = _asker(complete)
    answers = await asker.ask_each([(prompt, None) for prompt in "abcde"])

    assert [one.text for one in (answers[0], answers[4])] == ["A", "E"]
    assert answers[1:4] == list(errors.values())
    with pytest.raises(UnavailableError, match="it is down"):
        await asker.ask_all(["a", "b"])


@pytest.mark.parametrize(
    "error",
    [
        UsageError(what="the key", why="is wrong", fix="correct it", code="bad_key"),
        BudgetReached("max_calls"),
    ],
)
async def test_what_no_next_call_would_do_better_is_raised_once_the_others_ended(error) -> None:
    ended = []

    async def complete(request):
        if request.messages[0].content == "a":
            raise error
        await asyncio.sleep(0)
        ended.append(request)
        return ModelResponse(text="x")

    with pytest.raises(type(error), match=error.what):
        await _asker(complete).ask_each([("a", None), ("b", None)])

    assert len(ended) == 1


async def test_time_in_a_queue_is_no_time_of_the_call(monkeypatch) -> None:
    """One after another takes longer than a call may, and each answer gives the others new time."""
    monkeypatch.setattr(asking, "_SECONDS", 1.0)
    waits: list[float] = []
    real = asyncio.wait

    async def wait(tasks, *, timeout, return_when):
        waits.append(timeout)
        return await real(tasks, return_when=return_when)

    monkeypatch.setattr(asyncio, "wait", wait)
    one_by_one, deadlines = asyncio.Lock(), []

    async def complete(request):
        deadlines.append(request.timeout_seconds)
        async with one_by_one:
            for _ in range(5):
                await asyncio.sleep(0)
        return ModelResponse(text="x")

    answers = await _asker(complete).ask_each([(prompt, None) for prompt in "abcd"])

    assert [one.text for one in answers] == ["x"] * 4
    assert deadlines == [4.0] * 4
    assert waits == [1.0] * len(waits)
    assert len(waits) > 1


async def test_nobody_answering_is_a_failure_of_each(monkeypatch) -> None:
    monkeypatch.setattr(asking, "_SECONDS", 0.001)

    async def complete(request):
        await asyncio.Event().wait()

    answers = await _asker(complete).ask_each([("a", None), ("b", None)])

    assert [one.code for one in answers] == ["timeout", "timeout"]


async def test_an_embedded_model_takes_its_own_time(monkeypatch) -> None:
    """On a busy machine one call computes for minutes; the model's own settings bound that."""
    monkeypatch.setattr(asking, "_SECONDS", 0.0)
    deadlines = []

    async def complete(request):
        deadlines.append(request.timeout_seconds)
        for _ in range(20):
            await asyncio.sleep(0)
        return ModelResponse(text="x")

    answers = await _asker(complete, "local/qwen").ask_each([("a", None), ("b", None)])

    assert [one.text for one in answers] == ["x", "x"]
    assert deadlines == [None, None]


async def test_a_schema_goes_with_its_prompt_and_embedded_models_want_one() -> None:
    asked = []

    async def complete(request):
        asked.append((request.schema, request.parameters))
        return ModelResponse(text="x")

    schema = {"type": "object"}
    await _asker(complete).ask_each([("a", schema), ("b", None)])

    assert asked == [(schema, {"max_tokens": 1_024}), (None, {})]
    assert _asker(complete, "local/qwen").by_schema
    assert not _asker(complete, "openai/gpt-4o").by_schema


async def test_asking_without_a_model_says_what_to_do() -> None:
    asker = Asker(None)
    assert not asker.available
    with pytest.raises(Exception, match="cannot be asked"):
        await asker.ask("x")


def test_only_optimizers_with_connect_are_model_users() -> None:
    class Plain:
        name = "plain"

        def initialize(self, context: RunContext): ...

    class Asking(Plain):
        def connect(self, open_model): ...

    assert not isinstance(Plain(), ModelUser)
    assert isinstance(Asking(), ModelUser)
