"""Curves and the numbers that are made of them."""

import json

import pytest

from burnish.benchmarks.curves import Curve, Point
from burnish.benchmarks.summary import rivalries, standings
from burnish.benchmarks.wall_time import Pace, pace_ratios


def curve(points, *, optimizer="gepa", seed=0, budget=700, reflections=5):
    return Curve(
        world="rules",
        optimizer=optimizer,
        seed=seed,
        budget=budget,
        start=0.1,
        maximum=0.8,
        calls=budget,
        reflections=reflections,
        seconds=1.0,
        points=[Point(calls=calls, expectation=value) for calls, value in points],
    )


def test_a_curve_tells_what_was_held_for_best_when():
    seen = curve([(60, 0.1), (200, 0.5), (300, 0.74), (650, 0.6)])

    assert [seen.at(calls) for calls in (0, 60, 250, 300, 700)] == [0.1, 0.1, 0.5, 0.74, 0.6]
    assert seen.calls_to(0.9) == 300
    assert seen.share == pytest.approx(0.75)
    assert Curve.of(json.loads(json.dumps(seen.to_json()))) == seen


def test_what_comes_after_the_budget_does_not_count():
    late = curve([(60, 0.1), (690, 0.4), (720, 0.8)])

    assert late.final == 0.4
    assert late.calls_to(0.9) is None


def test_a_standing_counts_a_seed_that_never_got_there_with_the_whole_budget():
    good, bad = [(100, 0.8)], [(100, 0.4)]

    [row] = standings([curve(good, seed=0), curve(good, seed=1), curve(bad, seed=2)])
    [worse] = standings([curve(good, seed=0), curve(bad, seed=1)])

    assert (row.calls_to_goal, row.reached, row.never) == (100, pytest.approx(2 / 3), False)
    assert (row.share, row.lowest, row.highest) == (1.0, 0.5, 1.0)
    assert (worse.calls_to_goal, worse.never) == (400, True)


def test_a_rivalry_compares_medians_and_says_when_it_is_a_bound():
    rows = standings(
        [
            curve([(100, 0.8)]),
            curve([(400, 0.76)], optimizer="gepa_package"),
            curve([(100, 0.4)], budget=4_000),
            curve([(400, 0.76)], optimizer="gepa_package", budget=4_000),
        ]
    )

    small, large = rivalries(rows, "gepa", "gepa_package")

    assert (small.calls_ratio, small.bounded) == (0.25, False)
    assert small.share_difference == pytest.approx(0.05)
    assert (large.calls_ratio, large.bounded) == (10.0, True)


def test_paces_are_compared_with_the_last_one():
    def pace(name, milliseconds):
        return Pace(
            contestant=name,
            evaluations=1,
            reflections=1,
            seconds=1.0,
            milliseconds_an_evaluation=milliseconds,
        )

    assert pace_ratios([pace("alone", 200.0), pace("pooled", 20.0), pace("gepa", 30.0)]) == {
        "alone": 0.15,
        "pooled": 1.5,
    }
    assert pace_ratios([]) == {}
