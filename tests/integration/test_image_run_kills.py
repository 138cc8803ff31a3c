"""Kill -9 in every stage of an image run: another goes on, and draws nothing that was saved again."""

import asyncio
import json
import shutil

import pytest
from tests.support.child_processes import children, line

from burnish.storage import Database

# Forks a run that dies at each place that an undisturbed one passes, and another that goes on.
KILLED = """
import asyncio, json, os, signal, sys
from collections import Counter
from pathlib import Path
from burnish.bootstrap import image_sitting
from burnish.app.images.models import ImageModels
from burnish.app.images.runs import ImageRuns
from burnish.app.images.settings import ImageSettings
from burnish.app.images.runs import execute
from burnish.app.wiring import Workspace
from burnish.domain.images.runs import VariantStatus
from burnish.images.models.scripted import ScriptedImageJudge, ScriptedImageModel, flat_picture
from burnish.storage.engine import failpoints
from tests.support.image_samples import make_request

template, folder = Path(sys.argv[1]), Path(sys.argv[2])
LEASE = 0.06
image_sitting._LOOK_SECONDS = 0.02


def logged(place, prompt):
    with (place / "calls.log").open("a") as log:
        log.write(json.dumps(prompt) + "\\n")
    return flat_picture(prompt)


async def run(place):
    database = str(place / "burnish.db")
    settings = ImageSettings(folder=place)
    async with Workspace.open(database) as workspace:
        models = ImageModels(
            settings,
            workspace.model,
            drawing={"scripted": ScriptedImageModel(picture=lambda one: logged(place, one))},
            judging={"scripted": ScriptedImageJudge()},
        )
        async with ImageRuns.open(workspace, database, settings, models=models) as images:
            wish = make_request(image_model="scripted", judge_model="scripted", n_variants=3)
            await images.create(wish, run_id="r1")
            ended = await execute(images, "r1", lambda _: None, lease_seconds=LEASE)
            commits = (await images.commits("p1")).items
            for one in commits:
                await images.image(one.images[0].digest)
            told = [ended.status.value, ended.top_k, sorted(one.commit_id for one in commits)]
            told += [{name: one.calls for name, one in ended.spending.by_purpose.items()}]
    (place / "told.json").write_text(json.dumps(told))


async def stored(place):
    async with Workspace.open(str(place / "burnish.db")) as workspace:
        run = await workspace.images.run("r1")
        drawn = [one.variant_prompt for one in run.variants if one.image]
        drawn += [run.request.base_prompt] if run.anchor_commit_id else []
        (place / "stored.json").write_text(json.dumps([run.status.value, drawn]))


async def go_on(place):
    await stored(place)
    await run(place)


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


def passing(place, seen):
    def reach(name):
        seen.append(name)
        if "create_run" not in name:
            with (place / "places.log").open("a") as log:
                log.write(name + "\\n")

    failpoints.on_reach = reach
    asyncio.run(run(place))


def dying(place, name, count):
    passed = Counter()

    def reach(at):
        passed[at] += 1
        if at == name and passed[at] == count:
            os.kill(os.getpid(), signal.SIGKILL)

    failpoints.on_reach = reach
    asyncio.run(run(place))


def fresh(name):
    place = folder / name
    place.mkdir()
    (place / "burnish.db").write_bytes(template.read_bytes())
    return place


def calls(place):
    log = place / "calls.log"
    return Counter(json.loads(one) for one in log.read_text().splitlines()) if log.exists() else {}


probe = fresh("probe")
assert in_child(lambda: passing(probe, [])) == 0
expected = json.loads((probe / "told.json").read_text())
places = Counter((probe / "places.log").read_text().splitlines())
stages = set()
for name, times in sorted(places.items()):
    # After every write of the run or a file: in between nothing is stored.
    wanted = name.endswith(":after") and name.split(".")[1][:4] in ("save", "put:", "take")
    for count in range(1, times + 1) if wanted else ():
        for _ in range(4):
            place = fresh(f"{len(list(folder.iterdir()))}")
            died = in_child(lambda: dying(place, name, count))
            if died != 0:
                break
        if died == 0:
            continue  # Writes at the same moment are one: such a run takes fewer.
        assert died == -signal.SIGKILL, (name, died)
        assert in_child(lambda: asyncio.run(go_on(place))) == 0, name
        status, drawn = json.loads((place / "stored.json").read_text())
        stages.add(status)
        told = json.loads((place / "told.json").read_text())
        assert told[:3] == expected[:3], (name, count, told, expected)
        for prompt in drawn:
            assert calls(place)[prompt] == 1, (name, count, prompt)
print(json.dumps([sorted(stages), expected]), flush=True)
"""


@pytest.fixture
def template(tmp_path):
    """A database as it is before anything was asked for."""

    async def make():
        async with await Database.open(str(tmp_path / "template.db")):
            pass

    asyncio.run(make())
    return tmp_path / "template.db"


def test_a_run_killed_in_any_stage_goes_on_and_draws_nothing_twice(template, tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    with children(KILLED, [(str(template), str(folder))]) as (child,):
        stages, expected = json.loads(line(child))

    assert {"queued", "planning", "generating", "evaluating", "refining"} <= set(stages)
    assert expected[0] == "completed"
    assert len(expected[2]) == 4
    shutil.rmtree(folder)
