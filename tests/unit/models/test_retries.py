import random
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.domain import UnavailableError, UsageError
from burnish.models.failures import TransientError
from burnish.models.retry import RetryBudget, call_with_retries, retry_after_seconds
from burnish.support.retry import RetryPolicy
from burnish.testing.clocks import FakeClock

NOW = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)


class Flaky:
    """Fails as told, then answers."""

    def __init__(self, *failures, clock=None, seconds=0):
        self.failures = list(failures)
        self.numbers = []
        self.clock = clock
        self.seconds = seconds

    async def __call__(self, number):
        self.numbers.append(number)
        if self.clock:
            await self.clock.sleep(self.seconds)
        if self.failures:
            raise self.failures.pop(0)
        return "answer"


def retrying(attempt, clock, *, policy=None, budget=None, draw=lambda: 0.0):
    return call_with_retries(
        attempt,
        what="the model cannot be reached",
        policy=policy or RetryPolicy(),
        budget=budget or RetryBudget(clock=clock),
        clock=clock,
        draw=draw,
    )


async def test_a_transient_failure_is_tried_again_with_growing_waits(clock):
    attempt = Flaky(*(TransientError("down") for _ in range(4)))

    answer = await retrying(attempt, clock, draw=lambda: 1.0)

    assert answer == "answer"
    assert attempt.numbers == [1, 2, 3, 4, 5]
    assert clock.sleeps == [0.5, 1.0, 2.0, 4.0]


async def test_jitter_shortens_a_wait_by_up_to_a_half(clock):
    attempt = Flaky(TransientError("down"), TransientError("down"))

    await retrying(attempt, clock, draw=lambda: 0.0)

    assert clock.sleeps == [0.25, 0.5]


async def test_the_last_failure_is_told_when_attempts_run_out(clock):
    attempt = Flaky(TransientError("first"), TransientError("second", fix="mend it"))

    with pytest.raises(UnavailableError) as caught:
        await retrying(attempt, clock, policy=RetryPolicy(max_attempts=2))

    assert caught.value.why == "second; gave up after 2 attempts"
    assert caught.value.fix == "mend it"
    assert caught.value.exit_code == 4
    assert caught.value.__context__ is None


async def test_other_errors_are_never_tried_again(clock):
    refused = UsageError(what="no", why="bad", fix="mend")
    attempt = Flaky(refused)

    with pytest.raises(UsageError):
        await retrying(attempt, clock)

    assert attempt.numbers == [1]
    assert clock.sleeps == []


async def test_the_servers_own_wait_wins_over_the_backoff(clock):
    attempt = Flaky(TransientError("busy", retry_after=7.0))

    await retrying(attempt, clock)

    assert clock.sleeps == [7.0]


async def test_a_servers_huge_wait_is_capped(clock):
    attempt = Flaky(TransientError("busy", retry_after=86_400.0))

    await retrying(attempt, clock)

    assert clock.sleeps == [60.0]


async def test_a_wait_beyond_the_deadline_ends_the_call_at_once(clock):
    attempt = Flaky(*(TransientError("busy", retry_after=30.0) for _ in range(5)))

    with pytest.raises(UnavailableError, match="deadline of 50 s"):
        await retrying(attempt, clock, policy=RetryPolicy(deadline_seconds=50))

    assert clock.monotonic() == 30
    assert attempt.numbers == [1, 2]


async def test_the_attempts_own_time_counts_towards_the_deadline(clock):
    attempt = Flaky(*(TransientError("slow") for _ in range(5)), clock=clock, seconds=20)

    with pytest.raises(UnavailableError, match="deadline of 30 s"):
        await retrying(attempt, clock, policy=RetryPolicy(deadline_seconds=30))

    assert attempt.numbers == [1, 2]


async def test_a_spent_budget_ends_the_call_after_one_attempt(clock):
    attempt = Flaky(TransientError("down"), TransientError("down"))
    budget = RetryBudget(clock=clock, capacity=1.0)
    budget.spend()

    with pytest.raises(UnavailableError, match="too many other calls fail"):
        await retrying(attempt, clock, budget=budget)

    assert attempt.numbers == [1]


async def test_a_storm_is_held_to_the_budget(clock):
    budget = RetryBudget(clock=clock, ratio=0.2, floor_per_second=0.0, capacity=10.0)
    attempts = 0

    async def attempt(_number):
        nonlocal attempts
        attempts += 1
        raise TransientError("down")

    for _ in range(1000):
        with pytest.raises(UnavailableError):
            await retrying(attempt, clock, budget=budget)

    assert 1190 <= attempts <= 1000 + 0.2 * 1000 + 10


def test_the_budget_refills_slowly_with_time(clock):
    budget = RetryBudget(clock=clock, floor_per_second=1.0, capacity=2.0)
    assert [budget.spend() for _ in range(3)] == [True, True, False]

    clock.advance(1.5)

    assert [budget.spend() for _ in range(2)] == [True, False]


def test_the_budget_saves_no_more_than_its_capacity(clock):
    budget = RetryBudget(clock=clock, ratio=1.0, capacity=3.0)
    for _ in range(100):
        budget.earn()

    clock.advance(1000)

    assert [budget.spend() for _ in range(4)] == [True, True, True, False]


@given(
    failures=st.integers(1, 2000),
    draw=st.floats(0, 1),
    retry_after=st.none() | st.floats(0, 1e9),
)
def test_a_wait_is_bounded_and_never_shorter_than_what_was_asked(failures, draw, retry_after):
    policy = RetryPolicy()

    wait = policy.wait_seconds(failures, retry_after, draw)

    assert 0 <= wait <= 67
    if retry_after is not None:
        assert wait >= min(retry_after, policy.longest_retry_after_seconds)


@given(seed=st.integers(), capacity=st.floats(0, 100), ratio=st.floats(0, 1))
def test_retries_never_exceed_what_was_earned(seed, capacity, ratio):
    clock = FakeClock()
    budget = RetryBudget(clock=clock, ratio=ratio, floor_per_second=0.5, capacity=capacity)
    rng = random.Random(seed)
    earned, spent = capacity, 0

    for _ in range(200):
        step = rng.random()
        clock.advance(step)
        earned += step * 0.5
        if rng.random() < 0.5:
            budget.earn()
            earned += ratio
        else:
            spent += budget.spend()

    assert spent <= earned + 1e-6


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Thu, 01 Jan 2026 12:00:45 GMT"}, 45.0),
        ({"retry-after": "Thu, 01 Jan 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "Thu, 01 Jan 2026 12:00:45"}, 45.0),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after-ms": "soon", "retry-after": "2"}, 2.0),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_all_its_forms(headers, seconds):
    assert retry_after_seconds(headers, NOW) == seconds


@given(st.text())
def test_any_retry_after_text_gives_a_wait_or_nothing(text):
    seconds = retry_after_seconds({"retry-after": text, "retry-after-ms": text}, NOW)

    assert seconds is None or 0 <= seconds < float("inf")
