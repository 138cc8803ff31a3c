"""The one retry loop: what is tried again, how long it waits, and when it ends."""

import pytest

from burnish.domain import UnavailableError
from burnish.support.retry import RetryPolicy, retry
from burnish.testing.clocks import FakeClock


class Passing(Exception):
    """May be gone another time; `wait` is the server's wish."""

    def __init__(self, wait=None):
        super().__init__("busy")
        self.wait = wait


def failing(*errors):
    """An attempt that raises these in turn, then gives the number of the attempt."""
    left = list(errors)

    async def attempt(number):
        if left:
            raise left.pop(0)
        return number

    return attempt


async def tried(attempt, clock, policy, **options):
    options = {"draw": lambda: 1.0, **options}
    return await retry(
        attempt,
        policy=policy,
        passing=lambda error: isinstance(error, Passing),
        clock=clock,
        **options,
    )


ENDLESS = RetryPolicy(
    max_attempts=None, first_wait_seconds=1.0, longest_wait_seconds=8.0, deadline_seconds=None
)


async def test_waits_double_up_to_the_longest_and_the_last_attempt_counts():
    clock = FakeClock()

    assert await tried(failing(*[Passing()] * 6), clock, ENDLESS) == 7
    assert clock.sleeps == [1, 2, 4, 8, 8, 8]


async def test_a_draw_takes_off_up_to_half_of_a_wait():
    clock = FakeClock()

    await tried(failing(Passing(), Passing()), clock, ENDLESS, draw=lambda: 0.0)

    assert clock.sleeps == [0.5, 1.0]


async def test_what_does_not_pass_is_raised_at_once():
    clock = FakeClock()

    with pytest.raises(KeyError):
        await tried(failing(KeyError("k")), clock, ENDLESS)
    assert clock.sleeps == []


async def test_the_last_error_is_raised_when_attempts_run_out():
    clock = FakeClock()
    last = Passing()

    with pytest.raises(Passing) as caught:
        await tried(failing(Passing(), last), clock, RetryPolicy(max_attempts=2))
    assert caught.value is last
    assert len(clock.sleeps) == 1


async def test_the_deadline_leaves_out_a_wait_that_would_pass_it():
    clock = FakeClock()
    policy = RetryPolicy(max_attempts=None, first_wait_seconds=1.0, deadline_seconds=4.0)

    with pytest.raises(Passing):
        await tried(failing(*[Passing()] * 9), clock, policy)
    assert clock.sleeps == [1, 2]


async def test_the_servers_wish_wins_up_to_its_cap():
    clock = FakeClock()
    policy = RetryPolicy(longest_retry_after_seconds=10.0)

    await tried(
        failing(Passing(3.0), Passing(99.0)),
        clock,
        policy,
        draw=lambda: 0.0,
        retry_after=lambda error: error.wait,
    )

    assert clock.sleeps == [3.0, 10.0]


async def test_a_refusal_ends_it_with_its_reason():
    def give_up(error, why):
        return UnavailableError(what="it failed", why=f"{error}; {why}", fix="wait", code="x")

    with pytest.raises(UnavailableError, match="busy; no budget") as caught:
        await tried(
            failing(Passing()), FakeClock(), ENDLESS, refusal=lambda: "no budget", give_up=give_up
        )
    assert caught.value.__context__ is None
