"""Mini-batches with repeats of their own, and optimizers that choose the winner themselves."""

import asyncio

import pytest

from burnish.domain import CandidateProposal, Configuration, SearchSpace
from burnish.optimization.checkpoint import Checkpoint, Pending
from burnish.optimization.validator import CandidateValidator

TEXT = {"sections": {"system": "Judge it."}}


def validate(*proposals):
    validator = CandidateValidator(
        baseline=Configuration.of(TEXT), space=SearchSpace(), item_ids={"i1"}
    )
    return asyncio.run(
        validator.validate(
            proposals, known_candidates=(), is_seen=lambda digest, items: False, limit=9
        )
    )


def test_the_same_items_in_other_repeats_are_another_run():
    accepted, refused = validate(
        CandidateProposal(configuration=TEXT, item_ids=["i1"]),
        CandidateProposal(configuration=TEXT, item_ids=["i1"], repeats=2),
        CandidateProposal(configuration=TEXT, item_ids=["i1"], repeats=2),
    )

    assert [one.run_key for one in accepted] == [("i1",), ("i1", "repeats=2")]
    assert [one.reason for one in refused] == ["duplicate"]


@pytest.mark.parametrize(
    "bad",
    [
        CandidateProposal(configuration=TEXT, repeats=2),
        CandidateProposal(configuration=TEXT, item_ids=["i1"], repeats=0),
        CandidateProposal(configuration=TEXT, item_ids=["i1"], repeats=True),
    ],
)
def test_only_a_mini_batch_may_ask_for_repeats(bad):
    _, refused = validate(bad)

    assert "repeats" in refused[0].message


def test_checkpoints_from_before_repeats_are_read():
    pending = Pending(candidate_id="c", experiment_id="e", item_ids=("i1",), repeats=3)
    stored = Checkpoint(pending=(pending,)).to_json()
    older = {**stored, "pending": [stored["pending"][0][:4]]}

    assert Checkpoint.of(stored).pending == (pending,)
    assert Checkpoint.of(older).pending[0].repeats is None
