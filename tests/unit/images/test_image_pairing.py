"""Variants compared in pairs: ranks, order, ties, failures, and what is not asked twice."""

import asyncio

import pytest
from image_world import TIMEOUT, World

from burnish.domain import PaidAnswerError, Usage
from burnish.domain.images.runs import ANCHOR, ImageRunStatus
from burnish.evaluation.pairwise import bradley_terry
from burnish.images.models.scripted import ScriptedImageJudge, ScriptedImageModel, flat_picture

COMPLETED, DEGRADED = ImageRunStatus.COMPLETED, ImageRunStatus.COMPLETED_DEGRADED


async def by_hash(world, run):
    """Ids of the variants, that of the picture of the largest hash first."""
    return sorted(
        (one.variant_id for one in run.variants),
        key={one.variant_id: one.image.digest for one in run.variants}.get,
        reverse=True,
    )


async def test_the_pairs_rank_and_the_best_is_compared_with_the_anchor():
    world = World()

    run = await world.run(pairwise=True)

    scores = {one.composite_score for one in run.variants}
    ids = [one.variant_id for one in run.leaderboard]
    assert len(scores) == 1 and ids == await by_hash(world, run)
    best, _, last = run.leaderboard
    assert [one.value for one in last.pairwise.preferences] == [0.0, 0.0]
    assert {one.other for one in best.pairwise.preferences} == {ANCHOR, *ids[1:]}
    # Three pairs and the anchor, each in both orders.
    assert world.judge.choices == 2 * (3 + 1)
    assert run.spending.to_json()["by_purpose"]["judge"]["calls"] == 3 + 8
    told = {(a, b): [1.0] for n, a in enumerate(ids) for b in ids[n + 1 :]}
    for one, strength in zip(run.leaderboard, bradley_terry(told), strict=True):
        assert one.win_rate == pytest.approx(strength.win_rate)
        assert one.pairwise.interval == (strength.interval.low, strength.interval.high)


async def test_pairs_stand_above_scores():
    plain = await World().run()
    picked = plain.leaderboard[-1].image.digest
    best = next(one.variant_prompt for one in plain.variants if one.image.digest == picked)
    judge = ScriptedImageJudge(
        winner=lambda a, b: (
            "A" if a == flat_picture(best) else "B" if b == flat_picture(best) else "tie"
        )
    )

    run = await World(judge=judge).run(pairwise=True)

    assert run.leaderboard[0].variant_prompt == best != plain.leaderboard[0].variant_prompt
    assert run.leaderboard[1].win_rate == run.leaderboard[2].win_rate < run.leaderboard[0].win_rate


@pytest.mark.parametrize("always", ["A", "B"])
async def test_a_judge_that_goes_by_the_order_decides_nothing(always):
    world = World(judge=ScriptedImageJudge(winner=lambda _a, _b: always))

    run = await world.run(pairwise=True)

    told = [one.value for variant in run.variants for one in variant.pairwise.preferences]
    assert set(told) == {0.5} and len({round(one.win_rate, 9) for one in run.variants}) == 1
    assert [one.variant_id for one in run.leaderboard] == [one.variant_id for one in run.variants]
    assert "undecided" in run.variants[0].pairwise.preferences[0].reason


async def test_equal_pictures_are_a_tie_that_nobody_is_asked_for():
    world = World(image=ScriptedImageModel(picture=lambda _: flat_picture("one and the same")))

    run = await world.run(pairwise=True)

    assert (world.judge.choices, run.status) == (0, COMPLETED)
    assert {one.value for v in run.variants for one in v.pairwise.preferences} == {0.5}


async def test_a_pair_without_a_verdict_degrades_the_run_and_what_it_cost_is_paid():
    world = World(judge=ScriptedImageJudge(cost_usd=0.01))
    asked = world.judge.choose
    down = PaidAnswerError.of(TIMEOUT, Usage(calls=1, cost_usd=0.5))
    failing = []

    async def choose(first, second, prompt, **limits):
        pair = {first, second}
        failing.append(pair) if not failing else None
        if pair == failing[0]:
            raise down
        return await asked(first, second, prompt, **limits)

    world.judge.choose = choose

    run = await world.run(pairwise=True)

    assert run.status is DEGRADED
    assert run.degradations == (
        "v01 and v02 were not compared: it cannot be reached: it took too long",
    )
    assert run.variants[0].pairwise.against("v02").value is None
    # The other two pairs tie all three together.
    assert all(one.win_rate is not None for one in run.variants)
    assert run.spending.total.cost_usd == pytest.approx(0.01 * (3 + 2 * 3) + 2 * 0.5)


async def test_without_a_single_verdict_scores_rank():
    world = World()

    async def choose(*_, **__):
        raise ValueError("a bug")

    world.judge.choose = choose

    run = await world.run(pairwise=True)

    assert (run.status, len(run.leaderboard)) == (DEGRADED, 3)
    assert all(one.win_rate is None for one in run.variants)
    assert "the judge scripted-judge failed: ValueError: a bug" in run.degradations[0]


async def test_no_pair_that_was_stored_is_asked_for_again():
    world = World(judge=ScriptedImageJudge())
    asked, stopped = world.judge.choose, asyncio.Event()

    async def choose(*pictures, **limits):
        if world.judge.choices == 4:
            stopped.set()
            await asyncio.Event().wait()
        return await asked(*pictures, **limits)

    world.judge.choose = choose
    leased = await world.take(pairwise=True)
    work = asyncio.ensure_future(world.pipeline.run(leased))
    await stopped.wait()
    while not any(one.pairwise for one in world.told[-1].variants):
        await asyncio.sleep(0)
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)
    kept = sum(len(v.pairwise.preferences) for v in world.told[-1].variants if v.pairwise) // 2
    world.judge.choose, world.judge.choices = asked, 0

    run = await world.pipeline.run(
        leased.__class__(run=await world.repository.run("r1"), token=leased.token, attempts=2)
    )

    assert kept > 0 and world.judge.choices == 2 * (3 - kept + 1)
    assert [one.variant_id for one in run.leaderboard] == await by_hash(world, run)


async def test_runs_that_do_not_ask_for_it_compare_nothing():
    world = World()

    run = await world.run()

    assert world.judge.choices == 0
    assert all(one.pairwise is None for one in run.variants)
