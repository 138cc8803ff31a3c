"""The two blind optimizers: random draws and every point of a grid."""

from __future__ import annotations

import random

import pytest
from driver import FakeHistory, Run
from worlds import LABELS, REVIEWS

from burnish.domain import Configuration, ParameterSpace, SearchSpace, StopReason, UsageError
from burnish.optimizers import GridSearch, RandomSearch
from burnish.optimizers.parameters.axes import draw_value, values_of

SPACE = SearchSpace.of(
    {"parameters": {"temperature": {"low": 0, "high": 1}, "style": ["plain", "kind"]}}
)
BASELINE = Configuration.of(
    {
        "sections": {"system": "Answer.", "user": "{{q}}"},
        "parameters": {"temperature": 0.0, "style": "plain"},
    }
)


def flat(candidate, item):
    return 0.5, "x"


def new_run(optimizer, **more) -> Run:
    given = {"baseline": BASELINE, "space": SPACE, "world": flat, **more}
    return Run(optimizer=optimizer, splits={"validation": ("v1", "v2")}, **given)


class TestRandom:
    def test_it_draws_edits_and_parameters_within_their_space(self):
        run = new_run(RandomSearch()).go(max_trials=40)

        candidates = list(run.candidates.values())[1:]
        assert len(candidates) == 40
        assert not run.refused
        assert {one.configuration.parameters["style"] for one in candidates} == {"plain", "kind"}
        assert len({one.configuration.parameters["temperature"] for one in candidates}) > 20
        assert len({one.configuration.sections["system"] for one in candidates}) > 8

    def test_equal_seeds_draw_alike_and_others_do_not(self):
        def hashes(seed):
            run = new_run(RandomSearch(), seed=seed).go(max_trials=12)
            return [one.configuration.hash for one in run.candidates.values()]

        assert hashes(1) == hashes(1)
        assert hashes(1) != hashes(2)

    def test_without_patience_it_goes_on(self):
        assert len(new_run(RandomSearch()).go(max_trials=60).trials) == 61
        assert len(new_run(RandomSearch(patience=2)).go(max_trials=60).trials) == 9

    def test_parameters_alone_are_enough(self):
        run = new_run(RandomSearch(), space=SearchSpace(sections=(), parameters=SPACE.parameters))

        assert len(run.go(max_trials=8).trials) == 9

    def test_a_parameter_without_bounds_is_left_alone(self):
        space = SearchSpace(sections=(), parameters={"temperature": ParameterSpace()})

        assert len(new_run(RandomSearch(), space=space).go().trials) == 1
        assert len(new_run(GridSearch(), space=space).go().trials) == 1

    def test_nothing_to_draw_has_converged(self):
        run = new_run(RandomSearch(), space=SearchSpace(sections=())).go()

        assert run.decision.reason is StopReason.CONVERGENCE

    def test_a_perfect_baseline_stops_at_once(self):
        run = new_run(RandomSearch(), world=lambda candidate, item: (1.0, "x")).go()

        assert run.decision.reason is StopReason.TARGET_REACHED

    def test_labels_get_words_too(self):
        run = new_run(RandomSearch(), baseline=REVIEWS, labels=LABELS, space=SearchSpace()).go(
            max_trials=40
        )

        assert any("label_words" in one.configuration.parameters for one in run.candidates.values())
        assert not run.refused


class TestGrid:
    def test_every_point_is_tried_once_and_then_it_ends(self):
        run = new_run(GridSearch(steps=3)).go(max_trials=100)

        points = {
            (one.configuration.parameters["temperature"], one.configuration.parameters["style"])
            for one in run.candidates.values()
        }
        assert points == {(t, s) for t in (0.0, 0.5, 1.0) for s in ("plain", "kind")}
        assert len(run.trials) == 6
        assert run.decision.reason is StopReason.CONVERGENCE
        assert "6 points" in run.decision.message

    def test_section_texts_are_an_axis(self):
        texts = {"system": ["Answer briefly.", "Reply."]}
        run = new_run(GridSearch(sections=texts), space=SearchSpace()).go(max_trials=100)

        assert [one.configuration.sections["system"] for one in run.candidates.values()] == [
            "Answer.",
            "Answer briefly.",
            "Reply.",
        ]

    def test_texts_that_would_be_refused_are_left_out(self):
        texts = {"user": ["no placeholder", "Q: {{q}}", "{{other}} {{q}}"]}
        run = new_run(GridSearch(sections=texts), space=SearchSpace()).go(max_trials=100)

        assert not run.refused
        assert [one.configuration.sections["user"] for one in run.candidates.values()] == [
            "{{q}}",
            "Q: {{q}}",
        ]

    def test_points_that_are_running_are_not_proposed_again(self):
        run = new_run(GridSearch(steps=3))
        run.start()

        four = run.optimizer.propose(run.state, FakeHistory(run), 4)
        next_one = run.optimizer.propose(run.state, FakeHistory(run), 1)

        seen = {one.configuration.hash for one in four[:3]}
        assert next_one[0].configuration.hash not in seen

    def test_the_last_points_are_not_forgotten_when_few_places_are_left(self):
        run = new_run(GridSearch(steps=3), places=4)
        run.start()
        tried = set()
        while run.step(len(run.trials)):
            tried.add(run.candidates[run.trials[-1].candidate_id].configuration.hash)

        assert len(tried) == 5

    def test_an_empty_grid_says_what_to_do(self):
        run = new_run(GridSearch(), space=SearchSpace()).go()

        assert run.decision.reason is StopReason.CONVERGENCE
        assert "declare parameters" in run.decision.message

    def test_a_section_that_is_not_there_is_refused(self):
        run = new_run(GridSearch(sections={"systme": ["x"]}))

        with pytest.raises(UsageError, match="system"):
            run.start()


@pytest.mark.parametrize(
    ("space", "expected"),
    [
        (ParameterSpace(choices=("a", "b")), ["a", "b"]),
        (ParameterSpace(low=0.0, high=1.0), [0.0, 0.25, 0.5, 0.75, 1.0]),
        (ParameterSpace(low=0, high=1), [0, 0.25, 0.5, 0.75, 1]),
        (ParameterSpace(low=1, high=9), [1, 3, 5, 7, 9]),
        (ParameterSpace(low=1, high=3), [1, 2, 3]),
        (ParameterSpace(low=2.0), [2.0]),
        (ParameterSpace(low=3.0, high=3.0), [3.0]),
    ],
)
def test_values_of_a_space(space, expected):
    assert values_of(space, steps=5) == expected
    assert all(space.allows(value) for value in values_of(space, steps=5))


def test_drawn_values_lie_in_their_space():
    chance = random.Random("values")
    for space in (
        ParameterSpace(low=0.1, high=0.3),
        ParameterSpace(low=1, high=64),
        ParameterSpace(high=2.5),
        ParameterSpace(choices=(True, None, "x")),
    ):
        assert all(space.allows(draw_value(space, chance)) for _ in range(200))
