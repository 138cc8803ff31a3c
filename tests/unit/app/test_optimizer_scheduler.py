"""What is wrong with one optimizer or run keeps no other from its turn."""

import types
from datetime import UTC, datetime

from burnish.app.agents.optimizers import scheduler as optimizer_keeper
from burnish.app.agents.optimizers.scheduler import OptimizerScheduler
from burnish.testing.clocks import FakeClock


def optimizer(name):
    return types.SimpleNamespace(
        id=name,
        name=name,
        version=1,
        created_at="2026-01-01T00:00:00.000000Z",
        document={"schedule": "0 * * * *", "schedule_timezone": "UTC"},
    )


async def test_a_bug_in_one_start_does_not_keep_the_others(monkeypatch):
    async def page(*_, **__):
        return types.SimpleNamespace(items=[optimizer("bad"), optimizer("good")], next=None)

    async def nothing(_):
        return {}

    async def start_run(_workspace, _project, one, *, due_at):
        if one.name == "bad":
            raise KeyError("no such setting")
        return f"run of {one.name} at {due_at[:13]}"

    monkeypatch.setattr(optimizer_keeper, "start_run", start_run)
    workspace = types.SimpleNamespace(
        objects=types.SimpleNamespace(page=page),
        optimizer_runs=types.SimpleNamespace(last_due=nothing, running=nothing),
    )
    clock = FakeClock(datetime(2026, 1, 2, 3, 30, tzinfo=UTC))

    started = await OptimizerScheduler(workspace, None, clock=clock).start_due()

    assert started == ["run of good at 2026-01-02T03"]


async def test_a_bug_in_one_end_does_not_keep_the_others(monkeypatch):
    settled = []

    async def unsettled():
        return [types.SimpleNamespace(id="bad"), types.SimpleNamespace(id="good")]

    async def settle_run(_workspace, run):
        if run.id == "bad":
            raise TypeError("an odd result")
        settled.append(run.id)

    monkeypatch.setattr(optimizer_keeper, "settle_run", settle_run)
    workspace = types.SimpleNamespace(optimizer_runs=types.SimpleNamespace(unsettled=unsettled))

    await OptimizerScheduler(workspace, None).settle()

    assert settled == ["good"]
