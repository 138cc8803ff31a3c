"""Kill -9 anywhere, resume, and the result is that of a run that nobody disturbed."""

import asyncio
import os
import random
import signal
import time
from collections import Counter

import pytest
from optimization_world import (
    CONCURRENCY,
    World,
    fingerprint,
    in_child,
    prepare,
    result_of,
    run,
    wait_for,
)

from burnish.app.wiring import Workspace
from burnish.domain import Budget, Overlay
from burnish.optimization.experiments.masks import NAMESPACE
from burnish.storage.engine import failpoints

# Enough for several steps and, in races, for trials that are pruned.
SHORT = {"budget": Budget(max_trials=6)}
MODES = {"plain": SHORT, "racing": {**SHORT, "racing": "aggressive"}}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    found = {}
    for name, options in MODES.items():
        world = World(tmp_path_factory.mktemp(name))
        began = time.monotonic()
        result = fingerprint(asyncio.run(run(world, **options)))
        found[name] = (result, time.monotonic() - began, len(world.calls()))
        statuses = {status for _, status, _ in result["trials"]}
        assert ("pruned" in statuses) is (name == "racing")
    return found


async def left_behind(world):
    """Masks, experiments and result rows after the end."""
    async with Workspace.open(world.db) as workspace:
        masks = await workspace.overlays.list_tags(NAMESPACE, "world")
        experiments = await workspace.experiments.list_experiments(
            limit=1000, optimization_id=world.optimization_id
        )
        events = await workspace.optimizations.list_events(world.optimization_id, limit=10_000)
    return masks, experiments, events


def check(world, expected, calls):
    result = asyncio.run(result_of(world))
    assert fingerprint(result) == expected
    masks, experiments, events = asyncio.run(left_behind(world))
    assert masks == []
    # Every candidate once, and the two confirmations.
    assert len(experiments) == len(result.candidates) + 2
    assert {one.status.value for one in experiments} <= {"completed", "pruned"}
    assert [event.sequence for event in events] == list(range(1, len(events) + 1))
    again = sum(count - 1 for count in Counter(world.calls()).values())
    assert len(world.calls()) - again == calls


async def test_masks_that_a_crash_left_are_swept_away_and_no_others(tmp_path):
    world = World(tmp_path)
    async with Workspace.open(world.db) as workspace:
        optimization = await prepare(world, workspace, budget=Budget(max_trials=1))
        own = await optimization.create()
        for mask in (f"opt-{own}-99", f"opt-{own}0-1"):
            await workspace.overlays.put(
                NAMESPACE, "world", mask, Overlay(sections={"system": "x"})
            )

        await optimization.run(own)
        await optimization.close()

        assert await workspace.overlays.list_tags(NAMESPACE, "world") == [f"opt-{own}0-1"]


def kill_and_resume(world, options, seconds):
    """One kill after some time, then to the end; how often an item was paid again."""
    child = in_child(lambda: asyncio.run(run(world, **options)))
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    wait_for(child)
    assert wait_for(in_child(lambda: asyncio.run(run(world, **options)))) == 0


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("part", range(3))
def test_a_run_killed_at_random_moments_ends_as_if_nothing_had_happened(
    mode, part, undisturbed, tmp_path
):
    expected, seconds, calls = undisturbed[mode]
    draw = random.Random(f"{mode}{part}")
    for number in range(5):
        folder = tmp_path / str(number)
        folder.mkdir()
        slow = number == 4
        world = World(folder, item_seconds=0.03 if slow else 0.002)

        kill_and_resume(world, MODES[mode], draw.random() * seconds)

        check(world, expected, calls)
        if slow:
            # What was under way, and what ended while the last results were being written.
            again = sum(count - 1 for count in Counter(world.calls()).values())
            assert again <= 4 * CONCURRENCY


def places(tmp_path):
    """Every place that a run passes, in order."""
    seen = []
    failpoints.on_reach = seen.append
    try:
        asyncio.run(run(World(tmp_path), **SHORT))
    finally:
        failpoints.on_reach = None
    return seen


def killed(folder, place, at):
    """The world of a run that was killed there.

    How many writes the results take depends on how fast they come; one that needed fewer is run
    anew and killed earlier.
    """
    while True:
        world = World(folder / str(at))
        world.folder.mkdir(parents=True)
        ended = wait_for(in_child(lambda: die_at(world, place, at)))  # noqa: B023
        if ended == -signal.SIGKILL:
            return world
        assert ended == 0
        assert at > 1, f"{place} was never passed"
        at //= 2


def test_a_run_killed_at_every_kind_of_write_ends_as_if_nothing_had_happened(undisturbed, tmp_path):
    expected, _, calls = undisturbed["plain"]
    (tmp_path / "probe").mkdir()
    passed = places(tmp_path / "probe")
    kinds = Counter(passed)
    assert {place.split(":")[0].split(".")[-1] for place in kinds} >= {
        "create_optimization",
        "acquire_lease",
        "save_status",
        "save_step",
        "save_trial",
        "save_checkpoint",
        "create_experiment",
        "save_results",
        "update_experiment",
        "put",
        "delete",
    }
    draw = random.Random(7)
    for index, (place, times) in enumerate(sorted(kinds.items())):
        if "create_optimization" in place:
            continue  # Nothing to resume before it is there; the next test has it.
        world = killed(tmp_path / str(index), place, draw.randint(1, times))
        if world.optimization_id is None:
            continue
        assert wait_for(in_child(lambda: asyncio.run(run(world, **SHORT)))) == 0, place  # noqa: B023

        check(world, expected, calls)


def die_at(world, place, at):
    passed = Counter()

    def reach(name):
        passed[name] += 1
        if name == place and passed[name] == at:
            os.kill(os.getpid(), signal.SIGKILL)

    failpoints.on_reach = reach
    asyncio.run(run(world, **SHORT))
