"""The overfit alarm: rings for gains by heart, and seldom for luck."""

from __future__ import annotations

import random

import pytest

from burnish.optimizers.gepa.overfit import overfit_alarm, paired_gains


def test_a_gain_on_train_only_rings():
    message = overfit_alarm([1.0] * 12 + [0.0] * 8, [0.0] * 18 + [-1.0, 1.0])

    assert message is not None
    assert "+0.6 on 20 train items" in message
    assert "+0 on 20 validation items" in message


@pytest.mark.parametrize(
    ("train", "validation"),
    [
        ([1.0] * 8 + [0.0] * 12, [1.0] * 7 + [0.0] * 13),  # both gain
        ([0.0] * 20, [-1.0] * 15 + [0.0] * 5),  # no gain at all: bad, but not by heart
        ([0.02] * 200, [0.0] * 200),  # too small to matter
        ([1.0] * 4, [0.0] * 40),  # too few
        ([1.0, 1.0, 0.0, 0.0, 0.0], [0.0] * 5),  # luck
        ([], []),
    ],
)
def test_otherwise_it_stays_quiet(train, validation):
    assert overfit_alarm(train, validation) is None


def test_the_scale_of_the_scores_does_not_matter():
    train, validation = [1.0] * 12 + [0.0] * 8, [0.0] * 20

    assert overfit_alarm(train, validation)
    assert overfit_alarm([100 * one for one in train], validation)
    assert overfit_alarm([one / 5 for one in train], validation)


def test_honest_candidates_seldom_ring():
    def gains(chance, size):
        return [float(chance.choices((-1, 0, 1), (1, 6, 3))[0]) for _ in range(size)]

    rung = 0
    for seed in range(1_000):
        chance = random.Random(f"honest:{seed}")
        sizes = chance.randint(5, 60), chance.randint(5, 60)
        rung += overfit_alarm(gains(chance, sizes[0]), gains(chance, sizes[1])) is not None

    assert rung <= 15


def test_candidates_by_heart_mostly_ring():
    rung = 0
    for seed in range(200):
        chance = random.Random(f"heart:{seed}")
        train = [float(chance.random() < 0.5) for _ in range(30)]
        validation = [float(chance.choices((-1, 0, 1), (1, 8, 1))[0]) for _ in range(40)]
        rung += overfit_alarm(train, validation) is not None

    assert rung >= 180


def test_gains_are_paired_by_item():
    assert paired_gains({"b": 1.0, "a": 0.5, "c": 1.0}, {"a": 0.0, "b": 1.0, "d": 1.0}) == [
        0.5,
        0.0,
    ]
