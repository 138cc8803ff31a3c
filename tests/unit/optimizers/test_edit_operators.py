"""Edits are pure, keep what must be kept, and fit configurations of every shape."""

from __future__ import annotations

import asyncio

import pytest
from driver import Run
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import LABELS, REVIEWS, facts_of

from burnish.domain import CandidateProposal, Configuration, SearchSpace
from burnish.evaluation.agents.prompt_agent import label_words
from burnish.optimization.validator import CandidateValidator
from burnish.optimizers import Edits
from burnish.optimizers.edits.edit import add_to_task, any_of, replace_words
from burnish.optimizers.edits.edit_catalog import EditCatalog
from burnish.testing.samples.optimizations import make_candidate

SHAPES = {
    "reviews": (REVIEWS.to_json()["sections"], LABELS),
    "names the labels": (
        {"system": "Classify the review as positive or negative.", "user": "{{review}}"},
        LABELS,
    ),
    "three labels": (
        {"system": "Route the ticket.", "user": "Ticket: {{ticket.body}}\nQueue:"},
        ("billing", "technical_support", "Other"),
    ),
    "one section": ({"prompt": "Please summarize this text: {{text}}. Be very brief."}, ()),
    "no instructions": ({"user": "{{review}}"}, ("pos", "neg")),
    "no placeholder": ({"instructions": "Do it. Do it well."}, ()),
    "many sections": (
        {
            "system.role": "You are a clerk.",
            "system.rules": "Be polite.\nBe brief. Be exact.\n\nNever lie.",
            "user.context": "Context: {{context}}",
            "user.question": "Question: {{question}}",
        },
        (),
    ),
    "empty system": ({"system": "", "user": "{{q}}"}, ("yes", "no")),
    "odd text": (
        {"system": "\n\n  {{a}} {{ b.c }}\n\t[edits: []]\n{{", "user": "x:{{a}}:"},
        ("a",),
    ),
    "label words with spaces": (
        {"system": "Is it spam or not spam?", "user": "{{mail}}"},
        ("spam", "not spam"),
    ),
}


def catalog(shape: str, space: SearchSpace | None = None) -> EditCatalog:
    sections, labels = SHAPES[shape]
    return EditCatalog.of(facts_of(Configuration.of({"sections": sections}), labels, space))


def refused(lib: EditCatalog, names: list[str]) -> list:
    made = lib.build(names)
    if made is None:
        return []
    validator = CandidateValidator(baseline=lib.facts.baseline, space=lib.facts.space, item_ids=())
    _, found = asyncio.run(
        validator.validate(
            [CandidateProposal(configuration=made.configuration)],
            known_candidates=(),
            is_seen=lambda *_: False,
            limit=1,
        )
    )
    return found


@pytest.mark.parametrize("shape", SHAPES)
def test_every_edit_alone_is_accepted_and_keeps_the_labels_readable(shape):
    lib = catalog(shape)

    for name in lib.edits:
        assert not refused(lib, [name]), name
        made = lib.build([name])
        if made is not None:
            label_words(lib.facts.labels, made.configuration.parameters)


@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_any_set_of_edits_is_accepted_and_applied_alike_in_any_order(shape, data):
    lib = catalog(shape)
    names = data.draw(st.lists(st.sampled_from(sorted(lib.edits)), max_size=8, unique=True))
    one_each = list({lib.edits[name].group: name for name in names}.values())

    made = lib.build(one_each)

    assert not refused(lib, one_each)
    if made is not None:
        assert lib.build(reversed(one_each)) == made
        assert lib.build(made.names) == made


@pytest.mark.parametrize("shape", SHAPES)
def test_the_metadata_gives_the_names_back(shape):
    lib = catalog(shape)
    made = lib.build([next(lib.singles())])

    def names_of(metadata):
        return lib.names_of(make_candidate(1, metadata=metadata))

    assert names_of(made.metadata) == made.names
    assert names_of({"edits": ["no:such:edit"]}) is None
    assert names_of({"edits": [1]}) is None
    assert names_of({"edits": None}) is None
    assert names_of({}) is None


def test_a_locked_section_is_never_changed():
    lib = catalog("reviews", SearchSpace(locked=("system",)))

    changed = [lib.build([name]) for name in lib.edits]

    assert {"frame:named", "cue:sentiment"} <= lib.edits.keys()
    assert all(
        one.configuration.sections["system"] == lib.facts.baseline.sections["system"]
        for one in changed
        if one is not None
    )


def test_nothing_free_means_no_edits():
    lib = catalog("reviews", SearchSpace(sections=()))

    assert not [name for name in lib.edits if not name.startswith("words:")]


def test_a_length_limit_is_kept():
    lib = catalog("reviews", SearchSpace(max_section_chars=60))

    assert lib.build(["format:reply_exactly"]) is None
    assert lib.build(["frame:named"]) is not None


def test_the_sections_order_plays_no_part():
    sections, labels = SHAPES["many sections"]
    turned = dict(reversed(sections.items()))

    there = EditCatalog.of(facts_of(Configuration.of({"sections": turned}), labels))

    assert list(there.edits) == list(catalog("many sections").edits)


def test_new_label_words_replace_the_old_ones_in_the_text():
    made = catalog("names the labels").build(["words:synonym:good_bad"])

    assert made.configuration.sections["system"] == "Classify the review as good or bad."
    assert made.configuration.parameters["label_words"] == {"positive": "good", "negative": "bad"}


def test_letters_say_what_they_stand_for():
    made = catalog("three labels").build(["words:letters"])

    assert "B: technical_support" in made.configuration.sections["system"]
    assert made.configuration.parameters["label_words"]["Other"] == "C"


def test_labels_are_listed_the_other_way_round_after_all_other_edits():
    made = catalog("names the labels").build(
        ["order:reversed", "words:case:upper", "format:one_of"]
    )

    assert made.configuration.sections["system"] == (
        "Classify the review as NEGATIVE or POSITIVE. Answer with one word: NEGATIVE or POSITIVE."
    )


def test_an_edit_that_needs_another_is_left_out_of_the_names_without_it():
    lib = catalog("reviews")

    assert lib.build(["order:reversed"]) is None
    assert lib.build(["order:reversed", "frame:named"]).names == ("frame:named",)
    assert "order:reversed" in lib.build(["order:reversed", "options:as"]).names


def test_the_first_of_a_group_wins():
    made = catalog("reviews").build(["cue:answer", "cue:sentiment"])

    assert made.names == ("cue:answer",)


def test_the_cue_takes_the_place_of_the_baselines_own():
    made = catalog("three labels").build(["cue:answer"])

    assert made.configuration.sections["user"] == "Ticket: {{ticket.body}}\nAnswer:"


def test_a_sentence_can_go_from_a_line_and_a_line_from_a_section():
    lib = catalog("many sections")

    assert lib.build(["drop:system.rules:2.1"]).configuration.sections["system.rules"] == (
        "Be polite.\nBe exact.\n\nNever lie."
    )
    assert lib.build(["drop:system.rules:3"]).configuration.sections["system.rules"] == (
        "Be polite.\nBe brief. Be exact."
    )


def test_declared_parameters_are_edits_and_others_are_not_touched():
    space = SearchSpace.of(
        {"parameters": {"temperature": {"low": 0, "high": 1}, "style": ["a", "b"]}}
    )
    baseline = Configuration.of(
        {"sections": {"user": "{{q}}"}, "parameters": {"style": "a", "temperature": 0.0, "n": 1}}
    )
    lib = EditCatalog.of(facts_of(baseline, (), space))

    found = {name for name in lib.edits if name.startswith("parameter:")}

    assert "parameter:style:b" in found and "parameter:style:a" not in found
    assert not any(name.startswith("parameter:n") for name in found)
    assert lib.build(["parameter:style:b"]).configuration.parameters["style"] == "b"


def test_words_are_replaced_whole_and_never_inside_placeholders():
    text = "Positive, nonpositive or {{positive}}; not positive-ish."

    assert replace_words(text, {"positive": "good"}) == (
        "Good, nonpositive or {{positive}}; not positive-ish."
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Do it", "Do it. Be brief."),
        ("Do it.\n\n{{x}}", "Do it. Be brief.\n\n{{x}}"),
        ("{{x}}", "Be brief.\n\n{{x}}"),
        ("Take {{x}} and go.", "Take {{x}} and go.\n\nBe brief."),
        ("", "Be brief."),
    ],
)
def test_a_sentence_joins_the_task_and_not_the_input(text, expected):
    assert add_to_task(text, "Be brief.", inline=True) == expected


def test_lists_of_words_read_well():
    assert [any_of(["a"]), any_of(["a", "b"]), any_of(["a", "b", "c"])] == [
        "a",
        "a or b",
        "a, b or c",
    ]


def test_a_run_over_every_shape_proposes_only_what_is_accepted():
    for sections, labels in SHAPES.values():
        run = Run(
            optimizer=Edits(),
            baseline=Configuration.of({"sections": sections}),
            world=lambda candidate, item: (float(len(item + candidate.id) % 2), "x"),
            labels=labels,
            splits={"validation": ("v1", "v02", "v3")},
        ).go(max_trials=12)

        assert not run.refused
        assert len(run.trials) > 4


def test_short_labels_are_replaced_in_lists_only():
    baseline = Configuration.of({"sections": {"system": "Choose a mark: a or b.", "user": "{{x}}"}})
    lib = EditCatalog.of(facts_of(baseline, ("a", "b")))

    made = lib.build(["words:case:upper"])

    assert made.configuration.sections["system"] == "Choose a mark: A or B."
