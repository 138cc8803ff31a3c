"""Runs that a limit on calls, tokens or dollars ends: still confirmed, and within the limit."""

import asyncio
import math
from dataclasses import replace

import pytest
from optimization_world import (
    CONCURRENCY,
    Climber,
    World,
    agent_of,
    fingerprint,
    hang_from,
    run,
    suite,
)

import burnish
from burnish.app.optimize.optimizations import Optimization
from burnish.app.wiring import Workspace
from burnish.config.search import SearchSpec
from burnish.domain import Purpose, Spending
from burnish.optimization.experiments.local_adapter import LocalBlocks

PRICE = 0.001


def paying(world):
    """The world's agent, whose answers take one call and some tokens each."""
    answer = agent_of(world).run

    async def run(configuration, item):
        output = await answer(configuration, item)
        # Longer prompts take more, and items differ.
        tokens = 200 + len(configuration["sections"]["system"]) + item["n"] % 7
        usage = burnish.Usage(calls=1, input_tokens=tokens, output_tokens=1, cost_usd=PRICE)
        return replace(output, spending=Spending.on(Purpose.AGENT, usage))

    return replace(agent_of(world), run=run)


async def search(world, *, seed=5, **limits):
    async with Workspace.open(world.db) as workspace:
        optimization = Optimization(
            workspace,
            paying(world),
            suite(),
            SearchSpec(optimizer=Climber(), seed=seed),
            burnish.Budget(**limits),
        )
        try:
            if world.optimization_id is None:
                world.id_file.write_text((await optimization.create()).id)
            return await optimization.run(world.optimization_id)
        finally:
            await optimization.close()


# The baseline's trial and one of each candidate take 20 calls; the confirmation takes 24.
@pytest.mark.parametrize("limit", [81, 97, 100, 104, 119, 140, 163])
async def test_a_run_limited_by_calls_ends_confirmed_and_within_the_limit(limit, tmp_path):
    world = World(tmp_path)

    result = await search(world, max_calls=limit)

    document = result.to_json()
    assert document["stop_reason"] == "budget"
    assert document["test"]["items"] == 12
    assert len(world.calls()) == document["usage"]["calls"] <= limit
    # Less than a trial was left, and half a confirmation where the baseline is the best.
    assert len(world.calls()) > limit - 20 - 12


@pytest.mark.parametrize(
    "limits",
    [*({"max_tokens": 30_000 + 1117 * n} for n in range(6)), {"max_cost_usd": 0.1334}],
)
async def test_tokens_and_dollars_leave_room_for_the_confirmation_too(limits, tmp_path):
    result = await search(World(tmp_path), **limits)

    document = result.to_json()
    usage = document["usage"]
    assert document["stop_reason"] == "budget"
    assert document["test"]["items"] == 12
    # A run that is under way can take a little more than was expected of it.
    tokens = usage["input_tokens"] + usage["output_tokens"]
    assert tokens <= 1.01 * limits.get("max_tokens", math.inf)
    assert usage["cost_usd"] <= limits.get("max_cost_usd", math.inf) + 1e-9


async def test_an_interrupted_run_keeps_back_the_same(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    expected = fingerprint(await search(World(tmp_path / "a"), max_calls=130))
    world = World(tmp_path / "b")
    for calls in (10, 50, 90):
        hang_from(world, calls)
        task = asyncio.create_task(search(world, max_calls=130))
        while len(world.calls()) < calls and not task.done():
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    world.on_call = None

    result = await search(world, max_calls=130)

    assert expected["test"] is not None
    assert fingerprint(result) == expected


@pytest.mark.parametrize("limits", [{"max_evaluations": 60}, {"max_calls": 60}])
async def test_where_all_test_items_do_not_fit_a_drawn_part_of_them_is_compared(limits, tmp_path):
    """Baseline and one trial take 40 of 60; all 12 items twice would take 24."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    result = await search(World(tmp_path / "a"), seed=3, **limits)
    world = World(tmp_path / "b")
    # Stopped in the midst of the confirmation.
    hang_from(world, 45)
    task = asyncio.create_task(search(world, seed=3, **limits))
    while len(world.calls()) < 45 and not task.done():
        await asyncio.sleep(0.005)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    world.on_call = None
    resumed = await search(world, seed=3, **limits)

    document = result.to_json()
    assert document["test"]["items"] == 10
    assert document["test"]["of_items"] == 12
    assert result.improvement.held_out
    assert result.improvement.detectable > 0.2
    assert "of 12 held-out items (the budget left room for no more)" in document["confirmation"]
    assert fingerprint(resumed) == fingerprint(result)


async def test_both_arms_of_the_confirmation_run_block_by_block_together(tmp_path, monkeypatch):
    """No arm begins a block before the other has run the one before: outside both meet the same."""
    told = []
    evaluate = LocalBlocks.run

    async def noted(self, block):
        if block.experiment.metadata.get("role") != "confirmation":
            return await evaluate(self, block)
        told.append(("begin", block.experiment.id, [one.id for one in block.items]))
        await evaluate(self, block)
        return told.append(("end", block.experiment.id, [one.id for one in block.items]))

    monkeypatch.setattr(LocalBlocks, "run", noted)
    await run(World(tmp_path))

    arms = {arm for _, arm, _ in told}
    begun = {arm: [ids for what, of, ids in told if (what, of) == ("begin", arm)] for arm in arms}
    assert len(arms) == 2
    assert all([len(ids) for ids in blocks] == [CONCURRENCY] * 3 for blocks in begun.values())
    assert len({str(blocks) for blocks in begun.values()}) == 1
    ended = dict.fromkeys(arms, 0)
    started = dict.fromkeys(arms, 0)
    for what, arm, _ in told:
        if what == "begin":
            assert all(many >= started[arm] for many in ended.values())
        counted = started if what == "begin" else ended
        counted[arm] += 1


async def test_how_many_runs_were_in_flight_stands_with_each_experiment(tmp_path):
    world = World(tmp_path)
    await run(world)

    async with Workspace.open(world.db) as workspace:
        found = await workspace.experiments.list_experiments(
            limit=50, optimization_id=world.optimization_id
        )
    assert len(found) == 15
    for one in found:
        assert 1 <= one.metadata["in_flight"]["mean"] <= one.metadata["in_flight"]["most"]
        assert one.metadata["in_flight"]["most"] <= CONCURRENCY
