"""The outcome in words: why the baseline is the result."""

import pytest

from burnish.domain import ExperimentType, Usage
from burnish.evaluation.statistics import paired_permutation_test
from burnish.optimization.confirmation import Confirmation
from burnish.optimization.outcome import evidence_document, why_no_improvement
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
            "the one candidate tried never scored above the baseline",
        ),
    ],
)
def test_what_was_only_tried_on_mini_batches_is_counted(trials, words):
    assert why_no_improvement(trials, 2) == words


def test_one_of_a_kind_is_told_in_the_singular_and_money_that_went_to_the_meta_model():
    spent = Usage(calls=3, cost_usd=0.0236)

    words = why_no_improvement([make_trial(0)], 1, asked=spent)

    assert words == (
        "no candidate was run; 1 proposal was refused; the budget went to what the optimizer asked "
        "its model (3 calls, $0.0236)"
    )


def test_without_a_test_split_the_items_of_the_search_are_named_as_such():
    comparison = paired_permutation_test([1.0] * 4, [1.0] * 4, seed=0)
    found = Confirmation(comparison=comparison, baseline_score=1.0, best_score=1.0, held_out=False)

    words = evidence_document(found)["confirmation"]

    assert words == "compared on the 4 items of the search; there is no test split"
