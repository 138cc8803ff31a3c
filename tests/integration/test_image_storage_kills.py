"""A small image run, killed before and after each of its writes, and gone on with."""

import asyncio
import json
import shutil

import pytest
from tests.support.child_processes import children, line

from burnish.storage import Database

# For every place that an undisturbed run passes: a run that dies there, and another that goes on.
KILLED = """
import asyncio, json, os, signal, sys
from dataclasses import replace
from pathlib import Path
from burnish.domain.images.runs import ImageRunStatus as Status, VariantStatus
from burnish.storage import Database, LocalImageFiles, SqlImageRepository
from burnish.storage.engine import failpoints
from tests.support.image_samples import digest_of, make_commit, make_request, make_variant

addresses, folder = json.loads(sys.argv[1]), Path(sys.argv[2])

async def run(number):
    async with await Database.open(addresses[number]) as database:
        images = SqlImageRepository(database)
        files = LocalImageFiles(folder / str(number))
        await images.create_run("r1", make_request())
        # The one before is dead: its lease of no time has run out.
        taken = await images.take_run(owner="a", seconds=0)
        if taken is not None:
            await go_on(images, files, taken.run, taken.token)
        run = await images.run("r1")
        commits = (await images.commits("p1")).items
        for one in commits:
            assert await files.get(one.images[0].digest) == one.commit_id.encode()
        return [run.status.value, [one.commit_id for one in run.variants],
                sorted([one.commit_id, one.score] for one in commits)]

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

def in_child(work):
    child = os.fork()
    if not child:
        try:
            work()
        except BaseException as error:
            print(repr(error), flush=True)
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

def die_at(number, place):
    passed = []
    def reach(name):
        passed.append(name)
        if len(passed) == place:
            os.kill(os.getpid(), signal.SIGKILL)
    failpoints.on_reach = reach
    asyncio.run(run(number))

def undisturbed():
    passed = []
    failpoints.on_reach = passed.append
    found = asyncio.run(run(0))
    (folder / "expected").write_text(json.dumps([passed, found]))

def compare(number):
    found = asyncio.run(run(number))
    assert found == expected, (passed[number - 1], found)

assert in_child(undisturbed) == 0
passed, expected = json.loads((folder / "expected").read_text())
print(json.dumps([passed, expected]), flush=True)
for number in range(1, len(passed) + 1):
    died = in_child(lambda: die_at(number, number))
    print(passed[number - 1], died, in_child(lambda: compare(number)), flush=True)
"""

PLACES = 2 * 2 + 2 * (3 + 2) + 2 * 2


@pytest.fixture
def addresses(tmp_path):
    first = tmp_path / "0.db"
    asyncio.run(_make(first))
    others = [shutil.copy(first, tmp_path / f"{n}.db") for n in range(1, PLACES + 1)]
    return list(map(str, (first, *others)))


async def _make(address):
    await (await Database.open(address)).close()


def test_a_run_killed_at_any_write_goes_on_and_doubles_no_commit(addresses, tmp_path):
    with children(KILLED, [(json.dumps(addresses), str(tmp_path))]) as (parent,):
        passed, expected = json.loads(line(parent))
        assert expected == ["completed", ["c0", "c1"], [["c0", 0.5], ["c1", 0.5]]]
        assert len(passed) == PLACES
        assert {place.split(":")[0] for place in passed} == {
            "SqlImageRepository.create_run",
            "SqlImageRepository.take_run",
            "LocalImageFiles.put",
            "SqlImageRepository.save_run",
        }
        for place in passed:
            assert line(parent) == f"{place} -9 0"
