"""Racing: how often a good candidate is ended wrongly, and what losers save."""

import asyncio
import random

import pytest

from burnish.optimization.experiments.step_race import StepRace
from burnish.optimization.racing import Racing, RacingMode, chances_of_best

ITEMS = [f"i{n}" for n in range(80)]


def race(racing, candidate, incumbent, *, seed):
    """(ended early, items run) of one trial with fixed item scores."""
    blocks = racing.blocks(ITEMS, seed=seed)
    order = [item for block in blocks for item in block]
    scores = {}
    for number, block in enumerate(blocks, start=1):
        scores.update({item: candidate[item] for item in block})
        if number < len(blocks) and racing.ended({"": scores}, incumbent, order=order):
            return True, len(scores)
    return False, len(scores)


def draw(rng, rate):
    return {item: float(rng.random() < rate) for item in ITEMS}


def share_ended(mode, candidate_rate, incumbent_rate, runs=400):
    racing = Racing(mode=mode)
    ended = items = 0
    for seed in range(runs):
        rng = random.Random(seed)
        lost, used = race(racing, draw(rng, candidate_rate), draw(rng, incumbent_rate), seed=seed)
        ended += lost
        items += used
    return ended / runs, items / runs / len(ITEMS)


@pytest.mark.parametrize(
    ("mode", "alpha"), [(RacingMode.CONSERVATIVE, 0.05), (RacingMode.AGGRESSIVE, 0.2)]
)
@pytest.mark.parametrize("rate", [0.5, 0.7, 0.9])
def test_who_is_ended_would_rarely_have_won(mode, alpha, rate):
    """Of all kinds of candidates that are ended, at most a share of alpha would have ended ahead."""
    racing = Racing(mode=mode)
    ended = ahead = 0
    for seed in range(400):
        rng = random.Random(seed)
        candidate, incumbent = draw(rng, rng.random()), draw(rng, rate)
        lost, _ = race(racing, candidate, incumbent, seed=seed)
        ended += lost
        ahead += lost and sum(candidate.values()) > sum(incumbent.values())

    assert ended >= 100
    assert ahead / ended <= alpha


def test_a_better_candidate_is_almost_never_ended():
    ended, _ = share_ended(RacingMode.CONSERVATIVE, 0.8, 0.65)

    assert ended <= 0.03


def test_a_clearly_worse_candidate_saves_most_of_its_items():
    ended, used = share_ended(RacingMode.CONSERVATIVE, 0.5, 0.8)
    eager_ended, eager_used = share_ended(RacingMode.AGGRESSIVE, 0.5, 0.8)

    assert ended >= 0.9
    assert used <= 0.6
    assert eager_ended >= ended
    assert eager_used <= used


def test_the_certain_rule_ends_what_cannot_win_any_more():
    incumbent = dict.fromkeys(ITEMS, 1.0)
    racing = Racing(mode=RacingMode.CONSERVATIVE)

    ended = racing.ended({"a": {ITEMS[0]: 1.0}, "b": {}}, incumbent, order=ITEMS)

    assert "even with full marks" in ended["a"]


def test_off_means_one_block_and_no_end():
    racing = Racing(mode=RacingMode.OFF)
    losing = dict.fromkeys(ITEMS[:40], 0.0)

    assert racing.blocks(ITEMS, seed=1) == [tuple(ITEMS)]
    assert racing.ended({"a": losing}, dict.fromkeys(ITEMS, 1.0), order=ITEMS) == {}


def test_blocks_depend_on_the_seed_and_not_on_the_order_given():
    racing = Racing(mode=RacingMode.CONSERVATIVE, block_size=7)
    turned = list(reversed(ITEMS))

    blocks = racing.blocks(ITEMS, seed=3)

    assert blocks == racing.blocks(turned, seed=3)
    assert blocks != racing.blocks(ITEMS, seed=4)
    assert sorted(item for block in blocks for item in block) == sorted(ITEMS)
    assert {len(block) for block in blocks[:-1]} == {7}


def test_chances_do_not_depend_on_the_scale_of_scores_nor_on_hard_items():
    rows = [[0.2, 0.9, 0.4], [0.3, 1.0, 0.6], [0.1, 0.5, 0.4]]
    wide = [
        [20 * score + hard for score, hard in zip(row, (0, 70, -5), strict=True)] for row in rows
    ]

    plain = chances_of_best(rows, left=5, spread=0.1)

    assert sum(plain) == pytest.approx(1)
    assert plain.index(max(plain)) == 1
    assert chances_of_best(wide, left=5, spread=40.0) == pytest.approx(plain)


def test_equals_without_noise_have_equal_chances():
    assert chances_of_best([[1.0, 1.0]] * 4, left=6, spread=0.0) == pytest.approx([0.25] * 4)


def test_trials_that_race_each_other_end_sooner_than_against_the_incumbent_alone():
    """A rival that does much better says that a trial is not the best, though the incumbent is not."""
    racing = Racing(mode=RacingMode.AGGRESSIVE)
    incumbent = {item: number % 2 for number, item in enumerate(ITEMS)}
    weak = {item: 1 - incumbent[item] for item in ITEMS[:16]}
    strong = dict.fromkeys(ITEMS[:16], 1)

    alone = racing.ended({"weak": weak}, incumbent, order=ITEMS)
    together = racing.ended({"weak": weak, "strong": strong}, incumbent, order=ITEMS)

    assert alone == {}
    assert list(together) == ["weak"]
    assert "best of 3" in together["weak"]


ORDER = [f"i{n}" for n in range(8)]
INCUMBENT = dict.fromkeys(ORDER, 0.5)
SCORES = {
    "weak": dict(zip(ORDER, (0.1, 0.0, 0.2, 0.1, 0.0, 0.1, 0.2, 0.1), strict=True)),
    "strong": dict(zip(ORDER, (0.9, 0.8, 1.0, 0.9, 0.8, 0.9, 1.0, 0.9), strict=True)),
}


async def looks(race, member, upto=7):
    """After how many items a member ends, and why."""
    for number in range(1, upto + 1):
        reached = {item: SCORES[member][item] for item in ORDER[:number]}
        reason = await race.after_block(member, reached, INCUMBENT, ORDER)
        if reason is not None:
            race.leave(member)
            return number, reason
    race.leave(member)
    return upto + 1, None


async def test_trials_of_a_step_wait_for_each_other():
    race = StepRace(Racing(mode=RacingMode.AGGRESSIVE, block_size=1), ["strong", "weak"])
    first = asyncio.create_task(looks(race, "strong"))
    for _ in range(5):
        await asyncio.sleep(0)

    assert not first.done()

    weak = await looks(race, "weak")
    assert weak[0] < 8
    assert (await first) == (8, None)


async def test_a_trial_that_is_gone_is_not_waited_for():
    race = StepRace(Racing(mode=RacingMode.AGGRESSIVE, block_size=1), ["strong", "weak"])
    task = asyncio.create_task(looks(race, "strong"))
    await asyncio.sleep(0)

    race.leave("weak")

    assert (await task) == (8, None)


async def test_a_continued_step_decides_as_before():
    """A trial that ended in an earlier attempt still takes part with what it scored."""
    racing = Racing(mode=RacingMode.AGGRESSIVE, block_size=1)
    race = StepRace(racing, ["strong", "weak"])
    strong, weak = await asyncio.gather(looks(race, "strong"), looks(race, "weak"))
    blocks = [(item,) for item in ORDER]

    again = StepRace(racing, ["strong", "weak"])
    again.add_ended("strong", SCORES["strong"], blocks)

    assert strong == (8, None)
    assert await looks(again, "weak") == weak
