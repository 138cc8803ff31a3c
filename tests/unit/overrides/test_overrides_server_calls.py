"""Waiting for a server, without waiting."""

import asyncio
import sys

import pytest

from burnish.domain import UnavailableError, UsageError
from burnish.overrides import Patience, RedisPromptOverridesStore, S3PromptOverridesStore
from burnish.overrides.server_calls import Calls, Found, PassingError
from burnish.testing.clocks import FakeClock

PATIENCE = Patience(deadline_seconds=30.0, first_wait_seconds=0.1, longest_wait_seconds=2.0)


def calls(clock, patience=PATIENCE):
    return Calls(patience, clock, "the place")


async def test_a_passing_failure_is_tried_again_after_growing_waits():
    clock = FakeClock()
    failures = [PassingError("busy")] * 6

    async def attempt():
        if failures:
            raise failures.pop()
        return "done"

    assert await calls(clock).answer(attempt) == "done"
    assert len(clock.sleeps) == 6
    for number, rest in enumerate(clock.sleeps):
        longest = min(0.1 * 2**number, 2.0)
        assert longest / 2 <= rest <= longest


async def test_the_deadline_bounds_all_attempts_together():
    clock = FakeClock()

    async def attempt():
        raise PassingError("busy")

    with pytest.raises(
        UnavailableError, match=r"the place.*busy; gave up after \d\d attempts in 30"
    ):
        await calls(clock).answer(attempt)
    assert 28 < clock.monotonic() <= 30

    several = calls(FakeClock())
    for _ in range(3):
        with pytest.raises(UnavailableError):
            await several.answer(attempt)


async def test_an_attempt_without_an_answer_is_cut():
    clock = FakeClock()
    patience = Patience(attempt_seconds=0.01, deadline_seconds=1.0)

    with pytest.raises(UnavailableError, match="did not answer in time"):
        await calls(clock, patience).answer(asyncio.Event().wait)


async def test_other_failures_are_raised_at_once():
    async def attempt():
        raise UsageError(what="a", why="b", fix="c")

    clock = FakeClock()
    with pytest.raises(UsageError):
        await calls(clock).answer(attempt)
    assert clock.sleeps == []


async def test_a_writer_that_never_gets_through_gives_up_by_the_deadline():
    clock = FakeClock()
    edits = 0

    def edit(data):
        nonlocal edits
        edits += 1
        return data + b"!"

    async def read():
        return Found(b"x", 1)

    async def replace(found, made):
        assert (found.version, made) == (1, b"x!")
        return False

    with pytest.raises(UnavailableError, match="others kept writing"):
        await calls(clock).swap(edit, read, replace)
    assert edits > 10
    assert 30 <= clock.monotonic() < 31


async def test_nothing_is_written_when_nothing_changed():
    async def read():
        return Found(b"x", 1)

    await calls(FakeClock()).swap(lambda data: data, read, None)


@pytest.mark.parametrize(
    ("module", "make", "extra"),
    [
        ("redis.asyncio", lambda: RedisPromptOverridesStore.from_url("redis://x"), "redis"),
        ("obstore.store", lambda: S3PromptOverridesStore.from_url("s3://x"), "objectstore"),
    ],
)
def test_a_missing_package_is_named_with_its_extra(monkeypatch, module, make, extra):
    monkeypatch.setitem(sys.modules, module, None)

    with pytest.raises(UsageError, match=rf"burnish\[{extra}\]") as caught:
        make()

    assert caught.value.code == "missing_dependency"
