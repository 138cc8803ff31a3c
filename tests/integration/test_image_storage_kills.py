"""A small image run, killed before and after each of its writes, and gone on with."""

import asyncio
import os
import shutil
import signal
from dataclasses import replace

import pytest
from optimization_world import in_child, wait_for
from tests.support.image_leases import take_run
from tests.support.image_samples import digest_of, make_commit, make_request, make_variant

from burnish.domain.images.runs import ImageRunStatus as Status
from burnish.storage import Database, LocalImageFiles, SqlImageRepository
from burnish.storage.engine import failpoints


async def carry_out(place):
    async with await Database.open(str(place / "burnish.db")) as database:
        images = SqlImageRepository(database)
        files = LocalImageFiles(place / "files")
        await images.create_run("r1", make_request())
        # The one before is dead: its lease of no time has run out.
        taken = await take_run(images, owner="a", seconds=0)
        if taken is not None:
            await go_on(images, files, taken.run, taken.token)
        run = await images.run("r1")
        commits = (await images.commits("p1")).items
        for one in commits:
            assert await files.get(one.images[0].digest) == one.commit_id.encode()
    scores = sorted([one.commit_id, one.score] for one in commits)
    return [run.status.value, [one.commit_id for one in run.variants], scores]


async def go_on(images, files, run, token):
    for number in range(len(run.variants), 2):
        name = f"c{number}"
        await files.put(digest_of(name.encode()), name.encode())
        drawn = make_variant(number, commit_id=name, composite_score=None)
        commit = make_commit(name, run_id="r1", variant_id=drawn.variant_id)
        run = replace(run, variants=(*run.variants, drawn), status=Status.GENERATING)
        run = await images.save_run(run, token=token, commits=[commit])
    scored = tuple(replace(one, composite_score=0.5) for one in run.variants)
    run = await images.save_run(replace(run, variants=scored), token=token)
    await images.save_run(replace(run, status=Status.COMPLETED), token=token)


# One write after the other, so this is the order in which every run passes them.
WRITE = ("before", "after")
WRITES = [
    ("SqlImageRepository.create_run", WRITE),
    ("SqlJobs.acquire", WRITE),
    *[
        ("LocalImageFiles.put", ("before", "unfinished", "after")),
        ("SqlImageRepository.save_run", WRITE),
    ]
    * 2,
    *[("SqlImageRepository.save_run", WRITE)] * 2,
]
PLACES = [f"{method}:{when}" for method, places in WRITES for when in places]


def die_at(place, number):
    passed = []

    def reach(name):
        passed.append(name)
        if len(passed) > number:
            assert name == PLACES[number]
            os.kill(os.getpid(), signal.SIGKILL)

    failpoints.on_reach = reach
    asyncio.run(carry_out(place))


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A database with all tables and no rows."""
    path = tmp_path_factory.mktemp("image_storage") / "burnish.db"

    async def make():
        await (await Database.open(str(path))).close()

    asyncio.run(make())
    return path


def test_an_undisturbed_run_passes_each_place(template, tmp_path, monkeypatch):
    shutil.copy(template, tmp_path)
    passed = []
    monkeypatch.setattr(failpoints, "on_reach", passed.append)

    told = asyncio.run(carry_out(tmp_path))

    assert told == ["completed", ["c0", "c1"], [["c0", 0.5], ["c1", 0.5]]]
    assert passed == PLACES


@pytest.mark.parametrize("number", range(len(PLACES)), ids=lambda n: f"{n}-{PLACES[n]}")
def test_a_run_killed_at_any_write_goes_on_and_doubles_no_commit(number, template, tmp_path):
    shutil.copy(template, tmp_path)

    assert wait_for(in_child(lambda: die_at(tmp_path, number))) == -signal.SIGKILL

    told = asyncio.run(carry_out(tmp_path))
    assert told == ["completed", ["c0", "c1"], [["c0", 0.5], ["c1", 0.5]]]
