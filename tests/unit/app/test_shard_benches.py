"""A worker's agents: kept for the next shard, closed when there are too many, never while in use."""

import asyncio
import types
from pathlib import Path

import pytest

from burnish.app.worker import shard_worker
from burnish.app.worker.shard_worker import _Kept, _StoredBenches
from burnish.domain import UsageError


class Part:
    """An agent or a pool that takes a moment to close."""

    def __init__(self):
        self.closed = 0

    async def close(self):
        await asyncio.sleep(0)
        self.closed += 1


class Benches(_StoredBenches):
    """Benches of agents that do nothing."""

    def __init__(self):
        super().__init__(workspace=None, items=None, folder=Path())
        self.agents = {}

    async def _build(self, request):
        self.agents[request.optimization_id] = agent = Part()
        return _Kept(types.SimpleNamespace(agent=agent), Part())


def of(number):
    return types.SimpleNamespace(optimization_id=str(number))


async def idle(benches, count):
    for number in range(count):
        async with benches.use(of(number)):
            pass


async def test_some_that_end_at_once_close_each_of_the_oldest_once():
    benches, leave = Benches(), asyncio.Event()
    await idle(benches, 8)

    async def use(number):
        async with benches.use(of(number)):
            await leave.wait()

    users = [asyncio.create_task(use(number)) for number in range(8, 12)]
    async with asyncio.timeout(600):
        while len(benches.agents) < 12:
            await asyncio.sleep(0)
        leave.set()
        await asyncio.gather(*users)

    assert [agent.closed for agent in benches.agents.values()] == [1] * 4 + [0] * 8
    await benches.close()
    assert {agent.closed for agent in benches.agents.values()} == {1}


async def test_what_is_taken_while_another_is_closed_stays_open():
    benches = Benches()
    await idle(benches, 2)

    forgetting = asyncio.create_task(benches.close())
    await asyncio.sleep(0)  # The first is being closed by now.
    async with benches.use(of(1)):
        await forgetting

        assert [agent.closed for agent in benches.agents.values()] == [1, 0]


async def test_a_run_without_its_rows_opens_nothing(tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr(shard_worker, "ModelPool", lambda *_: opened.append(1))
    monkeypatch.setattr(
        shard_worker,
        "stored_settings",
        lambda *_: types.SimpleNamespace(placed_in=lambda _: types.SimpleNamespace(models={})),
    )

    async def record(_):
        return types.SimpleNamespace(spec={"settings": {}})

    workspace = types.SimpleNamespace(
        optimizations=types.SimpleNamespace(get_optimization=record), call_cache=None
    )
    benches = _StoredBenches(workspace, shard_worker._Datasets(None), tmp_path)
    request = types.SimpleNamespace(optimization_id="o", dataset_id=None)

    with pytest.raises(UsageError, match="not in the database"):
        async with benches.use(request):
            pass

    assert not opened
