"""The executor of evaluations outlives a bug in looking at its queue."""

import asyncio
import types

from burnish.app.evaluate.executor import EvaluationExecutor, EvaluationSettings


async def test_a_bug_does_not_end_it():
    looks, again = [], asyncio.Event()

    async def take(**_):
        looks.append(1)
        if len(looks) == 1:
            raise RuntimeError("a bug")
        again.set()

    workspace = types.SimpleNamespace(evaluations=types.SimpleNamespace(take=take))
    settings = EvaluationSettings(max_runs=1, look_seconds=0.01)
    async with EvaluationExecutor(workspace, None, settings), asyncio.timeout(5):
        await again.wait()
