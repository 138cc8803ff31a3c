"""Scheduler of configured optimizers: starts their runs by schedule, and promotes proven winners."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Self

from burnish.app.agents.optimizers.cron import Schedule
from burnish.app.agents.optimizers.runs import start_run
from burnish.app.agents.promotion import promote_candidate
from burnish.app.wiring import Workspace
from burnish.config.served_project import ServedProject
from burnish.domain import (
    BurnishError,
    Clock,
    ConflictError,
    OptimizationRecord,
    OptimizationStatus,
    SystemClock,
    UnavailableError,
)
from burnish.domain.registry import ObjectKind, ObjectVersion, OptimizerRun
from burnish.evaluation.looks import level_of
from burnish.storage.engine.database import format_time

AUTHOR = "auto_promote"


def why_not(record: OptimizationRecord, look: int = 1) -> str | None:
    """What speaks against promoting a run's winner without a person; None when nothing does."""
    result = record.result or {}
    improvement = result.get("improvement")
    if record.status is not OptimizationStatus.COMPLETED:
        return f"the run is {record.status.value}"
    if not result.get("improved"):
        return "nothing beat the baseline"
    if improvement is None or not improvement["held_out"]:
        return "the winner was not compared on held-out items"
    if improvement["ci_low"] <= 0 or improvement["p_value"] >= level_of(look):
        return (
            f"on held-out items the gain of {improvement['delta']:+.3f} may be chance "
            f"(p = {improvement['p_value']:.3f}, from {improvement['ci_low']:+.3f} on; "
            f"{_look_words(look)})"
        )
    return None


def _look_words(look: int) -> str:
    return f"p has to be below {level_of(look):.2g} at look {look} at these items"


async def _look(workspace: Workspace, run: OptimizerRun, record: OptimizationRecord) -> int | None:
    """The number of this look at the held-out items; None where the run compared nothing on them."""
    improvement = (record.result or {}).get("improvement")
    if improvement is None or not improvement["held_out"]:
        return None
    before = await workspace.optimizer_runs.decided(run)
    # Decisions of earlier versions do not say, and count.
    return 1 + sum((one.promotion or {}).get("look", 1) is not None for one in before)


async def settle_run(workspace: Workspace, run: OptimizerRun) -> None:
    """Do what is left to do after a run's end, once, and keep what was done and why."""
    record = await workspace.optimizations.get_optimization(run.id)
    await workspace.optimizer_runs.settle(run.id, await _promotion(workspace, run, record))


async def _promotion(
    workspace: Workspace, run: OptimizerRun, record: OptimizationRecord
) -> dict[str, Any]:
    look = await _look(workspace, run, record)
    level = None if look is None else level_of(look)

    def decided(promoted: bool, version: int | None, reason: str) -> dict[str, Any]:
        done = {"promoted": promoted, "version": version, "reason": reason}
        return {**done, "look": look, "level": level}

    reason = why_not(record, look or 1)
    if reason is not None:
        return decided(False, None, reason)
    improvement = (record.result or {})["improvement"]
    note = f"p = {improvement['p_value']:.4f} on held-out items ({_look_words(look or 1)})"
    origin = {"source": "auto_promote", "optimizer": run.optimizer_name}
    try:
        promoted = await promote_candidate(
            workspace, run.id, promoted_by=AUTHOR, note=note, origin=origin
        )
    except ConflictError as error:
        active = await workspace.agents.active_version(run.agent_name)
        # It was done before, by a server that did not live to note it.
        done = active is not None and active.origin.get("optimization_id") == run.id
        if active is not None and done and active.author == AUTHOR:
            return decided(True, active.version, active.note)
        if active is not None and done and active.origin.get("source") == "baseline":
            raise  # Another server is at it this moment: the next look sees how that ended.
        return decided(False, None, error.why)
    return decided(True, promoted.version.version, note)


_log = logging.getLogger("burnish.schedules")
_PAGE = 200


class OptimizerScheduler:
    """Looks every few seconds while the context lasts. `started` is called after a start."""

    def __init__(
        self,
        workspace: Workspace,
        project: ServedProject,
        *,
        clock: Clock | None = None,
        look_seconds: float = 5.0,
        started: Callable[[], None] | None = None,
    ) -> None:
        self._workspace = workspace
        self._project = project
        self._clock = clock or SystemClock()
        self._look_seconds = look_seconds
        self._started = started
        # What cannot be started is tried again at its next time, or when it is changed.
        self._refused: dict[str, tuple[int, str]] = {}
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._keep(), name="schedules")
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def start_due(self) -> list[str]:
        """The runs that were started, of all optimizers whose time has come.

        Times that were missed, because no server was there or a run went on, make one run.
        """
        scheduled = await self._scheduled()
        identities = [one.id for one in scheduled]
        last = await self._workspace.optimizer_runs.last_due(identities)
        running = await self._workspace.optimizer_runs.running(identities)
        runs = []
        for one in scheduled:
            if one.id in running:
                continue
            run_id = await self._start(one, max(last.get(one.id, ""), one.created_at))
            if run_id is not None:
                runs.append(run_id)
        if runs and self._started is not None:
            self._started()
        return runs

    async def settle(self) -> None:
        """See to runs that have ended."""
        for run in await self._workspace.optimizer_runs.unsettled():
            try:
                await settle_run(self._workspace, run)
            except UnavailableError:
                raise
            except BurnishError as error:
                _log.warning("a run cannot be settled: %s", error, extra=_named(run.id))
            except Exception:  # noqa: BLE001 - the others are settled all the same
                _log.exception("settling a run ended in a bug", extra=_named(run.id))

    async def _keep(self) -> None:
        while True:
            for look in (self.start_due, self.settle):
                try:
                    await look()
                except BurnishError as error:
                    _log.warning("optimizers cannot be looked after: %s", error)
                except Exception:  # noqa: BLE001 - a bug here must not end all schedules
                    _log.exception("looking after optimizers ended in a bug")
            await self._clock.sleep(self._look_seconds)

    async def _scheduled(self) -> list[ObjectVersion]:
        found: list[ObjectVersion] = []
        after = None
        while True:
            page = await self._workspace.objects.page(
                ObjectKind.AGENT_OPTIMIZER, limit=_PAGE, after=after
            )
            found += [one for one in page.items if one.document.get("schedule")]
            if page.next is None:
                return found
            after = page.next

    def _due(self, one: ObjectVersion, since: str) -> str | None:
        """The latest time that has come and was not seen to."""
        schedule = Schedule.of(one.document["schedule"], one.document["schedule_timezone"])
        due = schedule.last_due(self._clock.now())
        if due is None or format_time(due) <= since:
            return None
        return format_time(due)

    async def _start(self, one: ObjectVersion, since: str) -> str | None:
        due: str | None = ""
        try:
            due = self._due(one, since)
            if due is None or self._refused.get(one.id) == (one.version, due):
                return None
            run_id = await start_run(self._workspace, self._project, one, due_at=due)
        except UnavailableError:
            raise
        except BurnishError as error:
            if self._refused.get(one.id) == (one.version, due or ""):
                return None
            self._refused[one.id] = (one.version, due or "")
            _log.warning("the optimizer %s cannot be started: %s", one.name, error)
            return None
        except Exception:  # noqa: BLE001 - the others have their times too
            _log.exception("starting the optimizer %s ended in a bug", one.name)
            return None
        if run_id is not None:
            _log.info("the schedule of %s starts a run", one.name, extra=_named(run_id))
        return run_id


def _named(run_id: str) -> dict[str, str]:
    return {"optimization_id": run_id}
