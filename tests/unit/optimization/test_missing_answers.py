"""Answers that never came: pairs are left out, counted, and too many of them prove nothing."""

import pytest
from bench.proofs import MOST, rates

from burnish.app.report.runs.evidence import error_words, is_proven
from burnish.optimization.confirmation import compare_scores
from burnish.optimization.outcome import evidence_document


@pytest.mark.parametrize("share", [0.0, 0.05, 0.25])
def test_equal_prompts_are_rarely_proven_whatever_share_of_one_arm_is_missing(share):
    proven, significant = rates(share, 100, items=40)

    assert proven <= MOST
    assert significant <= 0.2  # of so few; `python -m bench proofs` has a thousand of each


@pytest.mark.parametrize(("missing", "proven"), [(0, True), (5, True), (6, False), (25, False)])
def test_more_than_five_percent_of_missing_pairs_prove_nothing(missing, proven):
    before = {str(n): 0.0 for n in range(missing, 100)}
    after = {str(n): 1.0 for n in range(100)}

    document = evidence_document(compare_scores(before, after, planned=100, held_out=True))

    assert (document["improvement"]["items"], document["improvement"]["missing"]) == (
        100 - missing,
        missing,
    )
    assert is_proven(document) is proven
    assert any("pairs were left out" in words for words in error_words(document)) is (missing > 0)


def test_without_a_pair_there_is_no_comparison():
    assert (
        compare_scores({"a": 1.0}, {}, planned=1, held_out=True) == "no item was answered by both"
    )
