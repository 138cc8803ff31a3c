"""The front: what no other candidate beats, ties, and measures that nobody knows."""

import random

from hypothesis import given
from hypothesis import strategies as st
from tests.support.line_counts import lines_run

from burnish.optimization.objective import Measures, Point, front

NAMES = ("tokens", "cost")


def point(number, score, tokens=None, cost=None):
    return Point(
        candidate_id=f"o-{number}",
        number=number,
        score=score,
        measures=Measures(tokens=tokens, cost_usd=cost),
    )


def numbers(points):
    return [one.number for one in points]


def dominates(one, other):
    """Word for word what a front is about, for points whose measures are known."""
    pairs = [(one.measures.of_name(name), other.measures.of_name(name)) for name in NAMES]
    as_good = one.score >= other.score and all(own <= its for own, its in pairs)
    return as_good and (one.score > other.score or any(own < its for own, its in pairs))


def test_what_another_beats_on_both_is_not_on_it():
    points = [point(0, 0.5, 100), point(1, 0.9, 300), point(2, 0.8, 300), point(3, 0.4, 200)]

    assert numbers(front(points, ["tokens"])) == [0, 1]


def test_it_goes_from_cheap_to_dear():
    points = [point(0, 0.9, 300), point(1, 0.1, 10), point(2, 0.5, 100)]

    assert numbers(front(points, ["tokens"])) == [1, 2, 0]


def test_of_points_that_are_alike_the_earliest_stays():
    points = [point(2, 0.5, 100), point(0, 0.5, 100), point(1, 0.5 + 1e-12, 100)]

    assert numbers(front(points, ["tokens"])) == [0]


def test_equal_scores_leave_the_cheapest_and_equal_measures_the_best():
    points = [point(0, 0.5, 100), point(1, 0.5, 90), point(2, 0.7, 120), point(3, 0.6, 120)]

    assert numbers(front(points, ["tokens"])) == [1, 2]


def test_an_unknown_measure_is_dearer_than_any_known_one():
    points = [point(0, 0.5, None), point(1, 0.5, 1e9), point(2, 0.6, None), point(3, 0.4, 10)]

    assert numbers(front(points, ["tokens"])) == [3, 1, 2]


def test_where_nothing_is_known_only_the_best_score_is_left():
    points = [point(0, 0.5), point(1, 0.7), point(2, 0.7)]

    assert numbers(front(points, ["tokens"])) == [1]


def test_with_two_measures_being_best_in_one_is_enough():
    points = [point(0, 0.5, 100, 5.0), point(1, 0.5, 200, 1.0), point(2, 0.5, 200, 5.0)]

    assert numbers(front(points, NAMES)) == [0, 1]


def test_nothing_has_an_empty_front():
    assert front([], ["tokens"]) == ()


small = st.integers(0, 5).map(float)


@given(st.lists(st.tuples(small, small, small), max_size=25))
def test_it_is_what_no_other_point_dominates(values):
    points = [point(number, *value) for number, value in enumerate(values)]

    found = front(points, NAMES)

    expected = [one for one in points if not any(dominates(other, one) for other in points)]
    first = {(one.score, one.measures): one for one in reversed(expected)}
    assert sorted(numbers(found)) == sorted(numbers(first.values()))


def test_four_times_as_many_points_take_far_less_than_sixteen_times_as_long():
    draw = random.Random(1)
    points = [point(n, draw.random(), draw.random(), draw.random()) for n in range(2_000)]

    few, all_of_them = (lines_run(lambda n=n: front(points[:n], NAMES)) for n in (500, 2_000))

    assert all_of_them < 8 * few
