import asyncio

import pytest

from burnish.domain import (
    Message,
    ModelRequest,
    ModelResponse,
    ToolCall,
    UnavailableError,
    UsageError,
)
from burnish.models.scripted import ErrorRule, ScriptedModel
from burnish.support.retry import RetryPolicy

REQUESTS = [ModelRequest.text(f"question {number}") for number in range(200)]


async def answers(model, requests):
    return [(await model.complete(request)).text for request in requests]


async def test_a_function_answers_the_request():
    model = ScriptedModel(lambda request: request.messages[-1].content[::-1])

    assert await answers(model, [ModelRequest.text("abc")]) == ["cba"]
    assert model.calls == 1


async def test_an_async_function_is_awaited():
    async def answer(request):
        return "later"

    assert await answers(ScriptedModel(answer), REQUESTS[:1]) == ["later"]


async def test_a_mapping_answers_the_last_user_message():
    model = ScriptedModel({"hi": "hello"})
    messages = (Message("system", "be kind"), Message("user", "hi"))

    response = await model.complete(ModelRequest(messages=messages))

    assert response.text == "hello"
    with pytest.raises(UsageError) as caught:
        await model.complete(ModelRequest.text("bye"))
    assert caught.value.code == "not_scripted"


async def test_draws_depend_on_content_and_seed_and_never_on_order():
    script = ["a", "b", "c"]

    forwards = await answers(ScriptedModel(script, seed=1), REQUESTS)
    backwards = await answers(ScriptedModel(script, seed=1), REQUESTS[::-1])
    reseeded = await answers(ScriptedModel(script, seed=2), REQUESTS)

    assert forwards == backwards[::-1]
    assert forwards != reseeded
    assert set(forwards) == {"a", "b", "c"}


async def test_a_repeat_draws_anew():
    model = ScriptedModel(["a", "b"])
    repeats = [ModelRequest(messages=(Message("user", "x"),), repeat=n) for n in range(40)]

    assert set(await answers(model, repeats)) == {"a", "b"}


async def test_an_empty_script_is_refused():
    with pytest.raises(UsageError, match="no answer"):
        ScriptedModel([])


async def test_first_attempts_fail_as_ordered_and_are_retried(clock):
    rule = ErrorRule(status=429, attempts=2, retry_after=3.0)
    model = ScriptedModel(["ok"], errors=[rule], clock=clock)

    found = await answers(model, REQUESTS[:5])

    assert found == ["ok"] * 5
    assert model.calls == 5
    assert model.attempts == 15
    assert all(3.0 <= wait < 3.5 for wait in clock.sleeps)


async def test_a_share_of_requests_fails_for_good(clock):
    rule = ErrorRule(status=0, attempts=None, share=0.25)
    model = ScriptedModel(["ok"], errors=[rule], clock=clock, policy=RetryPolicy(max_attempts=2))

    outcomes = await asyncio.gather(
        *(model.complete(request) for request in REQUESTS), return_exceptions=True
    )

    failed = [one for one in outcomes if isinstance(one, UnavailableError)]
    answered = [one.text for one in outcomes if not isinstance(one, Exception)]
    assert 25 < len(failed) < 75
    assert answered == ["ok"] * (200 - len(failed))


async def test_a_refusal_is_not_retried():
    model = ScriptedModel(["ok"], errors=[ErrorRule(status=400)])

    with pytest.raises(UsageError):
        await model.complete(REQUESTS[0])

    assert model.attempts == 1


async def test_latency_is_drawn_from_its_range_by_content(clock):
    model = ScriptedModel(["ok"], latency_seconds=(1.0, 3.0), clock=clock)

    await answers(model, REQUESTS[:50] * 2)

    assert clock.sleeps[:50] == clock.sleeps[50:]
    assert all(1 <= wait <= 3 for wait in clock.sleeps)
    assert max(clock.sleeps) - min(clock.sleeps) > 1


async def test_tokens_and_price_are_as_told():
    model = ScriptedModel(["one two"], count=len, price=(1.0, 2.0))

    usage = (await model.complete(ModelRequest.text("abc"))).usage

    assert (usage.input_tokens, usage.output_tokens) == (3, 7)
    assert usage.cost_usd == pytest.approx((3 * 1 + 7 * 2) / 1_000_000)


def test_another_script_or_seed_has_another_fingerprint():
    fingerprints = {
        ScriptedModel(["a"]).fingerprint,
        ScriptedModel(["b"]).fingerprint,
        ScriptedModel(["a"], seed=1).fingerprint,
        ScriptedModel({"a": "a"}).fingerprint,
    }

    assert len(fingerprints) == 4
    assert ScriptedModel(["a"]).fingerprint == ScriptedModel(["a"]).fingerprint


@pytest.mark.parametrize("in_list", [True, False])
async def test_an_answer_may_call_tools(in_list):
    called = ModelResponse(
        text="",
        finish_reason="tool_calls",
        tool_calls=(ToolCall("1", "weather", {"city": "Bern"}),),
    )
    model = ScriptedModel([called] if in_list else lambda _request: called, price=(0.0, 1.0))

    response = await model.complete(ModelRequest.text("hi"))

    assert response.tool_calls == called.tool_calls
    assert response.usage.output_tokens > 0
    assert response.usage.cost_usd > 0
