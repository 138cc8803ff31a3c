"""Kill -9 in every stage of an image run: another goes on, and draws nothing that was saved again."""

import asyncio
import json
import os
import shutil
import signal
from collections import Counter

import pytest
from optimization_world import in_child, wait_for
from tests.support.image_samples import make_request

from burnish.app.images import runs as image_runs
from burnish.app.images.models import ImageModels
from burnish.app.images.runs import ImageRuns
from burnish.app.images.settings import ImageSettings
from burnish.app.wiring import Workspace
from burnish.domain.images.runs import ImageRunStatus
from burnish.images import pictures
from burnish.images.constraint_text import with_constraints
from burnish.images.models.scripted import ScriptedImageJudge, ScriptedImageModel, flat_picture
from burnish.storage import Database, LocalImageFiles, SqlImageJobs, SqlImageRepository
from burnish.support.threads import DaemonThreads

# What dies has a lease that is over at once; what goes on has one that no slow machine outlasts.
SHORT, LONG = 0.06, 300.0


def _in(status):
    return lambda run: run.status is status


def _with(count, known):
    return lambda run: sum(known(one) for one in run.variants) >= count


def _drawn(count):
    return _with(count, lambda one: one.image is not None)


def _judged(count):
    return _with(count, lambda one: one.composite_score is not None)


def _paired(count):
    """So many pairs: three of variants, each told at both, and that with the anchor."""

    def holds(run):
        told = [one.other for v in run.variants if v.pairwise for one in v.pairwise.preferences]
        return (len(told) + told.count("anchor")) / 2 >= count

    return holds


# The first stored run of which this holds, and the stage it is in. Pictures and verdicts come
# together or one by one, so each is a moment from which on there are so many.
MOMENTS = {
    "planning": ("planning", _in(ImageRunStatus.PLANNING)),
    "planned": ("planning", lambda run: len(run.variants) > 0),
    "generating": ("generating", _in(ImageRunStatus.GENERATING)),
    "anchored": ("generating", lambda run: run.anchor_commit_id is not None),
    **{f"drawn {count}": ("generating", _drawn(count)) for count in (1, 2, 3)},
    "evaluating": ("evaluating", _in(ImageRunStatus.EVALUATING)),
    **{f"judged {count}": ("evaluating", _judged(count)) for count in (1, 2, 3)},
    **{f"paired {count}": ("evaluating", _paired(count)) for count in (1, 3, 4)},
    "refining": ("refining", _in(ImageRunStatus.REFINING)),
    "ended": ("completed", lambda run: run.status.ended),
}
# The anchor and three variants: each is put once, and before the run tells of it.
PUTS = {f"put {count}": count for count in (1, 2, 3, 4)}


def logged(place, prompt):
    with (place / "calls.log").open("a") as log:
        log.write(json.dumps(prompt) + "\n")
    return flat_picture(prompt)


async def carry_out(place, lease_seconds):
    database, settings = str(place / "burnish.db"), ImageSettings(folder=place)
    drawing = ScriptedImageModel(picture=lambda prompt: logged(place, prompt))
    async with Workspace.open(database) as workspace:
        models = ImageModels(
            settings,
            workspace.model,
            drawing={"scripted": drawing},
            judging={"scripted": ScriptedImageJudge()},
        )
        async with ImageRuns.open(workspace, database, settings, models=models) as images:
            named = {"image_model": "scripted", "judge_model": "scripted"}
            wish = make_request(**named, n_variants=3, pairwise=True)
            await images.create(wish, run_id="r1")
            ended = await images.execute("r1", lease_seconds=lease_seconds)
            commits = (await images.repository.commits("p1")).items
            for one in commits:
                await images.image(one.images[0].digest)
            return [ended.status.value, ended.top_k, sorted(one.commit_id for one in commits)]


async def stored(place):
    """The stage that a killed run was left in, and the prompts of the pictures it has."""
    async with await Database.open(str(place / "burnish.db")) as database:
        run = await SqlImageRepository(database).run("r1")
    drawn = [one.variant_prompt for one in run.variants if one.image]
    first = with_constraints(run.request.base_prompt, run.request.constraints)
    return run.status.value, drawn + [first] * bool(run.anchor_commit_id)


def die_when(method, holds):
    """The process ends as soon as the method has returned something of which this holds."""

    async def deadly(*arguments, **options):
        returned = await method(*arguments, **options)
        if holds(returned):
            os.kill(os.getpid(), signal.SIGKILL)
        return returned

    return deadly


def die_at(place, moment):
    if moment == "taken":
        SqlImageJobs.acquire = die_when(SqlImageJobs.acquire, lambda job: job is not None)
    elif moment in PUTS:
        done = []
        LocalImageFiles.put = die_when(
            LocalImageFiles.put, lambda _: done.append(1) or len(done) == PUTS[moment]
        )
    else:
        SqlImageRepository.save_run = die_when(SqlImageRepository.save_run, MOMENTS[moment][1])
    # A fork has none of the threads that its parent's pools count on.
    pictures._background = DaemonThreads(1)
    asyncio.run(carry_out(place, SHORT))


def stage_of(moment):
    if moment in PUTS:
        return "generating"
    return "queued" if moment == "taken" else MOMENTS[moment][0]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A database as it is before anything was asked for, and what a run comes to that nobody kills."""
    folder = tmp_path_factory.mktemp("image_kills")

    async def make():
        await (await Database.open(str(folder / "burnish.db"))).close()
        shutil.copytree(folder, folder / "undisturbed")
        return await carry_out(folder / "undisturbed", LONG)

    status, best, commits = asyncio.run(make())
    assert status == "completed"
    assert len(commits) == 4
    return folder / "burnish.db", [status, best, commits]


@pytest.mark.parametrize("moment", ["taken", *PUTS, *MOMENTS])
def test_a_run_killed_in_any_stage_goes_on_and_draws_nothing_twice(
    moment, world, tmp_path, monkeypatch
):
    template, expected = world
    shutil.copy(template, tmp_path)
    monkeypatch.setattr(image_runs, "_LOOK_SECONDS", 0.02)

    assert wait_for(in_child(lambda: die_at(tmp_path, moment))) == -signal.SIGKILL
    stage, drawn = asyncio.run(stored(tmp_path))
    told = asyncio.run(carry_out(tmp_path, LONG))

    assert stage == stage_of(moment)
    assert told == expected
    paid = Counter(map(json.loads, (tmp_path / "calls.log").read_text().splitlines()))
    assert [paid[prompt] for prompt in drawn] == [1] * len(drawn)
