"""The executor of jobs: what it does with a queue and a runner, whatever the kind of job."""

import asyncio
import logging

import pytest

from burnish.domain import ConflictError, Lease, UnavailableError, UsageError
from burnish.domain.jobs import Job, WaitingJob
from burnish.jobs.executor import ExecutorSettings, JobExecutor

SETTINGS = ExecutorSettings(lease_seconds=0.03, look_seconds=0.01, max_attempts=3)
LOST = ConflictError(what="not written", why="the lease has moved", fix="wait", code="lease_lost")


class Queue:
    """Jobs in memory, and a log of what was asked of them."""

    def __init__(self, *names):
        self.jobs = list(names)
        self.attempts = 1
        self.log = []
        self.lost = False
        self.cancel = False
        self.bugs = 0

    async def waiting(self, *, limit=20):
        if self.bugs:
            self.bugs -= 1
            raise RuntimeError("a bug in the queue")
        return [WaitingJob(job_id=one, free=True, lease_owner=None) for one in self.jobs]

    async def acquire(self, job_id, *, owner, seconds, replacing=None):
        self.jobs.remove(job_id)
        self.log.append("acquire")
        return Job(lease=Lease(job_id=job_id, owner=owner, token=1), attempts=self.attempts)

    async def renew(self, lease, *, seconds):
        if self.lost:
            raise LOST

    async def cancel_requested(self, job_id):
        return self.cancel

    async def give_back(self, lease, *, seconds=0.0):
        self.log.append(("give back", seconds > 0))

    async def finish(self, lease):
        self.log.append("finish")

    async def depth(self):
        return len(self.jobs)


class Runner:
    """Runs a job by what the test gives; says what happened."""

    noun = "task"
    id_name = "task_id"

    def __init__(self, work):
        self._work = work
        self.began = asyncio.Event()
        self.stopped = False
        self.log = []

    async def run(self, job, cancelled):
        self.began.set()
        try:
            await self._work(cancelled)
        except asyncio.CancelledError:
            self.stopped = True
            raise

    async def renewed(self, job, number):
        self.log.append(("renewed", number))

    async def fail(self, job, error):
        self.log.append(("fail", error.code))

    async def give_back(self, job):
        self.log.append("give back")

    @property
    def ends(self):
        return [one for one in self.log if one[0] != "renewed"]


async def forever(_):
    await asyncio.Event().wait()


async def at_once(_):
    pass


def failing(error):
    async def work(_):
        raise error

    return work


async def until(holds):
    async with asyncio.timeout(600):
        while not holds():
            await asyncio.sleep(0)


async def executed(queue, runner):
    """Until the one job of the queue was taken and is no longer run."""
    async with JobExecutor(queue, runner, SETTINGS) as executor:
        await until(lambda: executor.active)
        await until(lambda: not executor.active)


async def test_a_job_is_run_and_leaves_the_queue():
    queue, runner = Queue("a"), Runner(at_once)

    await executed(queue, runner)

    assert queue.log == ["acquire", "finish"]
    assert runner.ends == []


async def test_whoever_lost_the_lease_is_stopped_and_says_nothing_more(caplog):
    queue, runner = Queue("a"), Runner(forever)
    queue.lost = True

    with caplog.at_level(logging.INFO, "burnish.tasks"):
        await executed(queue, runner)

    assert runner.stopped
    assert (queue.log, runner.log) == (["acquire"], [])
    assert "the lease has moved" in caplog.text


@pytest.mark.parametrize("code", ["lease_lost", "owned"])
async def test_a_runner_that_finds_the_lease_lost_ends_nothing(code):
    error = ConflictError(what="not written", why="somebody else has it", fix="wait", code=code)
    queue, runner = Queue("a"), Runner(failing(error))

    await executed(queue, runner)

    assert (queue.log, runner.ends) == (["acquire"], [])


async def test_a_lease_that_cannot_be_renewed_for_another_reason_stops_the_job():
    queue, runner = Queue("a"), Runner(forever)

    async def gone(lease, *, seconds):
        raise UsageError(what="no such job", why="it was deleted", fix="none", code="not_found")

    queue.renew = gone
    await executed(queue, runner)

    assert runner.stopped
    assert runner.ends == [("fail", "not_found")]


async def test_what_is_unavailable_is_given_back_for_later():
    error = UnavailableError(what="no answer", why="it is away", fix="wait")
    queue, runner = Queue("a"), Runner(failing(error))

    await executed(queue, runner)

    assert queue.log == ["acquire", ("give back", True)]
    assert runner.ends == ["give back"]


async def test_a_database_that_is_away_does_not_stop_what_runs():
    queue, go = Queue("a"), asyncio.Event()
    tried = 0

    async def away(lease, *, seconds):
        nonlocal tried
        tried += 1
        if tried == 3:
            go.set()
        raise UnavailableError(what="no answer", why="the database is away", fix="wait")

    async def work(_):
        await go.wait()

    queue.renew = away
    await executed(queue, Runner(work))

    assert queue.log == ["acquire", "finish"]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError(what="no file", why="it is gone", fix="make it", code="missing"), "missing"),
        (RuntimeError("a bug"), "internal"),
    ],
)
async def test_what_fails_says_why_and_leaves_the_queue(error, code):
    queue, runner = Queue("a"), Runner(failing(error))

    await executed(queue, runner)

    assert queue.log == ["acquire", "finish"]
    assert runner.ends == [("fail", code)]


async def test_a_job_that_was_begun_too_often_fails_without_being_run():
    queue, runner = Queue("a"), Runner(forever)
    queue.attempts = SETTINGS.max_attempts + 1

    await executed(queue, runner)

    assert not runner.began.is_set()
    assert runner.ends == [("fail", "too_many_attempts")]
    assert queue.log == ["acquire", "finish"]


async def test_a_bug_in_the_queue_is_survived():
    queue, runner = Queue("a"), Runner(at_once)
    queue.bugs = 2

    await executed(queue, runner)

    assert queue.log == ["acquire", "finish"]


async def test_what_runs_at_the_end_is_given_back():
    queue, runner = Queue("a"), Runner(forever)
    executor = JobExecutor(queue, runner, SETTINGS)

    async with executor:
        await runner.began.wait()

    assert runner.stopped
    assert executor.active == 0
    assert queue.log == ["acquire", ("give back", False)]
    assert runner.ends == ["give back"]


async def test_a_runner_that_cannot_give_back_what_it_lost_leaves_the_queue_alone():
    queue, runner = Queue("a"), Runner(forever)

    async def refused(job):
        raise LOST

    runner.give_back = refused
    async with JobExecutor(queue, runner, SETTINGS):
        await runner.began.wait()

    assert queue.log == ["acquire"]


async def test_a_wish_to_cancel_reaches_the_runner():
    async def work(cancelled):
        await cancelled.wait()

    queue, runner = Queue("a"), Runner(work)
    async with JobExecutor(queue, runner, SETTINGS) as executor:
        await runner.began.wait()
        queue.cancel = True
        executor.nudge("a")
        await until(lambda: not executor.active)

    assert queue.log == ["acquire", "finish"]
    assert not runner.stopped


async def test_no_more_jobs_run_at_once_than_is_said():
    queue, go = Queue("a", "b", "c"), asyncio.Event()
    most = 0

    async def work(_):
        nonlocal most
        most = max(most, executor.active)
        await go.wait()

    executor = JobExecutor(queue, Runner(work), ExecutorSettings(max_jobs=2, look_seconds=0.01))
    async with executor:
        await until(lambda: executor.active == 2)
        go.set()
        await until(lambda: queue.log.count("finish") == 3)

    assert most == 2
