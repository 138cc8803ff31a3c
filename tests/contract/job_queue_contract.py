"""What the queues of all kinds of jobs hold to. Subclass and provide `workspace`."""

import asyncio
import contextlib

import pytest
from tests.support.image_samples import make_request

from burnish.domain import ConflictError, ExperimentStatus, UsageError
from burnish.domain.jobs import JobKind
from burnish.testing.samples.experiments import (
    make_experiment,
    make_result,
)
from burnish.testing.samples.optimizations import make_record

KINDS = list(JobKind)


def queue_of(workspace, kind):
    return {
        JobKind.OPTIMIZATION: workspace.run_jobs,
        JobKind.EVALUATION: workspace.evaluation_jobs,
        JobKind.IMAGE_RUN: workspace.image_jobs,
    }[kind]


async def add(workspace, kind, *names):
    for name in names:
        if kind is JobKind.OPTIMIZATION:
            await workspace.optimizations.create_optimization(make_record(name))
            await workspace.run_jobs.add(name)
        elif kind is JobKind.EVALUATION:
            await workspace.experiments.create_experiment(make_experiment(name))
            await workspace.evaluation_jobs.add(name, {"settings": {"of": name}})
        else:
            await workspace.images.create_run(name, make_request())


def names(waiting):
    return [one.job_id for one in waiting]


@pytest.mark.parametrize("kind", KINDS)
class JobQueueContract:
    """Of every kind."""

    async def test_jobs_wait_in_the_order_they_came(self, workspace, kind):
        await add(workspace, kind, "b", "a", "c")
        queue = queue_of(workspace, kind)

        waiting = await queue.waiting()

        assert names(waiting) == ["b", "a", "c"]
        assert all(one.free for one in waiting)
        assert names(await queue.waiting(limit=1)) == ["b"]
        assert await queue.depth() == 3

    async def test_a_taken_job_has_one_owner_and_comes_after_the_free_ones(self, workspace, kind):
        await add(workspace, kind, "a", "b")
        queue = queue_of(workspace, kind)

        job = await queue.acquire("a", owner="x", seconds=60)
        with pytest.raises(ConflictError) as refused:
            await queue.acquire("a", owner="y", seconds=60)

        assert (job.lease.kind, job.lease.job_id, job.attempts) == (kind, "a", 1)
        assert refused.value.code == "owned"
        waiting = await queue.waiting()
        assert [(one.job_id, one.free, one.lease_owner) for one in waiting] == [
            ("b", True, None),
            ("a", False, "x"),
        ]
        assert await queue.depth() == 1
        assert await queue.owner("a") == "x"

    async def test_of_many_that_take_it_at_once_one_gets_it(self, workspace, kind):
        await add(workspace, kind, "a")
        queue = queue_of(workspace, kind)

        taken = await asyncio.gather(
            *(queue.acquire("a", owner=f"y{n}", seconds=60) for n in range(5)),
            return_exceptions=True,
        )

        assert sum(not isinstance(one, Exception) for one in taken) == 1
        assert {one.code for one in taken if isinstance(one, Exception)} == {"owned"}

    async def test_a_dead_owner_is_replaced_and_a_lease_that_ran_out_is_free(self, workspace, kind):
        await add(workspace, kind, "a")
        queue = queue_of(workspace, kind)

        first = await queue.acquire("a", owner="dead", seconds=60)
        second = await queue.acquire("a", owner="x", seconds=0, replacing="dead")
        third = await queue.acquire("a", owner="y", seconds=60)

        assert [one.attempts for one in (first, second, third)] == [1, 2, 3]
        assert first.lease.token < second.lease.token < third.lease.token

    async def test_whoever_lost_the_lease_changes_nothing(self, workspace, kind):
        await add(workspace, kind, "a")
        queue = queue_of(workspace, kind)
        lost = (await queue.acquire("a", owner="x", seconds=0)).lease
        held = (await queue.acquire("a", owner="y", seconds=60)).lease

        with pytest.raises(ConflictError) as refused:
            await queue.renew(lost, seconds=60)
        await queue.finish(lost)
        await queue.give_back(lost)
        with contextlib.suppress(ConflictError):
            await queue.give_back(lost, seconds=60)

        assert refused.value.code == "lease_lost"
        waiting = await queue.waiting()
        assert [(one.job_id, one.free, one.lease_owner) for one in waiting] == [("a", False, "y")]
        await queue.renew(held, seconds=60)

    async def test_what_is_given_back_is_free_and_the_attempt_does_not_count(self, workspace, kind):
        await add(workspace, kind, "a")
        queue = queue_of(workspace, kind)

        await queue.give_back((await queue.acquire("a", owner="x", seconds=60)).lease)

        assert [one.free for one in await queue.waiting()] == [True]
        assert (await queue.acquire("a", owner="y", seconds=60)).attempts == 1

    async def test_what_is_given_back_for_later_is_not_to_be_had_before(self, workspace, kind):
        await add(workspace, kind, "a")
        queue = queue_of(workspace, kind)

        await queue.give_back((await queue.acquire("a", owner="x", seconds=60)).lease, seconds=60)

        assert not [one for one in await queue.waiting() if one.free]


class RunQueueContract:
    """Of optimizations."""

    async def test_adding_twice_is_once_also_for_many_at_a_time(self, workspace):
        await workspace.optimizations.create_optimization(make_record("o1"))

        await asyncio.gather(*(workspace.run_jobs.add("o1") for _ in range(10)))

        assert names(await workspace.run_jobs.waiting()) == ["o1"]

    async def test_an_attempt_that_ends_leaves_the_queue_unless_it_was_added_again(self, workspace):
        await add(workspace, JobKind.OPTIMIZATION, "o1")
        first = (await workspace.run_jobs.acquire("o1", owner="x", seconds=60)).lease
        await workspace.run_jobs.add("o1")

        await workspace.run_jobs.finish(first)
        again = await workspace.run_jobs.waiting()
        await workspace.run_jobs.finish(
            (await workspace.run_jobs.acquire("o1", owner="x", seconds=60)).lease
        )

        assert names(again) == ["o1"]
        assert await workspace.run_jobs.waiting() == []

    async def test_one_that_is_added_while_it_is_given_back_counts_from_the_beginning(
        self, workspace
    ):
        await add(workspace, JobKind.OPTIMIZATION, "o1")
        lease = (await workspace.run_jobs.acquire("o1", owner="x", seconds=60)).lease
        await workspace.run_jobs.add("o1")

        await workspace.run_jobs.give_back(lease)

        assert (await workspace.run_jobs.acquire("o1", owner="y", seconds=60)).attempts == 1

    async def test_removing_ends_it_and_twice_does_no_harm(self, workspace):
        await add(workspace, JobKind.OPTIMIZATION, "o1")

        for _ in range(2):
            await workspace.run_jobs.remove("o1")

        assert await workspace.run_jobs.waiting() == []

    async def test_what_does_not_exist_cannot_wait(self, workspace):
        with pytest.raises(UsageError, match="no optimization"):
            await workspace.run_jobs.add("nothing")


class EvaluationQueueContract:
    """Of evaluations."""

    async def test_what_has_ended_waits_no_more_and_can_be_queued_again(self, workspace):
        await add(workspace, JobKind.EVALUATION, "a")
        jobs = workspace.evaluation_jobs
        job = await jobs.acquire("a", owner="x", seconds=60)
        assert job.spec == {"settings": {"of": "a"}}
        assert await jobs.is_waiting("a")

        await jobs.finish(job.lease)

        assert not await jobs.is_waiting("a")
        assert await jobs.waiting() == []
        assert await jobs.queue_again("a")
        assert (await jobs.acquire("a", owner="y", seconds=60)).attempts == 1

    async def test_what_is_queued_again_is_pending_and_keeps_all_but_its_error(self, workspace):
        await add(workspace, JobKind.EVALUATION, "a")
        jobs, experiments = workspace.evaluation_jobs, workspace.experiments
        lease = (await jobs.acquire("a", owner="x", seconds=60)).lease
        said = {"error": {"code": "broken"}, "labels": ["one"]}
        await experiments.update_experiment("a", status=ExperimentStatus.FAILED, metadata=said)

        # As the owner is about to end it: that end is not the end of what was queued again.
        await jobs.queue_again("a")
        await jobs.finish(lease)

        found = await experiments.get_experiment("a")
        assert found.status is ExperimentStatus.PENDING
        assert (found.metadata["error"], found.metadata["labels"]) == (None, ["one"])
        assert [one.free for one in await jobs.waiting()] == [True]

    async def test_a_wish_to_cancel_outlives_a_command_that_would_run_it_too(self, workspace):
        await add(workspace, JobKind.EVALUATION, "a")
        jobs = workspace.evaluation_jobs
        await jobs.acquire("a", owner="x", seconds=60)
        await jobs.request_cancel("a")

        await jobs.register("a")
        kept = await jobs.cancel_requested("a")
        await jobs.register("a", dead_owner="x")

        assert kept
        assert not await jobs.cancel_requested("a")

    async def test_what_is_given_back_although_it_is_to_be_cancelled_ends(self, workspace):
        await add(workspace, JobKind.EVALUATION, "a", "b")
        jobs = workspace.evaluation_jobs
        lost = (await jobs.acquire("a", owner="x", seconds=0)).lease
        await jobs.acquire("a", owner="y", seconds=60)
        held = (await jobs.acquire("b", owner="x", seconds=60)).lease
        for name in ("a", "b"):
            await jobs.request_cancel(name)

        await jobs.give_back(lost)
        await jobs.give_back(held)

        status = [(await workspace.experiments.get_experiment(name)).status for name in ("a", "b")]
        assert [one is ExperimentStatus.CANCELLED for one in status] == [False, True]
        assert names(await jobs.waiting()) == ["a"]

    async def test_one_that_a_command_runs_is_leased_and_never_waits(self, workspace):
        await workspace.experiments.create_experiment(make_experiment("a"))
        jobs = workspace.evaluation_jobs

        await jobs.register("a")
        job = await jobs.acquire("a", owner="x", seconds=60)
        await jobs.register("a")

        assert await jobs.waiting() == []
        assert job.spec is None
        await jobs.finish(job.lease)
        assert not await jobs.queue_again("a")

    async def test_a_wish_to_cancel_reaches_the_owner_or_ends_what_nobody_runs(self, workspace):
        await add(workspace, JobKind.EVALUATION, "held", "free", "left")
        jobs = workspace.evaluation_jobs
        await jobs.acquire("held", owner="x", seconds=60)
        dead = await jobs.acquire("left", owner="dead", seconds=60)

        assert await jobs.request_cancel("held")
        assert await jobs.request_cancel("free")
        assert await jobs.request_cancel("left", dead_owner="dead")
        assert not await jobs.request_cancel("unknown")

        assert await jobs.cancel_requested("held")
        status = {
            name: (await workspace.experiments.get_experiment(name)).status
            for name in ("held", "free", "left")
        }
        assert status["held"] is not ExperimentStatus.CANCELLED
        assert status["free"] is status["left"] is ExperimentStatus.CANCELLED
        assert names(await jobs.waiting()) == ["held"]
        with pytest.raises(ConflictError):
            await jobs.renew(dead.lease, seconds=60)

    async def test_results_of_an_owner_that_was_replaced_are_refused(self, workspace):
        await add(workspace, JobKind.EVALUATION, "a")
        jobs = workspace.evaluation_jobs
        lost = (await jobs.acquire("a", owner="x", seconds=0)).lease
        held = (await jobs.acquire("a", owner="y", seconds=60)).lease

        with pytest.raises(ConflictError) as refused:
            await workspace.experiments.save_results("a", [make_result()], lease=lost)
        await workspace.experiments.save_results("a", [make_result()], lease=held)
        with pytest.raises(ConflictError):
            await workspace.experiments.update_experiment(
                "a", status=ExperimentStatus.FAILED, lease=lost
            )

        assert refused.value.code == "lease_lost"
