"""A message that is another loop's fails alone: the loop goes on with those that are its own."""

import asyncio

import pytest

from burnish.domain import Configuration, Item
from burnish.evaluation.agents import PythonAgent
from burnish.overrides import descriptor_of
from burnish.runtime import (
    EvalLoop,
    EvalRequest,
    InMemoryMailbox,
    MailboxLoop,
    MainLoop,
    MainLoopRequest,
    OptimizationReport,
    OptimizeLoop,
    OptimizeRequest,
    OptimizeResult,
)
from burnish.runtime.loops import RetryRules
from burnish.testing.clocks import FakeClock

OWN = Configuration.of({"sections": {"system": "Say hello.", "user": "{{name}}"}})
REQUESTS = {
    "main": MainLoopRequest(request={"name": "Ann"}),
    "eval": EvalRequest(sample=Item(id="1", data={"name": "Ann"})),
    "optimize": OptimizeRequest(descriptor=descriptor_of("greeter", OWN)),
}


class Optimizer:
    async def optimize(self, request):
        report = OptimizationReport(
            experiment_id="o",
            prompt_ns=request.descriptor.namespace,
            prompt_key=request.descriptor.key,
            baseline_pass_rate=1.0,
        )
        return OptimizeResult(request_id=request.request_id, report=report)


def loop_of(name, box, clock):
    agent = PythonAgent(name="greeter", configuration=OWN, run=lambda *_: "hello", version="1")
    shared = {"requests": box, "rules": RetryRules(step_seconds=3600), "clock": clock}
    if name == "main":
        return MainLoop(agent=agent, **shared)
    if name == "eval":
        return EvalLoop(loop=MainLoop(agent=agent), scorers=[lambda *_: 1.0], **shared)
    return OptimizeLoop(optimizer=Optimizer(), **shared)


@pytest.mark.parametrize("name", REQUESTS)
async def test_only_what_is_foreign_fails(name):
    clock = FakeClock()
    box = InMemoryMailbox("work", clock=clock)
    for foreign in (one for kind, one in REQUESTS.items() if kind != name):
        await box.send(foreign)
    await box.send(REQUESTS[name])
    loop = loop_of(name, box, clock)

    running = asyncio.create_task(loop.run(wait_time_seconds=1))
    async with asyncio.timeout(600):
        while not running.done() and await box.approximate_count():
            await asyncio.sleep(0)
        await loop.shutdown()
        await running

    assert loop.status()["done"] == 1
    assert await box.dead_letters.approximate_count() == 2


def test_a_loop_that_says_not_how_it_serves_cannot_be_made():
    class Silent(MailboxLoop):
        pass

    with pytest.raises(TypeError, match="handle"):
        Silent(name="silent", requests=None)
