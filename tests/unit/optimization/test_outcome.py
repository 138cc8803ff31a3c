"""The outcome in words: why the baseline is the result."""

import pytest

from burnish.domain import ExperimentType
from burnish.optimization.outcome import why_no_improvement
from burnish.testing.samples.optimizations import make_trial


def batch(number):
    return make_trial(number, experiment_id=f"m{number}", type=ExperimentType.MINI_BATCH)


@pytest.mark.parametrize(
    ("trials", "words"),
    [
        ([make_trial(0), batch(0)], "no candidate was run; 2 proposals were refused"),
        (
            [make_trial(0), batch(0), *map(batch, range(1, 17)), batch(1)],
            "16 candidates were tried on mini-batches, none went on; 2 proposals were refused",
        ),
        (
            [make_trial(0), batch(1)],
            "1 candidate was tried on mini-batches, none went on; 2 proposals were refused",
        ),
        (
            [make_trial(0), batch(1), make_trial(1)],
            "none of the 1 candidates tried scored above the baseline",
        ),
    ],
)
def test_what_was_only_tried_on_mini_batches_is_counted(trials, words):
    assert why_no_improvement(trials, 2) == words
