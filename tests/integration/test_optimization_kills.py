"""Kill -9 anywhere, resume, and the result is that of a run that nobody disturbed."""

import asyncio
import random
from collections import Counter

import pytest
from kills import die_at_write, die_in_call, die_once_stored, killed
from optimization_world import CONCURRENCY, World, fingerprint, prepare, run

from burnish.app.optimize.optimizations import load_result
from burnish.app.wiring import Workspace
from burnish.domain import Budget, Overlay
from burnish.optimization.experiments.masks import NAMESPACE
from burnish.storage.engine import failpoints

# Enough for several steps and, in races, for trials that are pruned.
SHORT = {"budget": Budget(max_trials=6)}
MODES = {"plain": SHORT, "racing": {**SHORT, "racing": "aggressive"}}
# How often a run of six trials makes each write. Only the results of an experiment may come in
# fewer or in more, and at least once for each.
WRITES = {
    "_add_few": 1,
    "create_optimization": 1,
    "acquire_lease": 1,
    "save_status": 2,
    "save_step": 3,
    "save_trial": 14,
    "save_checkpoint": 4,
    "create_experiment": 9,
    "save_results": 9,
    "update_experiment": 9,
    "put": 9,
    "delete": 9,
    "release_lease": 1,
}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """By mode: the result, how often the agent is called, and the writes."""
    found = {}
    for name, options in MODES.items():
        world, passed = World(tmp_path_factory.mktemp(name)), []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(failpoints, "on_reach", passed.append)
            result = fingerprint(asyncio.run(run(world, **options)))
        found[name] = (result, len(world.calls()), passed)
        statuses = {status for _, status, _ in result["trials"]}
        assert ("pruned" in statuses) is (name == "racing")
    return found


async def stored(world):
    """The result, and the masks, experiments and events that are there after the end."""
    async with Workspace.open(world.db) as workspace:
        result = await load_result(workspace, world.optimization_id)
        masks = await workspace.overlays.list_tags(NAMESPACE, "world")
        experiments = await workspace.experiments.list_experiments(
            limit=1000, optimization_id=world.optimization_id
        )
        events = await workspace.optimizations.list_events(world.optimization_id, limit=10_000)
    return result, masks, experiments, events


def resume_and_check(world, mode, undisturbed):
    """Go on to the end; how many calls were paid again."""
    expected, calls, _ = undisturbed[mode]
    asyncio.run(run(world, **MODES[mode]))

    result, masks, experiments, events = asyncio.run(stored(world))
    assert fingerprint(result) == expected
    assert masks == []
    # Every candidate once, and the two confirmations.
    assert len(experiments) == len(result.candidates) + 2
    assert {one.status.value for one in experiments} <= {"completed", "pruned"}
    assert [event.sequence for event in events] == list(range(1, len(events) + 1))
    again = sum(count - 1 for count in Counter(world.calls()).values())
    assert len(world.calls()) - again == calls
    return again


async def test_masks_that_a_crash_left_are_swept_away_and_no_others(tmp_path):
    world = World(tmp_path)
    async with Workspace.open(world.db) as workspace:
        optimization = await prepare(world, workspace, budget=Budget(max_trials=1))
        own = (await optimization.create()).id
        for mask in (f"opt-{own}-99", f"opt-{own}0-1"):
            await workspace.overlays.put(
                NAMESPACE, "world", mask, Overlay(sections={"system": "x"})
            )

        await optimization.run(own)
        await optimization.close()

        assert await workspace.overlays.list_tags(NAMESPACE, "world") == [f"opt-{own}0-1"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("part", range(5))
def test_a_run_killed_in_any_call_ends_as_if_nothing_had_happened(
    mode, part, undisturbed, tmp_path
):
    world = World(tmp_path)
    _, calls, _ = undisturbed[mode]
    # A call in each part of the run, so that none is left out.
    number = 1 + int((part + random.Random(f"{mode}{part}").random()) / 5 * calls)

    def work():
        die_in_call(world, number)
        asyncio.run(run(world, **MODES[mode]))

    killed(work)

    resume_and_check(world, mode, undisturbed)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("number", [11, 70, -24])
def test_what_was_stored_is_not_paid_again(mode, number, undisturbed, tmp_path):
    """In the baseline, in a trial, and where the 24 calls of the confirmation begin."""
    world = World(tmp_path)
    if number < 0:
        number += undisturbed[mode][1]

    def work():
        die_once_stored(world, number)
        asyncio.run(run(world, **MODES[mode]))

    killed(work)
    under_way = len(world.calls()) - (number - 1)

    assert resume_and_check(world, mode, undisturbed) == under_way
    assert 1 <= under_way <= CONCURRENCY


def test_a_run_makes_each_kind_of_write(undisturbed):
    _, _, passed = undisturbed["plain"]

    made = Counter(place.rpartition(".")[2] for place in passed)

    assert (
        made.pop("save_results:before") == made.pop("save_results:after") >= WRITES["save_results"]
    )
    assert made == {
        f"{name}:{when}": times
        for name, times in WRITES.items()
        for when in ("before", "after")
        if name != "save_results"
    }


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("name", WRITES)
def test_a_run_killed_at_every_kind_of_write_ends_as_if_nothing_had_happened(
    name, when, undisturbed, tmp_path
):
    world = World(tmp_path)
    number = random.Random(f"{name}{when}").randint(1, WRITES[name])

    def work():
        die_at_write(f"{name}:{when}", number)
        asyncio.run(run(world, **SHORT))

    killed(work)

    # Nobody can go on with what has no id yet: then it is another run, in the same database.
    assert (world.optimization_id is None) is (name in ("_add_few", "create_optimization"))
    resume_and_check(world, "plain", undisturbed)
