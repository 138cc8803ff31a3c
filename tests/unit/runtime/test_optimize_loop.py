"""The optimize loop gives back what it cannot finish, and answers what cannot succeed."""

import asyncio
from uuid import uuid4

import pytest

from burnish.domain import InvariantError, UnavailableError, UsageError
from burnish.overrides import descriptor_of
from burnish.runtime import (
    InMemoryMailbox,
    OptimizationReport,
    OptimizeLoop,
    OptimizeRequest,
    OptimizeResult,
    ask,
)
from burnish.runtime.loops import RetryRules

DESCRIPTOR = descriptor_of("router", {"sections": {"system": "Route.", "user": "{{text}}"}})


class Work:
    """An optimizer for requests, made of a function."""

    def __init__(self, function):
        self._function = function
        self.calls = []

    async def optimize(self, request):
        self.calls.append(request.request_id)
        return await self._function(request)


def result_of(request):
    report = OptimizationReport(
        experiment_id=str(request.request_id),
        prompt_ns="agents",
        prompt_key="router",
        baseline_pass_rate=1.0,
    )
    return OptimizeResult(request_id=request.request_id, report=report)


def loop_on(box, function):
    work = Work(function)
    rules = RetryRules(step_seconds=0.01)
    return OptimizeLoop(optimizer=work, requests=box, rules=rules), work


async def served(box, function, request):
    loop, work = loop_on(box, function)
    running = asyncio.create_task(loop.run(wait_time_seconds=1))
    answer = await ask(box, request, timeout=60)
    await loop.shutdown(timeout=5)
    await running
    return answer, work


@pytest.fixture
def box():
    return InMemoryMailbox("optimize-requests")


async def test_a_report_comes_back(box):
    async def work(request):
        return result_of(request)

    request = OptimizeRequest(descriptor=DESCRIPTOR, request_id=uuid4())
    answer, _ = await served(box, work, request)

    assert answer.request_id == request.request_id
    assert not answer.report.has_modifications
    assert answer.error is None


@pytest.mark.parametrize("kind", [UsageError, InvariantError])
async def test_what_cannot_succeed_is_answered_once(box, kind):
    async def work(request):
        raise kind(what="it", why="cannot be", fix="do not")

    answer, done = await served(box, work, OptimizeRequest(descriptor=DESCRIPTOR))

    assert "cannot be" in answer.error
    assert (answer.report.experiment_id, answer.report.prompt_key) == ("failed", "router")
    assert len(done.calls) == 1


async def test_an_outage_is_tried_again_under_the_same_id(box):
    seen = []

    async def work(request):
        seen.append(request.request_id)
        if len(seen) < 3:
            raise UnavailableError(what="the database", why="is away", fix="wait")
        return result_of(request)

    answer, _ = await served(box, work, OptimizeRequest(descriptor=DESCRIPTOR))

    assert answer.error is None
    assert len(seen) == 3
    assert len(set(seen)) == 1


async def test_a_stop_gives_the_request_back_at_once_for_another_worker(box):
    left = asyncio.Event()

    async def endless(request):
        try:
            await asyncio.sleep(7200)
        finally:
            left.set()

    loop, work = loop_on(box, endless)
    running = asyncio.create_task(loop.run(wait_time_seconds=1))
    asking = asyncio.create_task(ask(box, OptimizeRequest(descriptor=DESCRIPTOR), timeout=60))
    while not work.calls:
        await asyncio.sleep(0.01)
    async with asyncio.timeout(60):  # And not the hour of grace.
        assert not await loop.shutdown(timeout=3600)
        await running

    async def quick(request):
        return result_of(request)

    other, _ = loop_on(box, quick)
    taking = asyncio.create_task(other.run(wait_time_seconds=1))
    answer = await asking
    await other.shutdown(timeout=5)
    await taking
    assert left.is_set()
    assert answer.error is None
