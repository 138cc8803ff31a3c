"""Runs queued evaluations in this process, and leaves none behind.

Several executors share one queue. Whoever dies loses what it held to another, which runs what is
still missing: results that were saved are not asked for again.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from burnish.app.evaluate.queued import evaluating, queued_settings
from burnish.app.wiring import Workspace
from burnish.config.served_project import ServedProject
from burnish.domain import BurnishError, ConflictError, ExperimentStatus, UnavailableError
from burnish.domain.evaluation_queue import QueuedEvaluation
from burnish.jobs.queue_watch import QueueWatch
from burnish.optimization import ownership

_log = logging.getLogger("burnish.evaluations")
_AGAIN_SECONDS = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationSettings:
    """How many at once, how long one is held without a sign of life, how often to look."""

    max_runs: int = 2
    lease_seconds: float = 30.0
    look_seconds: float = 2.0
    max_attempts: int = 5


class EvaluationExecutor:
    """Takes evaluations from the queue while the context lasts; what still runs is given back."""

    def __init__(
        self,
        workspace: Workspace,
        project: ServedProject,
        settings: EvaluationSettings | None = None,
    ) -> None:
        self._workspace = workspace
        self._project = project
        self._settings = settings or EvaluationSettings()
        self._owner = ownership.new_owner()
        look_seconds = self._settings.look_seconds
        self._watches = [
            QueueWatch(self._drain, name="evaluations", seconds=look_seconds, log=_log)
            for _ in range(self._settings.max_runs)
        ]
        self._tasks: list[asyncio.Task[None]] = []

    def wake(self) -> None:
        """Look at the queue now."""
        for watch in self._watches:
            watch.wake()

    async def __aenter__(self) -> Self:
        self._tasks = [
            asyncio.create_task(watch.run(), name=f"evaluations {n}")
            for n, watch in enumerate(self._watches)
        ]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _drain(self) -> None:
        """Run one after the other until none is left."""
        queue, seconds = self._workspace.evaluations, self._settings.lease_seconds
        while (taken := await queue.take(owner=self._owner, seconds=seconds)) is not None:
            await self._run(taken)

    async def _run(self, taken: QueuedEvaluation) -> None:
        queue, identity = self._workspace.evaluations, taken.experiment_id
        keeping = asyncio.create_task(self._keep(identity))
        try:
            await self._attempt(taken)
        except asyncio.CancelledError:
            with contextlib.suppress(BurnishError):
                await asyncio.shield(self._give_back(identity))
            raise
        except UnavailableError as error:
            _log.warning("an evaluation stopped: %s", error, extra={"experiment_id": identity})
            await self._later(identity)
        except BurnishError as error:
            await self._end_as_failed(identity, error.to_json())
        except Exception as bug:  # noqa: BLE001 - an evaluation must never end its server
            _log.exception("an evaluation ended in a bug", extra={"experiment_id": identity})
            await self._end_as_failed(identity, {"code": "internal", "message": repr(bug)[:300]})
        else:
            await queue.remove(identity)
        finally:
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)

    async def _attempt(self, taken: QueuedEvaluation) -> None:
        if taken.attempts > self._settings.max_attempts:
            raise ConflictError(
                what=f"evaluation {taken.experiment_id} is not tried again",
                why=f"it was begun {taken.attempts - 1} times, and never came to its end",
                fix="find out in the logs why, such as memory or a model that does not answer",
                code="too_many_attempts",
            )
        settings = queued_settings(taken.spec, self._project.folder).reaching(self._project.urls)
        await asyncio.to_thread(self._project.require_own, settings)
        async with evaluating(self._workspace, settings) as evaluation:
            await evaluation.resume(taken.experiment_id, retry_errors=taken.attempts > 1)

    async def _keep(self, identity: str) -> None:
        """Say again and again that it is being run."""
        seconds = self._settings.lease_seconds
        while True:
            await asyncio.sleep(seconds / 3)
            with contextlib.suppress(BurnishError):
                await self._workspace.evaluations.keep(identity, owner=self._owner, seconds=seconds)

    async def _give_back(self, identity: str) -> None:
        # The runner calls it cancelled when it is stopped, but it goes on elsewhere.
        await self._workspace.experiments.update_experiment(
            identity, status=ExperimentStatus.PENDING
        )
        await self._workspace.evaluations.give_back(identity, owner=self._owner)

    async def _later(self, identity: str) -> None:
        await self._workspace.experiments.update_experiment(
            identity, status=ExperimentStatus.PENDING
        )
        await self._workspace.evaluations.keep(identity, owner=self._owner, seconds=_AGAIN_SECONDS)

    async def _end_as_failed(self, identity: str, error: dict[str, object]) -> None:
        await self._workspace.experiments.update_experiment(
            identity, status=ExperimentStatus.FAILED, metadata={"error": error}
        )
        await self._workspace.evaluations.remove(identity)
