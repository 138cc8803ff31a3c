"""Deadlines of an optimizer's methods, and its own model's calls."""

from __future__ import annotations

import asyncio

import pytest

from burnish.domain import StopDecision
from burnish.optimization.optimizer_calls import OptimizerCalls, OptimizerFailed

GOING_ON = StopDecision(should_stop=False)


class Waiting:
    name = "waiting"

    def __init__(self) -> None:
        self.answered = asyncio.Event()

    async def should_stop(self, state, history):
        await self.answered.wait()
        return GOING_ON


async def test_while_its_model_is_asked_a_method_is_not_overdue() -> None:
    optimizer, looks = Waiting(), []

    def is_asking() -> bool:
        looks.append(1)
        if len(looks) == 3:
            optimizer.answered.set()
        return True

    calls = OptimizerCalls(optimizer, timeout_seconds=0.001, is_asking=is_asking)

    assert await calls.should_stop(None, None) == GOING_ON
    assert len(looks) >= 3


async def test_a_method_that_waits_for_nothing_is_overdue() -> None:
    calls = OptimizerCalls(Waiting(), timeout_seconds=0.001)

    with pytest.raises(OptimizerFailed, match=r"no answer within 0\.001 s"):
        await calls.should_stop(None, None)
