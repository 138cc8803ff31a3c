"""Mirrors optimizations in the background of a run, or all that is left of them at once."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from burnish.app.wiring import Workspace
from burnish.domain import BurnishError
from burnish.domain.mirrors import MirrorTarget
from burnish.integrations.opik.mirror_client import MirrorClient
from burnish.integrations.opik.mirror_delivery import deliver
from burnish.models.retry import RetryPolicy

_log = logging.getLogger(__name__)
_LOOK_SECONDS = 1.0
_LONGEST_PAUSE = 60.0
DRAIN_SECONDS = 5.0
# A run goes on beside it and looks again anyway, so each look tries but a little.
_BRIEF = RetryPolicy(max_attempts=2, longest_wait_seconds=2.0, longest_retry_after_seconds=10.0)


@dataclass(slots=True)
class MirrorOutcome:
    """How much was sent, and what went wrong last; `open` mirrors have something left."""

    experiments: int = 0
    open: int = 0
    problems: list[str] = field(default_factory=list)


async def flush(workspace: Workspace) -> MirrorOutcome:
    """Send what every open mirror has left, each as far as it goes."""
    outcome = MirrorOutcome()
    unreachable: set[MirrorTarget] = set()
    for mirror in await workspace.mirrors.open_mirrors():
        if mirror.target in unreachable:
            continue
        try:
            async with MirrorClient(mirror.target) as client:
                outcome.experiments += await deliver(workspace, mirror, client)
        except BurnishError as error:
            unreachable.add(mirror.target)
            outcome.problems.append(f"{error.what}: {error.why}")
    outcome.open = len(await workspace.mirrors.open_mirrors())
    return outcome


@contextlib.asynccontextmanager
async def mirroring(workspace: Workspace) -> AsyncIterator[MirrorOutcome]:
    """Send within the block what open mirrors have, as it comes about.

    The run neither waits for this nor fails by it. At the end there are a few seconds for the rest;
    what is left then stays open, for the next run or `flush`.
    """
    task = _Background(workspace)
    ring: Callable[[str], None] = task.ring
    workspace.listeners.append(ring)
    going = asyncio.create_task(task.go_on())
    try:
        yield task.outcome
        task.ending.set()
        await asyncio.wait([going], timeout=DRAIN_SECONDS)
        with contextlib.suppress(BurnishError):
            task.outcome.open = len(await workspace.mirrors.open_mirrors())
    finally:
        # Whoever stops a run does not wait for its mirror.
        workspace.listeners.remove(ring)
        going.cancel()
        await asyncio.wait([going])


class _Background:
    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._news = asyncio.Event()
        # There may be something from before.
        self._news.set()
        self._failures = 0
        self.ending = asyncio.Event()
        self.outcome = MirrorOutcome()

    def ring(self, _: str) -> None:
        """Something was stored."""
        self._news.set()

    async def go_on(self) -> None:
        """Until the run ends, and once more then."""
        while True:
            last = self.ending.is_set()
            await self._look()
            if last:
                return
            await self._pause()

    async def _pause(self) -> None:
        """A while, in which news gather; a longer one after failures."""
        pause = min(_LOOK_SECONDS * 2.0**self._failures, _LONGEST_PAUSE)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(pause * (0.5 + 0.5 * random.random())):  # noqa: S311
                await self.ending.wait()

    async def _look(self) -> None:
        if not (self._news.is_set() or self._failures or self.ending.is_set()):
            return
        self._news.clear()
        problems: list[str] = []
        try:
            problems = await self._deliver()
        except BurnishError as error:
            problems = [f"{error.what}: {error.why}"]
        except Exception:  # noqa: BLE001 - a bug here is no reason to end a run
            _log.exception("the mirror failed")
            problems = ["the mirror failed of a bug; the log says more"]
        if problems and not self._failures:
            _log.info("the mirror is behind: %s", problems[0])
        self._failures = min(self._failures + 1, 30) if problems else 0
        self.outcome.problems = problems

    async def _deliver(self) -> list[str]:
        """What went wrong. A target that cannot be reached is not tried for the next mirror."""
        problems: dict[MirrorTarget, str] = {}
        for mirror in await self._workspace.mirrors.open_mirrors():
            if mirror.target in problems:
                continue
            try:
                async with MirrorClient(mirror.target, policy=_BRIEF) as client:
                    self.outcome.experiments += await deliver(self._workspace, mirror, client)
            except BurnishError as error:
                problems[mirror.target] = f"{error.what}: {error.why}"
        return list(problems.values())
