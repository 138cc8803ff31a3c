"""Racing: how often a good candidate is ended wrongly, and what losers save."""

import random

import pytest

from burnish.optimization.racing import Racing, RacingMode, wealth

ITEMS = [f"i{n}" for n in range(80)]


def race(racing, candidate, incumbent, *, seed):
    """(ended early, items run) of one trial with fixed item scores."""
    blocks = racing.blocks(ITEMS, seed=seed)
    order = [item for block in blocks for item in block]
    scores = {}
    for number, block in enumerate(blocks, start=1):
        scores.update({item: candidate[item] for item in block})
        if number < len(blocks) and racing.hopeless(scores, incumbent, order=order):
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
def test_an_equal_candidate_is_rarely_bet_out(mode, alpha, rate):
    """Ville's bound for the betting rule alone; the certain rule makes no errors."""
    racing = Racing(mode=mode)
    wrong = 0
    runs = 400
    for seed in range(runs):
        rng = random.Random(seed)
        differences = [
            float(rng.random() < rate) - float(rng.random() < rate) for _ in range(len(ITEMS))
        ]
        looks = range(racing.block_size, len(ITEMS) + 1, racing.block_size)
        wrong += any(wealth(differences[:look]) >= 1 / alpha for look in looks)

    assert wrong / runs <= alpha


def test_a_better_candidate_is_almost_never_ended():
    ended, _ = share_ended(RacingMode.CONSERVATIVE, 0.8, 0.65)

    assert ended <= 0.02


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

    reason = racing.hopeless({ITEMS[0]: 1.0}, incumbent, order=ITEMS)

    assert reason is not None
    assert "even with full marks" in reason


def test_off_means_one_block_and_no_end():
    racing = Racing(mode=RacingMode.OFF)
    losing = dict.fromkeys(ITEMS[:40], 0.0)

    assert racing.blocks(ITEMS, seed=1) == [tuple(ITEMS)]
    assert racing.hopeless(losing, dict.fromkeys(ITEMS, 1.0), order=ITEMS) is None


def test_blocks_depend_on_the_seed_and_not_on_the_order_given():
    racing = Racing(mode=RacingMode.CONSERVATIVE, block_size=7)
    turned = list(reversed(ITEMS))

    blocks = racing.blocks(ITEMS, seed=3)

    assert blocks == racing.blocks(turned, seed=3)
    assert blocks != racing.blocks(ITEMS, seed=4)
    assert sorted(item for block in blocks for item in block) == sorted(ITEMS)
    assert {len(block) for block in blocks[:-1]} == {7}


def test_graded_scores_beyond_one_are_scaled():
    assert wealth([-20.0] * 10) == pytest.approx(wealth([-1.0] * 10))
    assert wealth([]) == 1.0
