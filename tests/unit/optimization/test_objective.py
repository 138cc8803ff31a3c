"""What counts besides the score: read, refused, weighed, chosen."""

from dataclasses import replace

import pytest

from burnish.config.search import SearchSpec
from burnish.domain import ExperimentType, UsageError
from burnish.optimization.objective import (
    Measures,
    Objective,
    Point,
    Ranking,
    read_objective,
)
from burnish.optimization.racing import RacingMode
from burnish.optimization.trial_index import TrialIndex
from burnish.testing.samples.optimizations import make_candidate, make_trial

BASELINE = Measures(tokens=100.0, cost_usd=0.2, latency_ms=50.0)


def point(number, score, **measures):
    return Point(
        candidate_id=f"o1-{number}", number=number, score=score, measures=Measures(**measures)
    )


def ranking(objective, baseline=BASELINE):
    return Ranking(objective=read_objective(objective), baseline=baseline)


@pytest.mark.parametrize(
    ("table", "kind", "measures"),
    [
        (None, "score", ()),
        ({}, "score", ()),
        ({"cost": 0.1}, "weighted", ("cost",)),
        ({"latency": 1, "tokens": 0.5}, "weighted", ("tokens", "latency")),
        ({"pareto": ["latency", "tokens"]}, "pareto", ("latency", "tokens")),
        ({"pareto": "tokens", "tolerance": 0}, "pareto", ("tokens",)),
    ],
    ids=str,
)
def test_an_objective_is_weights_or_a_front(table, kind, measures):
    objective = read_objective(table)

    assert (objective.kind, objective.measures) == (kind, measures)
    assert Objective.of_json(objective.to_json()) == objective
    assert (objective.perfect_score is None) == bool(measures)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("tokens", "not a table"),
        ({"token": 0.1}, "did you mean 'tokens'"),
        ({"latncy": 0.1}, "did you mean 'latency'"),
        ({"preto": ["tokens"]}, "did you mean 'pareto'"),
        ({"score": 1.0}, "the score always counts"),
        ({"cost": 0}, "not a number above 0"),
        ({"cost": -0.1}, "not a number above 0"),
        ({"cost": True}, "not a number above 0"),
        ({"cost": float("nan")}, "not a number above 0"),
        ({"cost": "0.1"}, "not a number above 0"),
        ({"pareto": []}, "not a list of measures"),
        ({"pareto": 3}, "not a list of measures"),
        ({"pareto": ["tokns"]}, "did you mean 'tokens'"),
        ({"pareto": [["tokens"]]}, "pareto names"),
        ({"pareto": ["tokens", "tokens"]}, "twice"),
        ({"pareto": ["tokens"], "tolerance": -1}, "not a number from 0 up"),
        ({"pareto": ["tokens"], "cost": 0.1}, "keep one of them"),
        ({"tolerance": 0.1}, "none is asked for"),
    ],
    ids=str,
)
def test_a_wrong_objective_is_refused_with_what_is_wrong(table, words):
    with pytest.raises(UsageError) as caught:
        SearchSpec.of({"objective": table})

    error = caught.value
    assert words in f"{error.why} {error.fix}"
    assert (error.code, error.exit_code) == ("invalid_optimizer", 2)


def test_utility_is_the_score_less_the_weighed_changes():
    weighed = ranking({"tokens": 0.1, "latency": 0.2})

    assert weighed.merit(point(0, 0.5, tokens=100, latency_ms=50)) == 0.5
    assert weighed.merit(point(1, 0.5, tokens=50, latency_ms=50)) == pytest.approx(0.55)
    assert weighed.merit(point(2, 0.5, tokens=200, latency_ms=25)) == pytest.approx(0.5)
    assert weighed.merit(point(3, 0.5, tokens=300, latency_ms=50)) == pytest.approx(0.3)
    assert weighed.merit(point(4, 0.9, latency_ms=1)) is None


@pytest.mark.parametrize(
    ("equals", "chosen"),
    [
        ([(1, 150, 0.1, 9), (2, 138, 0.2, 9)], 2),
        ([(1, 150, 0.2, 9), (2, 150, 0.1, 9)], 2),
        ([(1, 150, 0.1, 9), (2, 150, 0.1, 8)], 2),
        ([(1, None, None, 9), (2, None, None, 8)], 2),
        ([(1, None, None, 8), (2, None, None, 8)], 1),
    ],
    ids=["tokens", "cost", "length", "length where nothing is measured", "the earlier"],
)
def test_of_equal_scores_the_cheaper_wins_and_is_on_the_front(equals, chosen):
    points = [point(0, 0.5, tokens=1)] + [
        replace(point(number, 0.9 + 1e-12 * number, tokens=tokens, cost_usd=cost), length=length)
        for number, tokens, cost, length in equals
    ]

    best = ranking(None).best(points)

    assert best.number == chosen
    assert best in ranking(None).front(points)


def test_a_cheaper_one_that_is_no_better_leaves_the_baseline_the_winner():
    points = [point(0, 0.9, tokens=100), point(1, 0.9, tokens=50), point(2, 0.5, tokens=1)]

    assert ranking(None).best(points).number == 0


def test_the_best_by_weights_is_that_of_the_highest_utility_and_of_equals_the_earliest():
    points = [
        point(0, 0.50, tokens=100),
        point(1, 0.58, tokens=200),
        point(2, 0.46, tokens=50),
        point(3, 0.51, tokens=100),
        point(4, 0.99),
    ]

    assert ranking({"tokens": 0.1}).best(points).number == 2
    assert ranking({"tokens": 0.01}).best(points).number == 1
    assert ranking({"tokens": 0.1}).best([]) is None


@pytest.mark.parametrize(
    ("tolerance", "chosen"), [(0.0, 1), (0.01, 1), (0.02, 3), (0.1, 2), (1.0, 4)]
)
def test_of_a_front_the_cheapest_that_scores_well_enough_is_chosen(tolerance, chosen):
    points = [
        point(0, 0.50, tokens=100),
        point(1, 0.90, tokens=900),
        point(2, 0.80, tokens=300),
        point(3, 0.88, tokens=400),
        point(4, 0.10, tokens=10),
        point(5, 0.88, tokens=401),
    ]
    front = ranking({"pareto": ["tokens"], "tolerance": tolerance})

    assert front.best(points).number == chosen


def test_the_first_measure_of_a_front_leads():
    points = [
        point(0, 0.9, tokens=100, latency_ms=50),
        point(1, 0.9, tokens=50, latency_ms=90),
        point(2, 0.9, tokens=200, latency_ms=10),
    ]

    assert ranking({"pareto": ["tokens", "latency"]}).best(points).number == 1
    assert ranking({"pareto": ["latency", "tokens"]}).best(points).number == 2


@pytest.mark.parametrize(
    ("table", "baseline", "words"),
    [
        ({"tokens": 0.1}, Measures(), "reports no usage"),
        ({"pareto": ["tokens"]}, Measures(), "reports no usage"),
        ({"cost": 0.1}, Measures(tokens=5.0), "price of a model is not known"),
        ({"cost": 0.1}, Measures(cost_usd=0.0), "is 0"),
    ],
    ids=str,
)
def test_what_cannot_be_measured_is_refused_and_never_0(table, baseline, words):
    with pytest.raises(UsageError) as caught:
        read_objective(table).require(baseline)

    assert words in caught.value.why
    assert caught.value.code == "unmeasured_objective"


def test_what_is_measured_is_fine():
    read_objective({"tokens": 0.1, "cost": 1, "latency": 1}).require(BASELINE)
    read_objective({"pareto": ["cost"]}).require(Measures(cost_usd=0.0))
    read_objective(None).require(Measures())


def test_races_are_off_where_more_counts_than_the_score():
    plain = SearchSpec.of({"racing": "aggressive"})
    weighed = SearchSpec.of({"racing": "aggressive", "objective": {"tokens": 0.1}})
    unraced = SearchSpec.of({"objective": {"tokens": 0.1}})

    assert (plain.racing_in_effect, plain.notes) == (RacingMode.AGGRESSIVE, ())
    assert weighed.racing_in_effect is RacingMode.OFF
    assert "racing is off" in weighed.notes[0]
    assert unraced.notes == ()


def trial(number, score, tokens, **changes):
    summary = replace(make_trial().summary, avg_tokens=tokens)
    return make_trial(number, objective_score=score, summary=summary, **changes)


def book_of(objective, *trials):
    trial_index = TrialIndex("o1", read_objective(objective))
    trial_index.add_candidates([make_candidate(number) for number in range(4)])
    trial_index.observe(trials)
    return trial_index


def test_an_optimizer_sees_utilities_and_the_book_keeps_scores():
    small = trial(2, 0.5, 50, experiment_id="b", type=ExperimentType.MINI_BATCH)
    trials = [trial(0, 0.5, 100), trial(1, 0.6, 300), small, trial(3, 0.9, None)]
    trial_index = book_of({"tokens": 0.1}, *trials)

    seen = trial_index.as_seen(trial_index.in_order())

    assert [one.objective_score for one in seen] == [0.5, pytest.approx(0.4), 0.55, None]
    assert [one.objective_score for one in trial_index.in_order()] == [0.5, 0.6, 0.5, 0.9]
    assert trial_index.best().candidate_id == "o1-0"


def test_without_weights_an_optimizer_sees_the_very_results():
    trials = [trial(0, 0.5, 100), trial(1, 0.6, 300)]
    trial_index = book_of({"pareto": ["tokens"], "tolerance": 0.2}, *trials)

    assert all(one is given for one, given in zip(trial_index.as_seen(trials), trials, strict=True))
    assert trial_index.best().candidate_id == "o1-0"
    assert book_of(None, *trials).best().candidate_id == "o1-1"
