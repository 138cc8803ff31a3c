"""Metadata of candidates: what optimizers decide by, also in runs that an older version began."""

from __future__ import annotations

import pytest
from asking_driver import AskingRun
from burnish.optimizers.gepa.moves import Kind, Purpose, Reason
from driver import Run
from gepa_driver import gepa_run, hashes
from worlds import LABELS, REVIEWS, EditWorld

from burnish.optimizers import Edits, Evolve
from burnish.optimizers.shared.candidate_metadata import legacy_metadata, metadata_of
from burnish.testing.samples.optimizations import make_candidate


def edit_run(**more) -> Run:
    return Run(optimizer=Edits(), world=EditWorld(seed=3), baseline=REVIEWS, labels=LABELS, **more)


@pytest.mark.parametrize("start", [edit_run, gepa_run], ids=["edits", "gepa"])
def test_a_run_that_an_older_version_began_goes_on_as_if_it_had_not(start):
    new = start().go(max_trials=24)
    middle = len(new.candidates) // 2

    old = start(metadata_from=middle).go(max_trials=24)

    assert middle > 3
    assert not any(one.metadata for one in list(old.candidates.values())[:middle])
    assert hashes(old) == hashes(new)
    assert [one.rationale for one in old.candidates.values()] == [
        one.rationale for one in new.candidates.values()
    ]


@pytest.mark.parametrize("start", [edit_run, gepa_run], ids=["edits", "gepa"])
def test_an_old_rationale_stands_for_the_metadata_that_is_stored_today(start):
    run = start().go(max_trials=24)

    for one in list(run.candidates.values())[1:]:
        assert legacy_metadata(one.rationale) == one.metadata


def test_children_of_evolve_say_whether_they_are_sets_of_edits():
    run = AskingRun(optimizer=Evolve, world=EditWorld(seed=3), baseline=REVIEWS, labels=LABELS).go(
        max_trials=24
    )

    for one in list(run.candidates.values())[1:]:
        assert legacy_metadata(one.rationale).get("edits") == one.metadata["edits"]


@pytest.mark.parametrize("purpose", Purpose)
def test_the_purpose_of_an_old_line_is_known(purpose):
    words = {
        Purpose.UNION: "Added “x”. Together, what was tried alone in vain.",
        Purpose.CONFLICT: "Is it in the way of others? Dropped “x”.",
    }
    reason = Reason(kind=Kind.LINE, said=words[purpose], purpose=purpose)

    assert legacy_metadata(reason.rationale("A note.")) == reason.metadata


def test_reflections_of_old_candidates_are_known():
    rationale = "reflection on c-0: new system, user [reflection system=ab12 user=cd34]"

    assert legacy_metadata(rationale) == {"reflections": {"system": "ab12", "user": "cd34"}}


@pytest.mark.parametrize(
    "rationale", ["", "A person wrote this.", "Odd. [edits: [}]", "[gepa: line] is not its end"]
)
def test_what_people_write_stands_for_nothing(rationale):
    assert legacy_metadata(rationale) == {}


def test_stored_metadata_is_believed_whatever_the_rationale_says():
    candidate = make_candidate(1, rationale="Added “x”. [gepa: line]", metadata={"kind": "join"})

    assert metadata_of(candidate) == {"kind": "join"}
