"""Every reason code, and what is accepted."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.domain import CandidateProposal, Configuration, ParameterSpace, SearchSpace
from burnish.optimization.validator import CandidateValidator

BASE = {
    "sections": {"system": "Judge it.", "user": "{{review}}", "style": "Calm."},
    "parameters": {"temperature": 0.0},
}
BASELINE = Configuration.of(BASE)
SPACE = SearchSpace(
    locked=("style",),
    parameters={
        "temperature": ParameterSpace(low=0.0, high=1.0),
        "model": ParameterSpace(choices=("a", "b")),
    },
    max_section_chars=100,
    max_examples=1,
)


def validate(*proposals, seen=(), limit=10, known=("c0",)):
    validator = CandidateValidator(baseline=BASELINE, space=SPACE, item_ids={"i1", "i2"})
    return asyncio.run(
        validator.validate(
            proposals,
            known_candidates=set(known),
            is_seen=lambda digest, items: (digest, items) in seen,
            limit=limit,
        )
    )


def proposal(sections=None, parameters=None, **more):
    configuration = {
        "sections": {**BASE["sections"], **(sections or {})},
        "parameters": BASE["parameters"] if parameters is None else parameters,
        **more.pop("extra", {}),
    }
    return CandidateProposal(configuration=configuration, **more)


def _nested(depth):
    value = {}
    for _ in range(depth):
        value = {"temperature": value}
    return value


@pytest.mark.parametrize(
    ("bad", "reason", "words"),
    [
        (proposal({"user": "no item"}), "placeholder_dropped", "{{review}}"),
        (proposal({"system": "See {{secret}}"}), "placeholder_unknown", "{{secret}}"),
        (proposal({"system": "  \n"}), "empty_section", "'system' is empty"),
        (proposal({"system": "x" * 101}), "section_too_long", "101 characters"),
        (proposal({"style": "Loud."}), "section_locked", "'style' may not"),
        (proposal({"new": "text"}), "unknown_field", "no section 'new'"),
        (proposal(extra={"tools": []}), "unknown_field", "'tools'"),
        (proposal(parameters={"temperature": 1.5}), "parameter_out_of_range", "0.0 to 1.0"),
        (proposal(parameters={"temperature": True}), "parameter_out_of_range", "True"),
        (
            proposal(parameters={"temperature": 0.0, "model": "c"}),
            "parameter_out_of_range",
            "one of 'a', 'b'",
        ),
        (
            proposal(parameters={"temperature": 0.0, "top_k": 3}),
            "parameter_out_of_range",
            "not to be changed",
        ),
        (proposal(parameters={}), "parameter_out_of_range", "'temperature' is gone"),
        (proposal({"system": "B"}, parent_candidate_ids=["c9"]), "unknown_parent", "'c9'"),
        (proposal({"system": "B"}, item_ids=["i9"]), "unknown_item", "'i9'"),
        (proposal({"system": "B"}, item_ids=[]), "unknown_item", "empty"),
        (proposal({"system": "B"}, item_ids=7), "invalid_configuration", "item_ids are 7"),
        (proposal(parent_candidate_ids=None), "invalid_configuration", "not a list of ids"),
        (proposal(parent_candidate_ids=[["c0"]]), "invalid_configuration", "not a list of ids"),
        (proposal(rationale={"a": 1}), "invalid_configuration", "rationale is a dict"),
        (proposal({"system": "half \ud800"}), "invalid_configuration", "$.sections.system"),
        (proposal(parameters=_nested(2_000)), "invalid_configuration", "too deeply"),
        (
            proposal(extra={"examples": [{"input": {}}, {"input": {"a": 1}}]}),
            "too_many_examples",
            "at most 1",
        ),
        (CandidateProposal(configuration="text"), "invalid_configuration", "not an object"),
        (
            CandidateProposal(configuration={"sections": {"system": 3}}),
            "invalid_configuration",
            "not text",
        ),
        (
            CandidateProposal(configuration={"sections": {"user": "{{review}}"}}),
            "section_missing",
            "of the baseline is gone",
        ),
    ],
)
def test_each_fault_has_its_code_and_a_message_for_people(bad, reason, words):
    accepted, refused = validate(bad)

    assert accepted == []
    assert refused[0].reason.value == reason
    assert words in refused[0].message


def test_a_good_proposal_is_accepted_with_its_lineage():
    accepted, refused = validate(
        proposal(
            {"system": "Decide."},
            parameters={"temperature": 0.5, "label_words": {"a": "b"}},
            parent_candidate_ids=["c0", "c0"],
            rationale="shorter",
        )
    )

    assert refused == []
    assert accepted[0].parent_candidate_ids == ("c0",)
    assert accepted[0].rationale == "shorter"
    assert accepted[0].configuration.sections["system"] == "Decide."


def test_duplicates_are_by_configuration_and_item_set():
    one = proposal({"system": "B"})
    spaced = proposal({"system": "B  \n"})
    batch = proposal({"system": "B"}, item_ids=["i2", "i1"])
    turned = proposal({"system": "B"}, item_ids=["i1", "i2", "i1"])

    accepted, refused = validate(one, spaced, batch, turned)

    assert [a.index for a in accepted] == [0, 2]
    assert [(r.index, r.reason.value) for r in refused] == [(1, "duplicate"), (3, "duplicate")]
    assert refused[0].configuration_hash == accepted[0].configuration.hash


def test_what_ran_before_is_a_duplicate():
    digest = Configuration.of(proposal({"system": "B"}).configuration).hash

    accepted, refused = validate(proposal({"system": "B"}), seen={(digest, None)})

    assert accepted == []
    assert refused[0].reason.value == "duplicate"


def test_ten_thousand_proposals_are_cut_at_the_limit_with_one_note():
    many = [proposal({"system": f"B{n}"}) for n in range(10_000)]

    accepted, refused = validate(*many, limit=4)

    assert len(accepted) == 4
    assert [(r.index, r.reason.value) for r in refused] == [(4, "too_many_candidates")]
    assert "9,996 proposals" in refused[0].message


@given(st.recursive(st.none() | st.text() | st.integers(), lambda x: st.dictionaries(st.text(), x)))
def test_garbage_is_refused_and_never_raises(garbage):
    accepted, refused = validate(CandidateProposal(configuration=garbage))

    assert accepted == []
    assert len(refused) == 1


@pytest.mark.parametrize(
    ("sections", "reason"),
    [
        ({"user": "{{review}}", "system": "Judge {{review}}."}, "placeholder_unknown"),
        ({"user": "It.", "system": "Judge {{review}}."}, "placeholder_unknown"),
        ({"user": "It.", "twin": "{{review}}"}, "placeholder_dropped"),
    ],
)
def test_a_placeholder_stays_in_its_section_where_sections_are_filled_apart(sections, reason):
    base = {"system": "Judge it.", "user": "{{review}}", "twin": "{{review}}"}
    space = SearchSpace.of(SearchSpace(own_placeholders=True).to_json())
    validator = CandidateValidator(
        baseline=Configuration.of({"sections": base}), space=space, item_ids=()
    )

    accepted, refused = asyncio.run(
        validator.validate(
            [CandidateProposal(configuration={"sections": {**base, **sections}})],
            known_candidates=set(),
            is_seen=lambda *_: False,
            limit=1,
        )
    )

    assert not accepted
    assert refused[0].reason.value == reason
