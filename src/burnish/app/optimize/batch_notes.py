"""Batch notes of a run: what asking in batches means for how it is searched."""

from __future__ import annotations

import math

from burnish.config.search import SearchSpec
from burnish.domain import Agent
from burnish.domain.wording import counted
from burnish.evaluation.batch_waves import asks_in_batches
from burnish.evaluation.suite import Suite
from burnish.optimization.racing import Racing, RacingMode


def batch_notes(agent: Agent, suite: Suite, search: SearchSpec, items: int) -> tuple[str, ...]:
    """A race looks at trials of so many items block by block, and each look waits for a batch."""
    racing, size = search.racing_in_effect, Racing().block_size
    if racing is RacingMode.OFF or items <= size or not asks_in_batches(agent, suite):
        return ()
    waves = math.ceil(items / size)
    return (
        f"racing looks after every {size} of {counted(items, 'item')}, and each look waits for a "
        f'batch: up to {waves} batches one after the other for a step; racing = "off" makes that one',
    )
