import asyncio
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.models.failures import TransientError
from burnish.models.limiter import AdaptiveLimiter, shared_limits
from burnish.models.retry import RetryBudget, call_with_retries
from burnish.models.settings import ModelSettings
from burnish.support.retry import RetryPolicy
from burnish.testing.clocks import FakeClock


async def hold(limiter, clock, seconds=1.0, tokens=0):
    async with limiter.slot(tokens):
        await clock.sleep(seconds)


async def refuse(limiter, pause=0.0):
    async with limiter.slot() as permit:
        permit.throttled(pause)


async def succeed(limiter, tokens=0):
    async with limiter.slot() as permit:
        permit.succeeded(tokens)


async def test_no_more_are_under_way_than_the_maximum(clock):
    limiter = AdaptiveLimiter(clock=clock, max_concurrency=3)
    seen = []

    async def work():
        async with limiter.slot():
            seen.append(limiter.in_flight)
            await clock.sleep(1)

    await asyncio.gather(*(work() for _ in range(9)))

    assert max(seen) == 3
    assert clock.monotonic() == 3
    assert limiter.in_flight == 0


async def test_waiters_go_in_the_order_they_came(clock):
    limiter = AdaptiveLimiter(clock=clock, max_concurrency=1)
    served = []

    async def work(number):
        async with limiter.slot():
            served.append(number)
            await clock.sleep(1)

    await asyncio.gather(*(work(number) for number in range(20)))

    assert served == list(range(20))


async def test_who_comes_back_at_once_does_not_overtake_a_waiter(clock):
    limiter = AdaptiveLimiter(clock=clock, max_concurrency=1)
    served = []

    async def work(name):
        for _ in range(3):
            async with limiter.slot():
                served.append(name)
                await clock.sleep(1)

    await asyncio.gather(work("a"), work("b"))

    assert served == ["a", "b"] * 3


async def test_a_refusal_halves_the_limit(clock):
    limiter = AdaptiveLimiter(clock=clock, max_concurrency=16)

    await refuse(limiter)

    assert limiter.limit == 8


async def test_requests_sent_before_a_halving_do_not_halve_again(clock):
    limiter = AdaptiveLimiter(clock=clock, max_concurrency=16)

    async def work():
        async with limiter.slot() as permit:
            await clock.sleep(1)
            permit.throttled(0)

    await asyncio.gather(*(work() for _ in range(16)))

    assert limiter.limit == 8


async def test_the_limit_never_falls_below_one(clock):
    limiter = AdaptiveLimiter(clock=clock, max_concurrency=4)

    for _ in range(10):
        await refuse(limiter)

    assert limiter.limit == 1
    await succeed(limiter)


async def test_the_limit_recovers_slowly_and_stops_at_the_maximum(clock):
    limiter = AdaptiveLimiter(clock=clock, max_concurrency=8)
    await refuse(limiter)
    assert limiter.limit == 4

    limits = []
    for _ in range(300):
        await succeed(limiter)
        limits.append(limiter.limit)

    assert limits[14] == 4
    assert limits[20] == 5
    assert limits[-1] == 8
    assert max(limits) == 8


async def test_successes_sent_before_a_halving_do_not_count_as_recovery(clock):
    limiter = AdaptiveLimiter(clock=clock, max_concurrency=4)

    async def slow_success():
        async with limiter.slot() as permit:
            await clock.sleep(1)
            permit.succeeded(0)

    async def quick_refusal():
        async with limiter.slot() as permit:
            permit.throttled(0)

    await asyncio.gather(slow_success(), slow_success(), slow_success(), quick_refusal())

    assert limiter.limit == 2


async def test_after_a_refusal_nothing_new_goes_out_for_the_pause(clock):
    limiter = AdaptiveLimiter(clock=clock, max_concurrency=4)

    await refuse(limiter, pause=5.0)
    await succeed(limiter)

    assert clock.monotonic() == 5


async def test_requests_are_spaced_to_the_minutes_cap(clock):
    limiter = AdaptiveLimiter(clock=clock, max_concurrency=100, requests_per_minute=30)
    started = []

    async def work():
        async with limiter.slot():
            started.append(clock.monotonic())

    await asyncio.gather(*(work() for _ in range(61)))

    assert started[:3] == [0, 2, 4]
    assert all(sum(t <= s < t + 60 for s in started) <= 30 for t in started)


async def test_tokens_are_spaced_to_the_minutes_cap(clock):
    limiter = AdaptiveLimiter(clock=clock, tokens_per_minute=600)

    for _ in range(3):
        await hold(limiter, clock, seconds=0, tokens=100)

    assert clock.monotonic() == 20


async def test_real_tokens_replace_the_estimate(clock):
    limiter = AdaptiveLimiter(clock=clock, tokens_per_minute=600)

    async with limiter.slot(tokens=500) as permit:
        permit.succeeded(100)
    await hold(limiter, clock, seconds=0)

    assert clock.monotonic() == 10


async def test_a_request_larger_than_the_minute_still_goes(clock):
    limiter = AdaptiveLimiter(clock=clock, tokens_per_minute=10)

    await hold(limiter, clock, seconds=0, tokens=1000)

    assert clock.monotonic() == 0


@pytest.mark.parametrize("waits_for", ["slot", "pause", "queue"])
async def test_a_cancelled_waiter_leaks_nothing(clock, waits_for):
    limiter = AdaptiveLimiter(clock=clock, max_concurrency=1)
    holder = asyncio.create_task(hold(limiter, clock, seconds=10))
    await asyncio.sleep(0)
    if waits_for == "pause":
        limiter.back_off(1, pause_seconds=100)
    if waits_for == "queue":
        ahead = asyncio.create_task(hold(limiter, clock, seconds=10))
        await asyncio.sleep(0)
    waiter = asyncio.create_task(hold(limiter, clock))
    await asyncio.sleep(0)

    waiter.cancel()
    await asyncio.gather(waiter, return_exceptions=True)
    await holder
    if waits_for == "queue":
        await ahead
    await asyncio.wait_for(hold(limiter, clock), timeout=60)

    assert waiter.cancelled()
    assert limiter.in_flight == 0


async def test_a_cancelled_holder_frees_its_slot(clock):
    limiter = AdaptiveLimiter(clock=clock, max_concurrency=1)
    holder = asyncio.create_task(hold(limiter, clock, seconds=1000))
    await asyncio.sleep(0)

    holder.cancel()
    await hold(limiter, clock, seconds=1)

    assert clock.monotonic() == 1
    assert limiter.in_flight == 0


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), maximum=st.integers(1, 8))
def test_whatever_happens_the_limit_holds_and_no_slot_is_lost(seed, maximum):
    async def scenario():
        clock, rng = FakeClock(), random.Random(seed)
        limiter = AdaptiveLimiter(clock=clock, max_concurrency=maximum, requests_per_minute=6000)
        peak = 0

        async def work():
            nonlocal peak
            await clock.sleep(rng.random() * 3)
            async with limiter.slot() as permit:
                peak = max(peak, limiter.in_flight)
                assert 1 <= limiter.limit <= maximum
                await clock.sleep(rng.random())
                rng.choice((lambda: permit.throttled(rng.random()), lambda: permit.succeeded(1)))()

        tasks = [asyncio.create_task(work()) for _ in range(30)]
        for task in rng.sample(tasks, 10):
            await clock.sleep(rng.random() * 0.3)
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await work()
        return limiter.in_flight, peak, [task for task in tasks if not task.done()]

    in_flight, peak, unfinished = asyncio.run(scenario())

    assert in_flight == 0
    assert 1 <= peak <= maximum
    assert unfinished == []


class RateLimited:
    """An endpoint that answers five requests a second and refuses the rest."""

    def __init__(self, clock, *, says_when):
        self.clock = clock
        self.retry_after = 1.0 if says_when else None
        self.answered = []
        self.refused = 0

    async def ask(self):
        await self.clock.sleep(0.2)
        now = self.clock.monotonic()
        if sum(moment > now - 1 for moment in self.answered) >= 5:
            self.refused += 1
            raise TransientError("busy", status=429, retry_after=self.retry_after)
        self.answered.append(now)


@pytest.mark.parametrize("says_when", [True, False])
async def test_an_endpoint_with_a_rate_limit_slows_a_run_down_but_fails_nothing(clock, says_when):
    endpoint = RateLimited(clock, says_when=says_when)
    limiter = AdaptiveLimiter(clock=clock, max_concurrency=16)
    policy, budget, draws = RetryPolicy(), RetryBudget(clock=clock), random.Random(1)

    async def attempt(number):
        async with limiter.slot() as permit:
            try:
                await endpoint.ask()
            except TransientError as error:
                permit.throttled(error.retry_after or policy.backoff_seconds(number))
                raise
            permit.succeeded(0)

    async def worker(calls):
        for _ in range(calls):
            await call_with_retries(
                attempt, what="x", policy=policy, budget=budget, clock=clock, draw=draws.random
            )

    await asyncio.gather(*(worker(15) for _ in range(16)))

    assert len(endpoint.answered) == 16 * 15
    assert 0 < endpoint.refused < 100
    assert clock.monotonic() < 2 * 16 * 15 / 5


async def test_models_at_one_endpoint_share_limits_and_the_tightest_win(clock):
    wide = ModelSettings(max_concurrency=32)
    tight = ModelSettings(max_concurrency=2, requests_per_minute=60)

    first = shared_limits("http://a/v1", "KEY", wide, clock)
    second = shared_limits("http://a/v1", "KEY", tight, clock)
    other_key = shared_limits("http://a/v1", "OTHER", wide, clock)

    assert second is first
    assert first.limiter.limit == 2
    assert other_key is not first
    assert other_key.limiter.limit == 32


def test_limits_are_not_shared_between_event_loops(clock):
    async def limits():
        return shared_limits("http://a/v1", "KEY", ModelSettings(), clock)

    assert asyncio.run(limits()) is not asyncio.run(limits())
