"""The rules of proposals: the framework and the optimizers say the same of every configuration."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from burnish.domain import CandidateProposal, Configuration, ParameterSpace, SearchSpace
from burnish.domain.optimizations.proposal_rules import first_violation, violations
from burnish.optimization.validator import CandidateValidator
from burnish.optimizers.shared.acceptance import is_acceptable

BASELINE = Configuration.of(
    {
        "sections": {"system": "Judge {{review}}.", "user": "{{review}} {{style}}", "note": ""},
        "parameters": {"temperature": 0.0, "label_words": {"a": "b"}},
    }
)
SPACE = SearchSpace(
    locked=("note",),
    parameters={
        "temperature": ParameterSpace(low=0.0, high=1.0),
        "model": ParameterSpace(choices=("a", "b")),
    },
    max_section_chars=40,
    max_examples=1,
)
texts = st.sampled_from(
    [
        *BASELINE.sections.values(),
        " \n",
        "Say it.",
        "{{review}}",
        "{{style}} of {{review}}",
        "{{secret}}",
        "x" * 41,
    ]
)
configurations = st.fixed_dictionaries(
    {
        "sections": st.dictionaries(
            st.sampled_from(["system", "user", "note", "new"]), texts, min_size=1
        ),
        "parameters": st.fixed_dictionaries(
            {},
            optional={
                "temperature": st.sampled_from([0.0, 0.5, 1.5, True, "hot"]),
                "model": st.sampled_from(["a", "c"]),
                "top_k": st.just(3),
                "label_words": st.just({"a": "c"}),
            },
        ),
        "examples": st.lists(st.just({"review": "x", "label": "a"}), max_size=2),
    }
).map(Configuration.of)
spaces = st.builds(
    lambda own, sections: replace(SPACE, own_placeholders=own, sections=sections),
    st.booleans(),
    st.sampled_from([None, ("system",), ("system", "user", "note")]),
)


def refused(configuration: Configuration, space: SearchSpace):
    validator = CandidateValidator(baseline=BASELINE, space=space, item_ids=())
    _, found = asyncio.run(
        validator.validate(
            [CandidateProposal(configuration=configuration)],
            known_candidates=(),
            is_seen=lambda *_: False,
            limit=1,
        )
    )
    return found


@given(configuration=configurations, space=spaces)
def test_framework_and_optimizers_say_the_same(configuration, space):
    mine = is_acceptable(configuration, baseline=BASELINE, space=space)
    broken = first_violation(configuration, baseline=BASELINE, space=space)

    theirs = refused(configuration, space)

    assert mine == (not theirs)
    assert [(one.reason, one.message) for one in theirs] == (
        [] if broken is None else [(broken.reason, broken.message)]
    )


@given(space=spaces)
def test_the_baseline_itself_breaks_no_rule(space):
    assert is_acceptable(BASELINE, baseline=BASELINE, space=space)


def test_every_rule_that_is_broken_is_told():
    worst = Configuration.of(
        {"sections": {"user": "x" * 41, "note": "Loud."}, "examples": [{"review": "x"}] * 2}
    )

    found = [one.reason for one in violations(worst, baseline=BASELINE, space=SPACE)]

    assert found == [
        "section_missing",
        "section_locked",
        "section_too_long",
        "placeholder_dropped",
        "parameter_out_of_range",
        "too_many_examples",
    ]
