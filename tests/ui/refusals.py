"""Refused proposals for a run that had none: the built-in optimizers seldom make one."""

from __future__ import annotations

import asyncio
from pathlib import Path

from burnish.app.wiring import Workspace
from burnish.domain import Rejection

_REFUSED = (
    ("placeholder_dropped", "the section user lacks {{message}}, which the baseline has"),
    ("duplicate", "candidate 43 has this configuration and ran on the same items"),
    ("section_too_long", "the section system has 21,408 characters, and 20,000 are allowed"),
    ("empty_section", "the section user is empty"),
    ("duplicate", "candidate 61 has this configuration and ran on the same items"),
)


def add_refusals(database: Path, optimization_id: str) -> None:
    """Written by the repository, as a step of the run would."""
    asyncio.run(_add(database, optimization_id))


async def _add(database: Path, optimization_id: str) -> None:
    async with Workspace.open(str(database)) as workspace:
        runs = workspace.optimizations
        lease = await runs.acquire_lease(optimization_id, owner="world", seconds=60)
        record = await runs.get_optimization(optimization_id)
        await runs.save_step(
            lease,
            candidates=[],
            rejections=[
                Rejection(
                    step_index=2 + index,
                    proposed_index=index % 3,
                    reason_code=code,
                    message=message,
                    configuration_hash=f"{index + 1:064x}",
                )
                for index, (code, message) in enumerate(_REFUSED)
            ],
            checkpoint=dict(record.checkpoint or {}),
        )
        await runs.release_lease(lease)
