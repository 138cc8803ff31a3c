"""Runs whose requests go in batches: fake vendors that outlive who asks, and a clock that skips."""

import asyncio
from datetime import timedelta

import burnish
from burnish.app.evaluate.evaluations import Evaluation
from burnish.app.report.runs.waiting import read_waiting
from burnish.app.wiring import Workspace
from burnish.domain import ModelResponse, SystemClock
from burnish.testing.vendors.batches import (
    AnthropicBatchServer,
    BatchFaults,
    GeminiBatchServer,
    OpenAIBatchServer,
)
from burnish.testing.vendors.server import in_thread

VENDORS = {
    "openai": OpenAIBatchServer,
    "anthropic": AnthropicBatchServer,
    "gemini": GeminiBatchServer,
}
TOKENS = burnish.Usage(calls=1, input_tokens=2, output_tokens=2)


def shout(request):
    """What the fake vendors answer: the words of the last message in capitals."""
    said = (request.body.get("messages") or request.body["contents"])[-1]
    content = said.get("content") or said["parts"]
    text = content if isinstance(content, str) else content[-1]["text"]
    return ModelResponse(text=text.upper(), usage=TOKENS)


def serving(vendor="openai", **faults):
    return in_thread(VENDORS[vendor](shout, faults=BatchFaults(**{"looks": 2, **faults})))


def agent(vendor):
    sections = {"user": "say {{word}}"}
    model = f"{vendor}/small"
    return burnish.Agent(name="shout", model=model, configuration={"sections": sections})


class SkippingClock(SystemClock):
    """Real time, in which a sleep is skipped over instead of slept."""

    skipped = 0.0

    def monotonic(self):
        return super().monotonic() + self.skipped

    def now(self):
        return super().now() + timedelta(seconds=self.skipped)

    async def sleep(self, seconds):
        # A few turns of the loop and some real time: what comes together goes together.
        await asyncio.sleep(min(seconds, 0.05))
        self.skipped += seconds


class World:
    """A server that outlives those who ask it, and a database that they share."""

    def __init__(self, folder, server, vendor="openai", *, items=30, split=None):
        self.db, self.server, self.vendor = str(folder / "batches.db"), server, vendor
        rows = [
            {"id": f"i{number}", "word": f"w{number}", "answer": f"SAY W{number - number % 2}"}
            for number in range(items)
        ]
        scorers = [{"kind": "exact_match", "field": "answer"}]
        self.suite = burnish.Suite(dataset=rows, scorers=scorers, name="words", split=split)

    def open(self, *, batch=True):
        prices = {"input_price": 1.0, "output_price": 2.0}
        models = {"batch": batch, self.vendor: {"base_url": self.server.base_url, **prices}}
        return Workspace.open(self.db, models=models)

    async def evaluate(self, experiment_id=None, *, batch=True):
        async with self.open(batch=batch) as workspace:
            evaluation = Evaluation(workspace, agent(self.vendor), self.suite)
            if experiment_id is None:
                return await evaluation.create()
            return await evaluation.resume(experiment_id)

    async def waiting(self, run_id):
        async with self.open() as workspace:
            return await read_waiting(workspace, run_id)
