"""Intervals and paired tests: against brute force, in simulations, and under invariances."""

from __future__ import annotations

import math
import random
from itertools import product
from statistics import fmean, pstdev, variance

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.domain import UsageError
from burnish.evaluation.power import detectable_gain, detectable_words
from burnish.evaluation.statistics import (
    Interval,
    RunningScore,
    bootstrap_interval,
    chance_of_gain,
    mean_interval,
    paired_permutation_test,
    rate_interval,
    score_interval,
    wilson_interval,
)

scores = st.floats(0, 1, allow_nan=False).map(lambda value: round(value, 3))


def brute_force_p(before, after):
    """Every sign pattern, in exact integers of a thousandth."""
    changes = [round((b - a) * 1000) for a, b in zip(before, after, strict=True)]
    changes = [change for change in changes if change]
    reached = abs(sum(changes))
    sums = [
        abs(sum(sign * change for sign, change in zip(signs, changes, strict=True)))
        for signs in product((1, -1), repeat=len(changes))
    ]
    return sum(total >= reached for total in sums) / len(sums)


class TestWilson:
    @pytest.mark.parametrize(
        ("passed", "total", "low", "high"),
        [(8, 10, 0.4901625, 0.9433178), (0, 10, 0.0, 0.2775328), (50, 100, 0.4038315, 0.5961685)],
    )
    def test_agrees_with_published_values(self, passed, total, low, high):
        interval = wilson_interval(passed, total)

        assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-6)

    @given(st.integers(0, 400), st.integers(1, 400), st.sampled_from([0.8, 0.95, 0.999]))
    def test_holds_the_rate_and_mirrors(self, passed, total, confidence):
        passed = min(passed, total)

        interval = wilson_interval(passed, total, confidence)
        mirrored = wilson_interval(total - passed, total, confidence)

        assert 0 <= interval.low <= passed / total <= interval.high <= 1
        assert interval.low == pytest.approx(1 - mirrored.high, abs=1e-12)

    def test_is_everything_when_nothing_ran(self):
        assert wilson_interval(0, 0) == Interval(0.0, 1.0, 0.95)

    @pytest.mark.parametrize(("passed", "total"), [(-1, 3), (4, 3)])
    def test_refuses_what_is_no_rate(self, passed, total):
        with pytest.raises(UsageError, match="not a rate"):
            wilson_interval(passed, total)

    @pytest.mark.parametrize("rate", [0.05, 0.5, 0.9])
    def test_covers_the_true_rate(self, rate):
        """The exact chance that the interval holds the rate, on average over sample sizes."""
        covered = []
        for total in range(20, 60):
            held = 0.0
            for passed in range(total + 1):
                interval = wilson_interval(passed, total)
                if interval.low <= rate <= interval.high:
                    chance = math.comb(total, passed) * rate**passed
                    held += chance * (1 - rate) ** (total - passed)
            covered.append(held)

        assert fmean(covered) == pytest.approx(0.95, abs=0.02)
        assert min(covered) > 0.87


class TestBootstrap:
    @given(st.lists(scores, min_size=1, max_size=40), st.integers(0, 5))
    @settings(max_examples=30, deadline=None)
    def test_lies_within_the_data_and_ignores_order(self, values, seed):
        interval = bootstrap_interval(values, seed=seed, resamples=100)
        reversed_too = bootstrap_interval(values[::-1], seed=seed, resamples=100)

        assert min(values) <= interval.low <= interval.high <= max(values)
        assert interval == reversed_too

    def test_is_the_same_for_the_same_seed_only(self):
        values = [value / 37 for value in range(37)]

        first = bootstrap_interval(values, seed=1)

        assert first == bootstrap_interval(values, seed=1)
        assert first != bootstrap_interval(values, seed=2)
        assert first.low == pytest.approx(bootstrap_interval(values, seed=2).low, abs=0.02)

    def test_two_values_agree_with_resampling_them(self):
        values = [0.0] * 30 + [1.0] * 50
        nudged = [0.0] * 29 + [1e-9] + [1.0] * 50  # a third value: no longer binomial

        exact = bootstrap_interval(values, seed=3)
        resampled = bootstrap_interval(nudged, seed=3, resamples=12_000)

        assert (exact.low, exact.high) == pytest.approx((resampled.low, resampled.high), abs=0.013)

    def test_the_limit_agrees_with_resampling(self):
        rng = random.Random(5)
        values = [rng.random() ** 4 for _ in range(400)]

        resampled = bootstrap_interval(values, seed=1, resamples=2_500)
        limit = bootstrap_interval(values, seed=1, resamples=2_501)

        deviation = pstdev(values) / math.sqrt(len(values))
        assert limit.low == pytest.approx(resampled.low, abs=0.15 * deviation)
        assert limit.high == pytest.approx(resampled.high, abs=0.15 * deviation)

    @pytest.mark.parametrize("size", [12, 40])
    def test_covers_the_true_mean(self, size):
        rng = random.Random(11)
        runs = 400

        held = 0
        for seed in range(runs):
            values = [rng.random() for _ in range(size)]
            interval = bootstrap_interval(values, seed=seed, resamples=300)
            held += interval.low <= 0.5 <= interval.high

        assert 0.92 <= held / runs <= 0.98

    def test_a_higher_confidence_is_wider(self):
        values = [value / 20 for value in range(21)]

        narrow = bootstrap_interval(values, confidence=0.8, seed=1)
        wide = bootstrap_interval(values, confidence=0.99, seed=1)

        assert wide.low < narrow.low < narrow.high < wide.high

    def test_equal_values_have_no_width(self):
        assert bootstrap_interval([0.5], seed=1) == Interval(0.5, 0.5, 0.95)
        assert bootstrap_interval([1.0] * 9, seed=1) == Interval(1.0, 1.0, 0.95)

    @pytest.mark.parametrize("values", [[], [0.5, math.nan], [math.inf]])
    def test_refuses_nothing_and_what_is_not_finite(self, values):
        with pytest.raises(UsageError):
            bootstrap_interval(values, seed=1)

    @pytest.mark.parametrize("confidence", [0.0, 1.0, 95])
    def test_refuses_a_confidence_that_is_none(self, confidence):
        with pytest.raises(UsageError, match="confidence"):
            bootstrap_interval([0.0, 1.0], confidence=confidence, seed=1)


class TestPairedTest:
    @given(st.lists(st.tuples(scores, scores), min_size=1, max_size=9))
    @settings(max_examples=60, deadline=None)
    def test_agrees_with_every_sign_pattern(self, pairs):
        before, after = zip(*pairs, strict=True)

        result = paired_permutation_test(before, after, seed=1)

        assert result.p_value == pytest.approx(brute_force_p(before, after), abs=1e-12)

    @pytest.mark.parametrize(("improved", "worsened"), [(5, 0), (8, 3), (12, 12), (300, 240)])
    def test_zero_one_scores_are_mcnemars_exact_test(self, improved, worsened):
        before = [0.0] * improved + [1.0] * worsened + [1.0] * 40
        after = [1.0] * improved + [0.0] * worsened + [1.0] * 40
        changed = improved + worsened

        result = paired_permutation_test(before, after, seed=1)

        most = max(improved, worsened)
        ways = sum(math.comb(changed, hits) for hits in range(most, changed + 1))
        assert result.p_value == pytest.approx(min(1.0, 2 * ways / 2**changed), rel=1e-9)
        assert (result.improved, result.worsened, result.unchanged) == (improved, worsened, 40)
        assert result.items == changed + 40
        assert result.delta == pytest.approx((improved - worsened) / (changed + 40))

    def test_resampling_agrees_with_enumeration(self, monkeypatch):
        rng = random.Random(2)
        before = [rng.random() for _ in range(13)]
        after = [value + rng.gauss(0.1, 0.2) for value in before]
        exact = paired_permutation_test(before, after, seed=1).p_value

        monkeypatch.setattr("burnish.evaluation.statistics._MAX_ENUMERATED", 0)
        resampled = paired_permutation_test(before, after, seed=1).p_value
        monkeypatch.setattr("burnish.evaluation.statistics._MAX_FLIPPED", 8)
        partly_normal = paired_permutation_test(before, after, seed=1).p_value

        assert 0.01 < exact < 0.5
        assert resampled == pytest.approx(exact, abs=0.015)
        assert partly_normal == pytest.approx(exact, abs=0.03)

    def test_nothing_changed_is_no_evidence(self):
        result = paired_permutation_test([0.1 + 0.2, 1.0], [0.3, 1.0], seed=1)

        assert result.p_value == 1.0
        assert (result.improved, result.worsened, result.unchanged) == (0, 0, 2)
        assert result.delta == pytest.approx(0.0)

    @given(st.lists(st.tuples(scores, scores), min_size=1, max_size=30), st.randoms())
    @settings(max_examples=25, deadline=None)
    def test_item_order_changes_nothing_and_swapping_sides_mirrors(self, pairs, rng):
        before, after = zip(*pairs, strict=True)
        shuffled = rng.sample(pairs, k=len(pairs))

        result = paired_permutation_test(before, after, seed=4, resamples=300)
        reordered = paired_permutation_test(*zip(*shuffled, strict=True), seed=4, resamples=300)
        swapped = paired_permutation_test(after, before, seed=4, resamples=300)

        assert reordered == result
        assert swapped.delta == pytest.approx(-result.delta)
        assert swapped.p_value == result.p_value
        assert (swapped.improved, swapped.worsened) == (result.worsened, result.improved)

    def test_without_a_difference_it_rarely_finds_one(self):
        rng = random.Random(8)
        runs = 150

        found = 0
        for seed in range(runs):
            before = [rng.random() for _ in range(20)]
            after = [rng.random() for _ in range(20)]
            found += (
                paired_permutation_test(before, after, seed=seed, resamples=199).p_value <= 0.05
            )

        assert 0.01 <= found / runs <= 0.1

    def test_a_real_difference_is_found(self):
        rng = random.Random(9)
        before = [rng.random() for _ in range(60)]
        after = [value + rng.gauss(0.2, 0.2) for value in before]

        result = paired_permutation_test(before, after, seed=1)

        assert result.p_value < 0.01
        assert 0 < result.ci_low < result.delta < result.ci_high

    def test_many_items_stay_quick_and_agree_with_the_normal_limit(self):
        rng = random.Random(10)
        before = [rng.random() for _ in range(5_000)]
        after = [value + rng.gauss(0.008, 0.3) for value in before]

        result = paired_permutation_test(before, after, seed=1, resamples=1_000)

        changes = [b - a for a, b in zip(before, after, strict=True)]
        z = abs(sum(changes)) / math.sqrt(sum(change**2 for change in changes))
        assert result.p_value == pytest.approx(math.erfc(z / math.sqrt(2)), abs=0.04)

    @pytest.mark.parametrize(("before", "after"), [([], []), ([1.0], [1.0, 0.0])])
    def test_refuses_what_cannot_be_paired(self, before, after):
        with pytest.raises(UsageError):
            paired_permutation_test(before, after, seed=1)


class TestChanceOfGain:
    @given(st.lists(st.tuples(scores, scores), min_size=1, max_size=12))
    def test_is_one_side_of_the_paired_test(self, pairs):
        before, after = zip(*pairs, strict=True)
        tested = paired_permutation_test(before, after, seed=0)

        chance = chance_of_gain(before, after)

        if tested.delta > 1e-9:
            assert chance == tested.p_value / 2
        elif tested.delta < -1e-9:
            assert chance == 1 - tested.p_value / 2

    def test_is_even_where_nothing_changed(self):
        assert chance_of_gain([1.0, 0.0], [1.0, 0.0]) == 0.5


class TestRunningScore:
    @given(st.lists(st.floats(-100, 100), min_size=2, max_size=60))
    def test_agrees_with_the_whole_list(self, values):
        running = RunningScore()
        for value in values:
            running.add(value)

        assert running.count == len(values)
        assert running.mean == pytest.approx(fmean(values), abs=1e-9)
        assert running.variance == pytest.approx(variance(values), abs=1e-6)

    def test_passes_and_failures_get_wilsons_interval(self):
        running = RunningScore()
        for value in [1, 0.0, True, 1.0]:
            running.add(value)

        assert running.interval() == wilson_interval(3, 4)

    def test_says_nothing_before_it_can(self):
        running = RunningScore()
        assert (running.count, running.variance, running.interval()) == (0, 0.0, None)

        running.add(5.0)

        assert running.interval() is None

    def test_has_the_interval_of_the_finished_experiment(self):
        values = [0.9, 0.95, 0.5, 1.0]
        running = RunningScore()
        for value in values:
            running.add(value)

        found, finished = running.interval(), score_interval(values)

        assert (found.low, found.high) == pytest.approx((finished.low, finished.high))

    def test_repeats_of_items_are_no_items_more(self):
        running = RunningScore()
        for value in [1, 1, 0, 1]:
            for repeat in range(5):
                running.add(value, repeated=repeat > 0)

        found, plain = running.interval(), wilson_interval(3, 4)
        assert (found.low, found.high) == pytest.approx((plain.low, plain.high))

    def test_scores_beyond_1_are_not_clipped(self):
        running = RunningScore()
        for value in [5.0, 7.0, 9.0]:
            running.add(value)

        assert running.interval().high > 9.0


@pytest.mark.parametrize("scores", [[1.0] * 4, [0.0] * 50, [0.9] * 4, [1.0], [0.25, 0.75], []])
def test_a_scores_interval_has_a_width_and_is_the_one_of_its_moments(scores):
    found = score_interval(scores)

    assert found.low < found.high
    assert not scores or found.low <= sum(scores) / len(scores) <= found.high
    if len(scores) > 1:
        size = len(scores)
        moments = sum(scores) / size, sum(one * one for one in scores) / size
        assert mean_interval(size, *moments) == (found.low, found.high)


def test_fractions_near_an_end_leave_room_as_passes_do():
    passes, nearly = score_interval([1.0] * 28), score_interval([1.0] * 27 + [0.999])

    assert (passes.low, passes.high) == pytest.approx(rate_interval(28, 28))
    assert (nearly.low, nearly.high) == pytest.approx((passes.low, passes.high), abs=0.001)


@pytest.mark.parametrize(
    ("draw", "mean"),
    [
        (lambda rng: rng.betavariate(8, 2), 0.8),
        (lambda rng: rng.betavariate(30, 5) if rng.random() < 0.93 else 0.0, 0.93 * 6 / 7),
        (lambda rng: sum(rng.random() < 0.85 for _ in range(3)) / 3, 0.85),
    ],
    ids=["spread", "rare zeros", "thirds"],
)
def test_fractional_scores_are_covered(draw, mean):
    rng = random.Random(3)
    runs = 600

    held = 0
    for _ in range(runs):
        found = score_interval([draw(rng) for _ in range(28)])
        held += found.low <= mean <= found.high

    assert held / runs >= 0.915  # 95 % but for what so few draws leave to chance


@pytest.mark.parametrize("change", [0.0, 0.25, 1.0, -1.0])
def test_a_difference_that_is_the_same_on_all_items_has_a_width(change):
    before = [0.5] * 28 if abs(change) < 1 else [float(change < 0)] * 28

    found = paired_permutation_test(before, [one + change for one in before], seed=1)

    assert found.ci_low <= found.delta <= found.ci_high
    assert 0.01 < found.ci_high - found.ci_low < 0.3
    assert found.clear == (change != 0)
    assert not change or (found.ci_low > 0) == (change > 0)


@pytest.mark.parametrize(("up", "down"), [(0.05, 0.0), (0.9, 0.0)])
def test_differences_of_passes_are_covered(up, down):
    rng = random.Random(4)
    runs, size = 300, 28

    held = 0
    for seed in range(runs):
        drawn = [rng.random() for _ in range(size)]
        after = [0.5 + 0.5 * ((one < up) - (up <= one < up + down)) for one in drawn]
        found = paired_permutation_test([0.5] * size, after, seed=seed)
        held += found.ci_low <= 0.5 * (up - down) <= found.ci_high

    assert held / runs >= 0.92


class TestPower:
    def test_so_many_items_show_the_gain_four_times_in_five(self):
        rng = random.Random(5)
        gain = detectable_gain(60)
        runs = 400

        found = 0
        for seed in range(runs):
            after = [float(rng.random() < gain) for _ in range(60)]
            found += paired_permutation_test([0.0] * 60, after, seed=seed).clear

        assert found / runs == pytest.approx(0.8, abs=0.06)
        assert detectable_words(60) == (
            "with 60 items you can see +0.13, four times in five, if no item gets worse"
        )

    def test_five_items_show_nothing(self):
        assert detectable_gain(5) is None
        assert "nothing can be shown" in detectable_words(5)


def test_scores_of_0_and_1_have_the_interval_of_their_pass_rate():
    found = score_interval([1.0] * 27 + [0.0] * 3)

    assert (found.low, found.high) == pytest.approx(rate_interval(27, 30))
