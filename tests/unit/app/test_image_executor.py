"""The executor of image runs: takes what waits, keeps within its bounds, leaves nothing behind."""

import asyncio
from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest
from tests.support.image_samples import make_request, make_rubric
from tests.support.memory_images import MemoryImageFiles, MemoryImageRepository

from burnish.app.images.executor import ImageExecutor
from burnish.app.images.models import ImageModels
from burnish.app.images.runs import ImageRuns
from burnish.app.images.settings import ImageSettings
from burnish.config.schema import ImagesTable
from burnish.domain import ConflictError, Lease, PaidAnswerError, UnavailableError, Usage
from burnish.domain.images.runs import ImageRunStatus
from burnish.domain.jobs import Job, JobKind, WaitingJob
from burnish.images.judging import NEUTRAL
from burnish.images.models.scripted import ScriptedImageJudge, ScriptedImageModel, flat_picture
from burnish.images.rounds import RoundsBudget
from burnish.jobs.executor import ExecutorSettings


class MemoryImageJobs:
    """The runs of a repository in memory as a queue."""

    def __init__(self, repository):
        self.repository = repository

    async def waiting(self, *, limit=20):
        states = self.repository.stored_runs.values()
        return [
            WaitingJob(job_id=one.run.run_id, free=one.owner is None, lease_owner=one.owner)
            for one in states
            if not one.run.status.ended
        ][:limit]

    async def acquire(self, job_id, *, owner, seconds, replacing=None):
        taken = await self.repository.take_this_run(job_id, owner=owner, seconds=seconds)
        if taken is None:
            raise ConflictError(what="w", why="y", fix="f", code="owned")
        lease = Lease(kind=JobKind.IMAGE_RUN, job_id=job_id, owner=owner, token=taken.token)
        return Job(lease=lease, attempts=taken.attempts)

    async def renew(self, lease, *, seconds):
        await self.repository.keep_run(lease.job_id, token=lease.token, seconds=seconds)

    async def cancel_requested(self, job_id):
        return (await self.repository.run(job_id)).cancel_requested

    async def owner(self, job_id):
        return self.repository.stored_runs[job_id].owner

    async def give_back(self, lease, *, seconds=0.0):
        if seconds:
            await self.renew(lease, seconds=seconds)
        else:
            await self.repository.release_run(lease.job_id, token=lease.token)

    async def finish(self, lease):
        pass


class World:
    def __init__(self, **settings):
        self.repository = MemoryImageRepository()
        self.jobs = MemoryImageJobs(self.repository)
        self.workspace = SimpleNamespace(images=self.repository, image_jobs=self.jobs)
        self.files = MemoryImageFiles()
        self.image, self.judge = ScriptedImageModel(), ScriptedImageJudge()
        self.settings = ImageSettings(table=ImagesTable(**settings))

    def images(self):
        models = ImageModels(
            self.settings,
            lambda _: None,
            drawing={"scripted": self.image},
            judging={"scripted": self.judge},
        )
        return ImageRuns(self.workspace, self.files, models)

    @asynccontextmanager
    async def executing(self, images=None, **settings):
        async with ImageExecutor(
            self.workspace, images or self.images(), ExecutorSettings(**settings)
        ) as executor:
            yield executor

    async def create(self, count, images=None):
        made = images or self.images()
        request = make_request(image_model="scripted", judge_model="scripted")
        return [(await made.create(request, run_id=f"r{n}")).run_id for n in range(count)]

    async def ended(self, count):
        """Wait until so many have ended."""
        while True:
            states = [state.run.status for state in self.repository.stored_runs.values()]
            if sum(status.ended for status in states) >= count:
                return states
            await asyncio.sleep(0)


async def test_runs_are_carried_out_within_the_bounds():
    world = World(max_calls=2)
    await world.create(6)

    async with world.executing(max_jobs=3) as executor:
        states = await world.ended(6)
        assert executor.active <= 3

    assert set(states) == {ImageRunStatus.COMPLETED}
    assert world.image.most_in_flight <= 2
    assert (world.image.calls, world.judge.calls) == (18, 12)


async def test_a_new_run_is_begun_when_the_executor_is_woken():
    world = World()
    async with world.executing(look_seconds=60) as executor:
        await asyncio.sleep(0)
        await world.create(1)
        executor.wake()

        assert await world.ended(1) == [ImageRunStatus.COMPLETED]


async def test_what_still_runs_is_given_back_and_counts_no_attempt():
    world = World()
    begun = asyncio.Event()

    async def think(*_arguments, **_options):
        begun.set()
        await asyncio.Event().wait()

    world.image.generate, draw = think, world.image.generate
    await world.create(1)
    images = world.images()
    async with world.executing(images):
        await begun.wait()

    state = world.repository.stored_runs["r0"]
    assert (state.owner, state.attempts) == (None, 0)
    assert images.calls.in_flight == 0
    world.image.generate = draw
    async with world.executing():
        assert await world.ended(1) == [ImageRunStatus.COMPLETED]


async def test_a_run_taken_in_the_moment_of_the_end_is_given_back():
    world = World()
    await world.create(1)
    take, asked, answer = world.jobs.acquire, asyncio.Event(), asyncio.Event()

    async def take_slowly(job_id, **options):
        asked.set()
        await answer.wait()
        return await take(job_id, **options)

    world.jobs.acquire = take_slowly
    async with world.executing():
        await asked.wait()
        asyncio.get_running_loop().call_soon(answer.set)

    state = world.repository.stored_runs["r0"]
    assert (state.token, state.owner, state.attempts) == (1, None, 0)


async def test_a_run_that_never_comes_to_its_end_is_not_tried_for_ever():
    world = World()
    await world.create(1)
    world.repository.stored_runs["r0"].attempts = 5

    async with world.executing(max_attempts=5):
        assert await world.ended(1) == [ImageRunStatus.FAILED]

    run = await world.repository.run("r0")
    assert run.error["code"] == "too_many_attempts"
    assert world.image.calls == 0


@pytest.mark.parametrize(
    "error",
    [UnavailableError(what="w", why="y", fix="f", code="database_unavailable"), KeyError("bug")],
)
async def test_a_queue_that_fails_is_looked_at_again(error):
    world = World()
    await world.create(1)
    look, failed = world.jobs.waiting, asyncio.Event()

    async def fail_once(**options):
        if not failed.is_set():
            failed.set()
            raise error
        return await look(**options)

    world.jobs.waiting = fail_once
    async with world.executing(look_seconds=60) as executor:
        await failed.wait()
        await asyncio.sleep(0)
        executor.wake()

        assert await world.ended(1) == [ImageRunStatus.COMPLETED]


async def test_a_run_whose_record_cannot_be_written_is_kept_for_later():
    world = World()
    away = UnavailableError(what="w", why="y", fix="f", code="database_unavailable")
    world.repository.fail_saves = [away]
    await world.create(1)

    async with world.executing() as executor:
        while world.repository.fail_saves or executor.active:
            await asyncio.sleep(0)

    state = world.repository.stored_runs["r0"]
    assert not state.run.status.ended
    # Nobody has it for a while, so that a database that is away is not asked again and again.
    assert 10 < state.expires - world.repository.clock.monotonic() <= 15


async def test_a_cancelled_run_is_stopped_while_its_models_think():
    world, begun = World(), asyncio.Event()

    async def think(*_arguments, **_options):
        begun.set()
        await asyncio.Event().wait()

    world.image.generate = think
    images = world.images()
    await world.create(1, images)
    async with world.executing(images):
        await begun.wait()
        asked = await images.cancel("r0")
        assert asked.cancel_requested

        assert await world.ended(1) == [ImageRunStatus.CANCELLED]


async def test_whoever_listens_hears_of_every_change():
    world, heard = World(), []
    images = world.images()
    images.listeners.append(heard.append)
    await world.create(1, images)

    async with world.executing(images):
        await world.ended(1)

    assert heard == ["r0"] * (await world.repository.run("r0")).revision


async def test_a_run_is_carried_out_in_the_foreground_with_its_progress():
    world, seen = World(), []
    (run_id,) = await world.create(1)

    run = await world.images().execute(run_id, progress=seen.append)

    assert run.status is ImageRunStatus.COMPLETED
    assert seen[-1] == run
    assert [one.revision for one in seen] == sorted({one.revision for one in seen})
    assert await world.images().execute(run_id) == run


async def test_an_upload_is_a_commit_and_its_bytes_come_back():
    world = World()
    images = world.images()
    data = flat_picture("mine", side=400)

    root = await images.upload("p1", data, prompt="mine")
    child = await images.upload("p1", flat_picture("yours"), parent_commit_id=root.commit_id)

    assert await images.image(root.images[0].digest) == (data, "image/png")
    small, kind = await images.image(root.images[0].digest, thumbnail=True)
    assert (kind, len(small) < len(data)) == ("image/webp", True)
    lineage = await images.lineage("p1")
    assert [one.commit_id for one in lineage.commits] == [child.commit_id, root.commit_id]
    assert lineage.edges == ((root.commit_id, child.commit_id),)


async def test_two_commits_are_compared_and_the_map_can_be_had():
    world = World(judge_model="scripted")
    images = world.images()
    left = await images.upload("p1", flat_picture("one"), prompt="one thing")
    right = await images.upload("p1", flat_picture("two"), prompt="two things")

    made = await images.compare(left.commit_id, right.commit_id)

    assert made.changed_share == 1.0
    assert made.wish.prompt == "two things"
    assert world.judge.calls_by_prompt == {"two things": 2}
    assert made.spending.total.calls == 2
    assert await images.repository.comparison(made.comparison_id) == made
    data, kind = await images.image(made.difference_map.digest)
    assert (len(data), kind) == (made.difference_map.size, "image/png")


async def scored_run(world, images, **changes):
    request = make_request(image_model="scripted", judge_model="scripted", n_variants=3, **changes)
    run = await images.create(request)
    return await images.execute(run.run_id)


async def test_a_comparison_of_variants_repeats_the_verdicts_of_their_run():
    """IMG-4: each was judged by its own prompt, and the order of the leaderboard was inverted."""
    world = World()
    scores = iter([0.9, 0.2, 0.5, 0.7])
    world.judge.verdict = lambda _: make_rubric(next(scores))
    images = world.images()
    run = await scored_run(world, images)
    first, second, _ = run.leaderboard

    made = await images.compare(second.commit_id, first.commit_id)

    assert (made.left_rubric, made.right_rubric) == (second.rubric, first.rubric)
    assert made.wish == run.request.wish
    assert (made.judge, made.spending.total.calls) == ("scripted", 0)
    assert world.judge.calls == 3


async def test_nothing_of_a_comparison_is_paid_twice_and_what_is_paid_is_kept():
    """IMG-5: every visit paid for two verdicts, and nothing was recorded."""
    world = World()
    world.judge.cost_usd = 0.25
    images = world.images()
    run = await scored_run(world, images)
    anchor, (first, second, _) = run.anchor_commit_id, run.leaderboard

    made = await images.compare(anchor, first.commit_id)
    again = await images.compare(anchor, first.commit_id)
    swapped = await images.compare(first.commit_id, anchor)
    other = await images.compare(anchor, second.commit_id)

    assert world.judge.calls == 4  # The variants, and the anchor once.
    assert again == made
    assert (swapped.left_rubric, swapped.right_rubric) == (made.right_rubric, made.left_rubric)
    assert [one.spending.total.cost_usd for one in (made, swapped, other)] == [0.25, 0.0, 0.0]


async def test_a_comparison_without_a_judge_is_made_anew_when_it_is_asked_for_again():
    world = World()
    images = world.images()
    run = await scored_run(world, images)
    lost = PaidAnswerError(what="no", why="use", fix="-", usage=Usage(calls=2, cost_usd=1.0))
    world.judge.failures = {4: lost}

    unjudged = await images.compare(run.anchor_commit_id, run.leaderboard[0].commit_id)
    judged = await images.compare(run.anchor_commit_id, run.leaderboard[0].commit_id)

    assert unjudged.left_rubric == NEUTRAL
    assert unjudged.spending.total.cost_usd == 1.0
    assert judged.left_rubric != NEUTRAL


async def test_commits_of_two_runs_are_compared_by_the_wish_of_the_newer():
    world = World()
    images = world.images()
    old = await scored_run(world, images)
    new = await scored_run(
        world, images, base_prompt="a blue door", parent_commit_id=old.leaderboard[0].commit_id
    )

    made = await images.compare(old.leaderboard[0].commit_id, new.leaderboard[0].commit_id)

    assert made.wish == new.request.wish
    assert made.right_rubric == new.leaderboard[0].rubric
    assert world.judge.calls_by_prompt["a blue door"] == 4


async def test_a_contact_sheet_is_drawn_also_when_its_anchor_was_deleted():
    """IMG-16."""
    world = World()
    images = world.images()
    run = await scored_run(world, images)
    await images.repository.delete_commit(run.anchor_commit_id)

    assert (await images.contact_sheet(run.run_id)).startswith(b"\x89PNG")


async def test_rounds_are_stored_runs_and_nothing_is_paid_twice_on_the_way_back():
    world = World()
    request = make_request(image_model="scripted", judge_model="scripted")
    # Every verdict is the same, so nothing is better, unless no margin is asked for.
    budget = RoundsBudget(rounds=2, min_margin=0.0)

    first = await world.images().optimize(request, budget=budget, optimization_id="o1")
    calls = world.image.calls, world.judge.calls
    again = await world.images().optimize(None, budget=budget, optimization_id="o1")

    assert [one.run.run_id for one in first.rounds] == ["o1-01", "o1-02"]
    assert first.rounds[1].run.request.parent_commit_id == first.rounds[0].winner.commit_id
    assert (world.image.calls, world.judge.calls) == calls
    assert again.best_commit_id == first.best_commit_id
    assert [one.margin for one in again.rounds] == [one.margin for one in first.rounds]
    # The anchor of the first round is judged too; what later ones begin with was judged before.
    assert calls == (5, 5)
    assert set(world.judge.calls_by_prompt) == {request.base_prompt}
