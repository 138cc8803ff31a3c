import asyncio

import pytest

from burnish.domain import (
    Message,
    ModelRequest,
    ModelResponse,
    PaidAnswerError,
    Payer,
    UnavailableError,
    Usage,
    paid_in,
    paying_for,
)
from burnish.models.catalog import CachedModel, call_key


class MemoryCache:
    def __init__(self):
        self.entries = {}

    async def get(self, key):
        await asyncio.sleep(0)
        return self.entries.get(key)

    async def put(self, key, value):
        self.entries[key] = value


class SlowModel:
    """Answers when told to; counts what it was asked."""

    def __init__(self, fingerprint="slow@1"):
        self.name = "slow"
        self.fingerprint = fingerprint
        self.calls = 0
        self.closed = False
        self.go_on = asyncio.Event()
        self.failure = None

    async def complete(self, request):
        self.calls += 1
        await self.go_on.wait()
        if self.failure:
            raise self.failure
        return ModelResponse(
            text=f"answer {self.calls}",
            usage=Usage(calls=1, input_tokens=5, output_tokens=2, cost_usd=0.1),
            finish_reason="length",
            logprobs=({"token": "a", "logprob": -0.5, "top_logprobs": []},),
        )

    async def close(self):
        self.closed = True


@pytest.fixture
def model():
    slow = SlowModel()
    slow.go_on.set()
    return slow


@pytest.fixture
def cache():
    return MemoryCache()


def request(text="hello", **fields):
    return ModelRequest(messages=(Message("user", text),), **fields)


async def settle():
    for _ in range(10):
        await asyncio.sleep(0)


async def test_a_cached_answer_tells_what_it_cost_when_it_was_paid(model, cache):
    paid = Usage(calls=1, input_tokens=5, output_tokens=2, cost_usd=0.1)
    cached = CachedModel(model, cache)

    first = await cached.complete(request())
    later = [await CachedModel(model, cache).complete(request()) for _ in range(2)]

    assert (first.usage, first.reused, first.latency_ms) == (paid, Usage(), None)
    assert [(one.usage, one.reused) for one in later] == [(Usage(), paid)] * 2
    assert all(one.latency_ms is not None and one.latency_ms >= 0 for one in later)


async def test_who_waits_for_the_call_of_another_is_told_its_cost_too(model, cache):
    cached = CachedModel(model, cache)

    both = await asyncio.gather(cached.complete(request()), cached.complete(request()))

    assert model.calls == 1
    assert sorted(one.usage.calls for one in both) == [0, 1]
    assert all(one.usage.calls + one.reused.calls == 1 for one in both)


async def test_a_second_request_is_answered_without_a_call_and_without_usage(model, cache):
    cached = CachedModel(model, cache)

    first = await cached.complete(request())
    second = await cached.complete(request())

    assert model.calls == 1
    assert (first.cached, first.usage.calls) == (False, 1)
    assert (second.cached, second.usage) == (True, Usage())
    assert (second.text, second.finish_reason, second.logprobs) == (
        first.text,
        "length",
        first.logprobs,
    )


@pytest.mark.parametrize(
    ("steady", "temperature", "calls"),
    [(True, 0.0, 1), (True, None, 1), (True, 0.7, 3), (False, 0.0, 3)],
)
async def test_repeats_of_a_steady_model_are_one_call_unless_it_samples(
    model, cache, steady, temperature, calls
):
    cached = CachedModel(model, cache, steady=steady)

    for repeat in range(3):
        await cached.complete(request(parameters={"temperature": temperature}, repeat=repeat))

    assert model.calls == calls


async def test_a_new_process_finds_what_an_earlier_one_paid_for(model, cache):
    await CachedModel(model, cache).complete(request())

    again = await CachedModel(model, cache).complete(request())

    assert again.cached
    assert model.calls == 1


@pytest.mark.parametrize(
    "other",
    [
        request("other"),
        request(parameters={"temperature": 1.0}),
        request(labels=("a", "b")),
        request(schema={"type": "object"}),
        request(repeat=1),
    ],
)
async def test_whatever_the_answer_depends_on_is_another_call(model, cache, other):
    cached = CachedModel(model, cache)
    await cached.complete(request())

    response = await cached.complete(other)

    assert not response.cached
    assert model.calls == 2


async def test_the_deadline_is_no_part_of_the_question(model, cache):
    cached = CachedModel(model, cache)
    await cached.complete(request())

    assert (await cached.complete(request(timeout_seconds=3))).cached


def test_another_model_has_another_key():
    assert call_key("a@1", request()) != call_key("a@2", request())
    assert call_key("a", request(parameters={"t": 1})) == call_key(
        "a", request(parameters={"t": 1.0})
    )


async def test_equal_requests_at_the_same_time_share_one_call(cache):
    model = SlowModel()
    cached = CachedModel(model, cache)
    calls = [asyncio.create_task(cached.complete(request())) for _ in range(10)]
    await settle()

    model.go_on.set()
    responses = await asyncio.gather(*calls)

    assert model.calls == 1
    assert {response.text for response in responses} == {"answer 1"}
    assert sum((response.usage for response in responses), Usage()).calls == 1
    assert [response.cached for response in responses].count(False) == 1


async def test_when_the_paying_call_is_cancelled_another_waiter_takes_over(cache):
    model = SlowModel()
    cached = CachedModel(model, cache)
    leader = asyncio.create_task(cached.complete(request()))
    await settle()
    followers = [asyncio.create_task(cached.complete(request())) for _ in range(3)]
    await settle()

    leader.cancel()
    await settle()
    model.go_on.set()
    responses = await asyncio.gather(*followers)

    assert leader.cancelled()
    assert model.calls == 2
    assert [response.cached for response in responses].count(False) == 1


async def test_a_cancelled_waiter_does_not_cancel_the_call(cache):
    model = SlowModel()
    cached = CachedModel(model, cache)
    leader = asyncio.create_task(cached.complete(request()))
    await settle()
    follower = asyncio.create_task(cached.complete(request()))
    await settle()

    follower.cancel()
    await settle()
    model.go_on.set()

    assert (await leader).text == "answer 1"
    assert follower.cancelled()


async def test_a_failure_reaches_every_waiter_and_is_not_remembered(cache):
    model = SlowModel()
    model.failure = UnavailableError(what="down", why="it is", fix="wait")
    cached = CachedModel(model, cache)
    calls = [asyncio.create_task(cached.complete(request())) for _ in range(3)]
    await settle()

    model.go_on.set()
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    model.failure = None
    later = await cached.complete(request())

    assert [type(outcome) for outcome in outcomes] == [UnavailableError] * 3
    assert model.calls == 2
    assert later.text == "answer 2"


async def test_a_broken_entry_costs_a_call_and_is_replaced(model, cache):
    key = call_key(model.fingerprint, request())
    cache.entries[key] = {"txet": "lost"}

    response = await CachedModel(model, cache).complete(request())

    assert response.text == "answer 1"
    assert cache.entries[key]["text"] == "answer 1"


async def test_closing_closes_the_model_behind(model, cache):
    await CachedModel(model, cache).close()

    assert model.closed


async def test_what_an_interrupted_attempt_paid_for_counts_when_the_same_work_is_done_again(
    model, cache
):
    async def ask(name, times=1):
        with paying_for(Payer(name)):
            answers = [await CachedModel(model, cache).complete(request()) for _ in range(times)]
        return [(one.usage.calls, one.reused.calls, one.cached) for one in answers]

    first = await ask("experiment/item/0", times=2)
    again = await ask("experiment/item/0", times=2)
    other = await ask("experiment/item/1")

    assert first == [(1, 0, False), (0, 1, True)]
    assert again == [(1, 0, True), (0, 1, True)]
    assert other == [(0, 1, True)]


async def test_an_unusable_answer_that_two_waited_for_is_counted_once(cache):
    slow = SlowModel()
    usage = Usage(calls=1, cost_usd=0.1)
    slow.failure = PaidAnswerError(what="no use", why="half", fix="wait", usage=usage)
    cached = CachedModel(slow, cache)
    tasks = [asyncio.create_task(cached.complete(request())) for _ in range(2)]
    await settle()
    slow.go_on.set()

    failures = await asyncio.gather(*tasks, return_exceptions=True)

    assert [paid_in(one).calls for one in failures] == [1, 0]
    assert all(isinstance(one, UnavailableError) for one in failures)
