"""Executor for queued jobs: optimizations, evaluations and image runs all wait for one of these.

Several executors, in servers and workers on any machine, share one queue a kind: whoever gets the
lease runs the job, and whoever dies loses the lease to another. An executor that lost the lease stops
at once and writes nothing more; only the owner ends a job or gives it back.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from dataclasses import dataclass
from typing import Protocol, Self

from burnish.domain import BurnishError, ConflictError, InvariantError, UnavailableError
from burnish.domain.jobs import Job, JobQueue
from burnish.domain.wording import counted
from burnish.evaluation.item_runner import describe
from burnish.jobs import ownership
from burnish.jobs.lease_renewer import LEASE_SECONDS, LeaseRenewer

_LATER_SECONDS = 15.0
_LOST = ("owned", "lease_lost")
_MAX_JOBS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorSettings:
    """How many jobs at once, how long a lease lasts, and how often the queue is looked at.

    Without `max_jobs` the kind decides.
    """

    max_jobs: int | None = None
    lease_seconds: float = LEASE_SECONDS
    look_seconds: float = 2.0
    max_attempts: int = 5


class JobRunner(Protocol):
    """What an executor does with jobs of one kind, besides taking them."""

    noun: str  # "run", for logs
    id_name: str  # "optimization_id", for logs

    async def run(self, job: Job, cancelled: asyncio.Event) -> None:
        """Run it to its end, which is stored when this returns; `cancelled` asks for an early one.

        UnavailableError lets it be tried later, any other error ends it as failed.
        """
        ...

    async def renewed(self, job: Job, number: int) -> None:
        """Its lease was renewed for the so-manieth time: it goes on."""
        ...

    async def fail(self, job: Job, error: BurnishError) -> None:
        """Store that it cannot be run, and why."""
        ...

    async def give_back(self, job: Job) -> None:
        """It goes on elsewhere: undo what would look as if it had ended."""
        ...


class JobExecutor:
    """Takes jobs of one kind while the context lasts; what still runs then is given back."""

    def __init__(
        self, queue: JobQueue, runner: JobRunner, settings: ExecutorSettings | None = None
    ) -> None:
        self._queue = queue
        self._runner = runner
        self._settings = settings or ExecutorSettings()
        self._log = logging.getLogger(f"burnish.{runner.noun.replace(' ', '_')}s")
        self._owner = ownership.new_owner()
        self._wake = asyncio.Event()
        self._active: dict[str, asyncio.Task[None]] = {}
        self._renewers: dict[str, LeaseRenewer] = {}
        self._loop: asyncio.Task[None] | None = None

    @property
    def active(self) -> int:
        """How many run here at the moment."""
        return len(self._active)

    def wake(self) -> None:
        """Look at the queue now."""
        self._wake.set()

    def nudge(self, job_id: str) -> None:
        """Its cancellation may have been asked for: look now."""
        if job_id in self._renewers:
            self._renewers[job_id].nudge()

    async def __aenter__(self) -> Self:
        self._loop = asyncio.create_task(self._watch(), name=f"{self._runner.noun}s")
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Stop taking jobs, and give back those that go on: their state is saved."""
        if self._loop is not None:
            self._loop.cancel()
            await asyncio.gather(self._loop, return_exceptions=True)
        tasks = list(self._active.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _watch(self) -> None:
        """Look now, when woken, and every so often: word from elsewhere can be lost."""
        while True:
            self._wake.clear()
            try:
                await self._fill()
            except BurnishError as error:
                self._log.warning("the queue of %ss cannot be used: %s", self._runner.noun, error)
            except Exception:  # noqa: BLE001 - else nothing would be run here any more
                self._log.exception("looking at the queue of %ss ended in a bug", self._runner.noun)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._settings.look_seconds):
                    await self._wake.wait()

    async def _fill(self) -> None:
        room = (self._settings.max_jobs or _MAX_JOBS) - len(self._active)
        if room <= 0:
            return
        for waiting in await self._queue.waiting():
            if room == 0:
                return
            dead = waiting.lease_owner is not None and ownership.is_dead(waiting.lease_owner)
            if waiting.job_id in self._active or not (waiting.free or dead):
                continue
            job = await self._take(waiting.job_id, waiting.lease_owner if dead else None)
            if job is not None:
                self._start(job)
                room -= 1

    async def _take(self, job_id: str, replacing: str | None) -> Job | None:
        taking = asyncio.ensure_future(
            self._queue.acquire(
                job_id,
                owner=self._owner,
                seconds=self._settings.lease_seconds,
                replacing=replacing,
            )
        )
        try:
            return await asyncio.shield(taking)
        except ConflictError:
            return None  # Somebody else was quicker.
        except asyncio.CancelledError:
            # Taken in the moment of the end: else nobody could have it until the lease expires.
            with contextlib.suppress(BurnishError):
                await self._queue.give_back((await taking).lease)
            raise

    def _start(self, job: Job) -> None:
        job_id = job.lease.job_id
        task = asyncio.create_task(self._run(job), name=f"{self._runner.noun} {job_id}")
        self._active[job_id] = task

        def ended(_: asyncio.Task[None]) -> None:
            self._active.pop(job_id, None)
            self.wake()

        task.add_done_callback(ended)

    async def _run(self, job: Job) -> None:
        context = self._logged(job)
        try:
            error = await self._attempt(job)
            await self._settle(job, error)
        except asyncio.CancelledError:
            with contextlib.suppress(BurnishError):
                await asyncio.shield(self._give_back(job))
            self._log.info("the %s is given back", self._runner.noun, extra=context)
            raise
        except BurnishError as failed:
            self._log.warning(
                "the end of the %s cannot be noted: %s", self._runner.noun, failed, extra=context
            )

    async def _attempt(self, job: Job) -> BurnishError | None:
        """What stopped the job, or None when it has come to its end."""
        context = self._logged(job)
        if job.attempts > self._settings.max_attempts:
            return _too_many_attempts(self._runner.noun, job)
        self._log.info("the %s begins", self._runner.noun, extra=context)
        cancelled = asyncio.Event()

        async def cancel() -> None:
            cancelled.set()

        renewer = LeaseRenewer(
            renew=lambda seconds: self._queue.renew(job.lease, seconds=seconds),
            cancel_requested=lambda: self._queue.cancel_requested(job.lease.job_id),
            on_cancel=cancel,
            on_renewed=lambda number: self._runner.renewed(job, number),
            seconds=self._settings.lease_seconds,
        )
        self._renewers[job.lease.job_id] = renewer
        try:
            async with renewer:
                await self._runner.run(job, cancelled)
        except BurnishError as error:
            return error
        except Exception as bug:  # noqa: BLE001 - a job must never end its server
            self._log.exception("the %s ended in a bug", self._runner.noun, extra=context)
            return InvariantError(
                what=f"the {self._runner.noun} failed",
                why=describe(bug),
                fix="this is a bug in burnish: report it; resuming it tries again",
            )
        finally:
            if self._renewers.get(job.lease.job_id) is renewer:
                del self._renewers[job.lease.job_id]
        return None

    async def _settle(self, job: Job, error: BurnishError | None) -> None:
        """End it in the queue, or leave it to whoever owns it, or let it be tried later."""
        context = self._logged(job)
        if error is not None:
            self._log.warning("the %s stopped: %s", self._runner.noun, error, extra=context)
        if isinstance(error, ConflictError) and error.code in _LOST:
            return
        if isinstance(error, UnavailableError):
            await self._give_back(job, seconds=_LATER_SECONDS)
            return
        if error is not None:
            await self._runner.fail(job, error)
        await self._queue.finish(job.lease)
        self._log.info("the %s has ended", self._runner.noun, extra=context)

    def _logged(self, job: Job) -> dict[str, object]:
        return {self._runner.id_name: job.lease.job_id, "attempt": job.attempts}

    async def _give_back(self, job: Job, *, seconds: float = 0.0) -> None:
        await self._runner.give_back(job)
        await self._queue.give_back(job.lease, seconds=seconds)


def _too_many_attempts(noun: str, job: Job) -> ConflictError:
    """A job that takes its server down each time must not do so for ever."""
    return ConflictError(
        what=f"the {noun} {job.lease.job_id} is not tried again",
        why=f"it was begun {counted(job.attempts - 1, 'time')}, and never came to its end",
        fix="find out in the logs why, such as memory or a disk that is full; then resume it",
        code="too_many_attempts",
    )
