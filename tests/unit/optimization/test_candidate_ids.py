"""Ids of candidates: UUIDs, and those of runs that an earlier version began."""

from uuid import UUID

from burnish.optimization.search_plan import candidate_id, is_baseline_id

RUN = "0199d1c8-7f00-7d3c-8a2b-9e1f0a2b3c4d"


def test_an_id_is_a_uuid_that_follows_from_run_and_number():
    assert str(UUID(candidate_id(RUN, 3))) == candidate_id(RUN, 3)
    assert candidate_id(RUN, 3) != candidate_id(RUN, 4)


def test_the_baseline_is_known_in_runs_of_earlier_versions_too():
    assert is_baseline_id(RUN, candidate_id(RUN, 0))
    assert is_baseline_id(RUN, "0a2b3c4d-0")
    assert not is_baseline_id(RUN, "0a2b3c4d-1")
    assert not is_baseline_id(RUN, None)
