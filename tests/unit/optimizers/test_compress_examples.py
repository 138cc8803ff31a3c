"""Examples, of the configuration and written in a section, can be left out like lines."""

import asyncio

import pytest

from burnish.domain import Configuration, ConflictError, UsageError, text_hash
from burnish.models import count_tokens
from burnish.optimizers.compress.cuts import build, section_cuts, unit_cuts
from burnish.optimizers.compress.examples import (
    EXAMPLES,
    example_edits,
    part_tokens,
    read_examples,
    require_parts,
)
from burnish.optimizers.compress.report import (
    apply_modifications,
    modifications_of,
    override_of,
    with_modifications,
)
from burnish.optimizers.compress.strategies import lean
from burnish.optimizers.compress.units import split_units
from burnish.overrides import LocalPromptOverridesStore, descriptor_of

SHOTS = [
    {"input": {"text": "my card was charged twice"}, "output": "billing"},
    {"input": {"text": "I was charged for nothing"}, "output": "billing"},
    {"input": {"text": "it crashes"}, "output": "technical"},
]
BASELINE = Configuration.of(
    {"sections": {"system": "Route the ticket.", "user": "Ticket: {{text}}"}, "examples": SHOTS}
)
WRITTEN = """Route the ticket. Be brief.

Example 1:
Input: my card was charged twice
Output: billing

Q: does it crash?
A: technical

Examples:
refund me -> billing
Now:
Input: {{ticket}}
Output:"""


def test_examples_count_as_they_are_shown():
    shown = ["Ticket: " + one["input"]["text"] for one in SHOTS] + [one["output"] for one in SHOTS]

    assert part_tokens(BASELINE, EXAMPLES) == sum(count_tokens(text) for text in shown)


def test_examples_of_another_form_count_by_their_json():
    odd = Configuration.of({"sections": {"system": "x"}, "examples": [{"a": 1}]})

    assert part_tokens(odd, EXAMPLES) == count_tokens('{"a": 1}')


def test_all_go_or_one_of_each_answer_stays_or_single_ones_go():
    none, one_each = section_cuts(example_edits(BASELINE))[EXAMPLES]

    assert build(BASELINE, [none]).examples == ()
    assert build(BASELINE, [one_each]).examples == (SHOTS[0], SHOTS[2])
    left = build(BASELINE, [one_each])
    single = unit_cuts(left, EXAMPLES, one_each.name)
    assert [cut.describe().split(" (")[0] for cut in single] == ["example 1 out", "example 2 out"]
    assert build(BASELINE, [one_each, single[0]]).examples == (SHOTS[2],)
    assert build(BASELINE, [one_each]).sections == BASELINE.sections


def changed(best):
    return modifications_of(BASELINE, best, None, baseline_pass_rate=1.0, candidate_pass_rate=1.0)


def test_a_modification_of_examples_is_applied_and_refused_once_stale():
    best = build(BASELINE, [section_cuts(example_edits(BASELINE))[EXAMPLES][0]])
    (found,) = changed(best)

    assert (found.section_path, found.proposed_body) == (EXAMPLES, "[]")
    assert found.token_reduction == part_tokens(BASELINE, EXAMPLES)
    assert with_modifications(BASELINE, [found]) == best
    fewer = Configuration.of({**BASELINE.to_json(), "examples": SHOTS[:1]})
    with pytest.raises(ConflictError, match="changed since"):
        with_modifications(fewer, [found])
    with pytest.raises(UsageError, match="no such section"):
        with_modifications(best, [found])


@pytest.mark.parametrize("body", ["", "{}", "[1]", "nonsense"])
def test_a_text_that_is_no_list_of_examples_is_refused(body):
    with pytest.raises(UsageError):
        read_examples(body)


def test_a_tag_carries_examples_and_what_it_is_built_on(tmp_path):
    best = build(BASELINE, [section_cuts(example_edits(BASELINE))[EXAMPLES][1]])
    modifications = changed(best)
    descriptor = descriptor_of("tickets", BASELINE)

    async def run():
        store = LocalPromptOverridesStore(tmp_path)
        base = override_of(descriptor, "stable", ())
        await store.upsert(descriptor, base)
        await apply_modifications(store, descriptor, modifications, tag="short", built_on="stable")
        return await store.resolve(descriptor, tag="short")

    assert asyncio.run(run()).apply(BASELINE) == best


def test_an_example_in_a_section_is_one_unit_and_the_items_own_form_stays():
    units = [unit.text for unit in split_units(WRITTEN)]

    assert "Example 1:\nInput: my card was charged twice\nOutput: billing" in units
    assert "Q: does it crash?\nA: technical" in units
    assert "Examples:\nrefund me -> billing" in units
    assert lean(WRITTEN) == "Route the ticket. Be brief.\n\nNow:\nInput: {{ticket}}\nOutput:"


def test_only_what_is_there_can_be_named():
    require_parts(BASELINE, ["system", EXAMPLES])
    with pytest.raises(UsageError, match="has no examples"):
        require_parts(Configuration.of({"sections": {"system": "x"}}), [EXAMPLES])


def test_equal_examples_have_equal_hashes_whatever_the_order_of_their_keys():
    turned = [{"output": one["output"], "input": one["input"]} for one in SHOTS]
    other = Configuration.of({**BASELINE.to_json(), "examples": turned})
    hashes = {example_edits(one)[0].original_hash for one in (BASELINE, other)}

    assert len(hashes) == 1 and text_hash("") not in hashes
