"""The estimated gradient finds effects, knows how sure it is, and draws by the book."""

from __future__ import annotations

import random
import statistics

import pytest

from burnish.optimizers.shared.gradient import Gradient, Observation, Prior, expand


def seen(features: str, difference: float, variance: float = 0.0025) -> Observation:
    return Observation(features=tuple(features.split()), difference=difference, variance=variance)


def test_a_candidate_has_its_names_their_prefixes_and_their_pairs():
    found = expand(["b:x:1", "a"])

    assert found == ("a", "b:x:1", "b:", "b:x:", "a\x1eb:x:1")


def test_nothing_seen_gives_the_prior():
    gradient = Gradient([], Prior(name=0.06, means={"a": 0.02}))

    assert gradient.effect("a").mean == pytest.approx(0.02)
    assert gradient.effect("a").deviation == pytest.approx(0.06)
    assert gradient.draw(1, spread=0.0)(["a"]) == pytest.approx(0.02)


def test_one_weight_is_the_textbook_posterior():
    gradient = Gradient([seen("a", 0.1, variance=0.01)], Prior(name=0.1))

    assert gradient.effect("a").mean == pytest.approx(0.05)
    assert gradient.effect("a").deviation == pytest.approx((0.01 / 2) ** 0.5)


def test_effects_of_mixed_candidates_are_told_apart():
    chance = random.Random("mixed")
    effects = {"a": 0.1, "b": -0.08, "c": 0.0, "d": 0.05}
    observations = []
    for _ in range(60):
        names = [name for name in effects if chance.random() < 0.5]
        difference = sum(effects[name] for name in names) + chance.gauss(0, 0.03)
        observations.append(
            Observation(features=tuple(names), difference=difference, variance=0.0009)
        )

    gradient = Gradient(observations)

    for name, effect in effects.items():
        found = gradient.effect(name)
        assert found.mean == pytest.approx(effect, abs=0.03)
        assert abs(found.mean - effect) < 3 * found.deviation
    assert gradient.features == ("a", "b", "c", "d")


def test_relatives_learn_from_each_other():
    gradient = Gradient([seen("cue:a", 0.1), seen("cue:b", 0.12), seen("tone:c", -0.1)])

    assert gradient.effect("cue:new").mean > 0.02
    assert gradient.effect("tone:new").mean < -0.02
    assert gradient.effect("other:new").mean == 0


def test_a_pair_that_only_works_together_is_seen():
    gradient = Gradient([seen("a", -0.05), seen("b", -0.05), seen("a b", 0.15)])

    assert gradient.predict(["a", "b"]).mean > 0.05
    assert gradient.effect("a").mean < 0.03


def test_few_items_move_little():
    sure = Gradient([seen("a", 0.2, variance=0.001)]).effect("a").mean
    unsure = Gradient([seen("a", 0.2, variance=0.05)]).effect("a").mean

    assert 0 < unsure < sure / 4


def test_draws_have_the_posteriors_mean_and_spread():
    gradient = Gradient([seen("a", 0.1), seen("a:b c", 0.05)])

    drawn = [gradient.draw(seed, "test")(["a"]) for seed in range(1500)]

    expected = gradient.effect("a")
    assert statistics.mean(drawn) == pytest.approx(expected.mean, abs=0.004)
    assert statistics.stdev(drawn) == pytest.approx(expected.deviation, rel=0.08)


def test_one_draw_is_one_world():
    gradient = Gradient([seen("a", 0.1)])

    first, second = gradient.draw(1, "x"), gradient.draw(1, "x")

    assert first(["a", "b"]) == second(["b", "a"])
    assert first(["a"]) != gradient.draw(1, "y")(["a"])


def test_the_order_of_observations_plays_no_part():
    observations = [seen("a", 0.1), seen("b", 0.0), seen("a b", 0.2), seen("c:d", -0.1)]

    there = Gradient(observations).predict(["a", "c:d"])
    back = Gradient(observations[::-1]).predict(["a", "c:d"])

    assert there.mean == pytest.approx(back.mean)
    assert there.deviation == pytest.approx(back.deviation)


def test_equal_and_certain_observations_do_no_harm():
    gradient = Gradient([seen("a", 0.1, variance=0.0)] * 20)

    assert gradient.effect("a").mean == pytest.approx(0.1, abs=1e-3)


def test_another_scale_gives_the_same_picture():
    small = Gradient([seen("a", 0.1), seen("b", -0.1)], Prior())
    large = Gradient(
        [seen("a", 10.0, variance=25.0), seen("b", -10.0, variance=25.0)], Prior(scale=100.0)
    )

    assert large.effect("a").mean == pytest.approx(100 * small.effect("a").mean)


def test_the_baselines_luck_is_no_effect():
    """When all differences are as low, the baseline had luck and the edits did no harm."""
    observations = [seen(name, -0.06) for name in "abcdefgh"]

    blamed = Gradient(observations, Prior()).effect("a").mean
    shared = Gradient(observations, Prior(luck=0.05)).effect("a").mean

    assert blamed < -0.02
    assert shared > blamed / 2


def test_the_cheap_mean_is_the_mean():
    gradient = Gradient([seen("a:x b", 0.1), seen("b", -0.05)], Prior(means={"c": 0.02}))

    for names in (["a:x"], ["a:x", "b"], ["a:y", "c"], []):
        assert gradient.mean(names) == pytest.approx(gradient.predict(names).mean)
        assert gradient.draw(1, spread=0.0)(names) == pytest.approx(gradient.mean(names))
