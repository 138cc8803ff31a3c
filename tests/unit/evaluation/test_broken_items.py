"""Items that passed and fail: broken beyond their pass rate, flaky within it, or not told yet."""

import math

import pytest

from burnish.evaluation.broken_items import (
    LEVEL,
    RERUNS,
    Passes,
    Standing,
    broken_items,
    chance_of,
    to_run_again,
)


def standing(before, now):
    found = broken_items({"a": Passes(*before)}, {"a": Passes(*now)}).changes
    return found[0].standing if found else None


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        ((1, 1), (1, 1), None),
        ((0, 3), (0, 5), None),  # It never passed, so nothing broke.
        ((1, 1), (0, 1), Standing.UNDECIDED),
        ((1, 1), (0, 5), Standing.BROKEN),
        ((1, 1), (1, 5), Standing.FLAKY),
        ((5, 5), (1, 3), Standing.FLAKY),
        ((5, 5), (0, 2), Standing.BROKEN),
        ((1, 2), (0, 1), Standing.FLAKY),  # Known as flaky: judged by its rate.
        ((3, 5), (0, 5), Standing.BROKEN),
        ((1, 1), (0, 0), Standing.UNDECIDED),  # Nobody answered: that is no pass.
    ],
)
def test_failures_count_beyond_what_the_pass_rate_explains(before, now, expected):
    assert standing(before, now) is expected


def test_flaky_items_are_named_and_hold_up_nothing():
    before = {"a": Passes(1, 1), "b": Passes(1, 1), "c": Passes(1, 1)}
    flaky = broken_items(before, {"a": Passes(2, 5), "c": Passes(5, 5)})
    broken = broken_items(before, {"a": Passes(2, 5), "b": Passes(0, 5)})

    assert flaky.passed and not broken.passed
    assert flaky.item_ids == () and broken.item_ids == ("b",)
    assert (
        "1 item flaky" in flaky.in_words() and "a (1 of 1 before, 2 of 5 now)" in flaky.in_words()
    )
    assert "b (1 of 1 before, 0 of 5 now)" in broken.in_words()
    assert [one["standing"] for one in broken.to_json()["items"]] == ["flaky", "broken"]


def test_an_item_is_run_again_only_while_more_runs_may_change_its_standing():
    before = {"a": Passes(1, 1), "b": Passes(1, 1), "c": Passes(0, 1), "d": Passes(5, 5)}
    now = {"a": Passes(0, 1), "b": Passes(1, 2), "c": Passes(0, 1), "d": Passes(0, 4)}

    assert to_run_again(before, now, 1 + RERUNS) == ["a"]
    assert to_run_again(before, now, 1) == []


def of_binomial(n, p):
    return [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]


def test_the_chances_of_all_outcomes_make_one():
    now = [chance_of(Passes(3, 4), Passes(k, 5)) for k in range(6)]

    assert now == sorted(now)
    assert now[-1] == pytest.approx(1)


@pytest.mark.parametrize("runs", [1, 3, 5])
def test_an_item_that_did_not_change_is_seldom_called_broken(runs):
    """Whatever its pass rate is: averaged over rates as likely, and at the worst of them."""
    most = 1 + RERUNS
    rates = [step / 200 for step in range(1, 200)]
    alarms = [
        sum(
            chance * again
            for k, chance in enumerate(of_binomial(runs, rate))
            for j, again in enumerate(of_binomial(most, rate))
            if k and standing((k, runs), (j, most)) is Standing.BROKEN
        )
        for rate in rates
    ]

    assert sum(alarms) / len(alarms) < LEVEL
    assert max(alarms) < 0.07
