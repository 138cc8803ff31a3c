"""Strategies: shorter texts that keep every placeholder."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.domain import Configuration, placeholders
from burnish.models import as_model, count_tokens
from burnish.optimizers.compress.cuts import build, line_cuts
from burnish.optimizers.compress.strategies import (
    LLMCompressStrategy,
    MechanicalCompressStrategy,
    core,
    lean,
    tidy,
)
from burnish.optimizers.compress.units import split_units

PIECES = st.sampled_from(
    [
        "Please note that you have to read it.",
        "In order to answer, use {{ticket}}.",
        "Answer with one word.",
        "answer with one word",
        "For example, a long one.",
        "Thank you very much!",
        '```json\n{"a":  1}\n```',
        "  - very   wide    gaps",
        "",
        "{{name}}",
        "Never guess. It is very important to be exact. Never guess.",
    ]
)
TEXTS = st.builds(
    lambda parts, join: join.join(parts), st.lists(PIECES, max_size=8), st.sampled_from("\n ")
)


def propose(strategy, text):
    configuration = Configuration.of({"sections": {"system": text}})
    return asyncio.run(strategy.propose(configuration, ["system"]))


@settings(max_examples=50, deadline=None)
@given(TEXTS)
def test_edits_are_shorter_and_keep_placeholders(text):
    for edit in propose(MechanicalCompressStrategy(min_section_tokens=1), text):
        assert edit.proposed_tokens == count_tokens(edit.proposed_body) < edit.original_tokens
        assert set(placeholders(edit.proposed_body)) == set(placeholders(text))


@settings(max_examples=50, deadline=None)
@given(TEXTS)
def test_units_join_to_the_text_and_cuts_never_lose_a_placeholder(text):
    assert "".join(unit.text + unit.tail for unit in split_units(text)) == text
    baseline = Configuration.of({"sections": {"system": text}})
    for cut in line_cuts("system", baseline.sections["system"], ""):
        after = build(baseline, [cut])
        assert after is None or after.placeholders == baseline.placeholders


def test_filler_repetition_and_examples_go():
    text = (
        "Please note that you have to answer.\n\n\n\nIn order to win, read.\nIn order to win, read.\n"
        "For example, this one. Thank you for reading.\nThe sky is blue."
    )

    kept = "You must answer.\n\nTo win, read.\n"
    assert tidy(text) == (f"{kept}For example, this one. Thank you for reading.\nThe sky is blue.")
    assert lean(text) == "You must answer.\n\nTo win, read.\nThe sky is blue."
    assert core(text) == "You must answer."


@pytest.mark.parametrize(
    ("cut", "text"),
    [
        (tidy, "Never reply with just a number."),
        (tidy, "Reply with just a number."),
        (tidy, "Tell them what you have to offer."),
        (tidy, "Reply with exactly: please wait"),
        (tidy, "Say: please hold the line."),
        (tidy, "Tickets that are not very urgent wait."),
        (tidy, "Very urgent tickets go first."),
        (tidy, "A visa is required to travel."),
        (tidy, "Tell us whether it is important to the customer."),
        (tidy, "Make a note that the customer called."),
        (tidy, "Fill in the form completely, at all times."),
        (lean, "Route the ticket to a team.\nRemember, you must never give medical advice."),
        (lean, "Ship the parcel today.\nThank the customer for the order."),
        (lean, "Go there.\nAs always, refunds go to billing."),
        (lean, "Messages about a parcel get a voucher.\nMessages about a screen get a voucher."),
        (lean, "Send refunds from billing to sales.\nSend refunds from sales to billing."),
        (lean, "Answer in English.\nNever answer in English."),
        (core, "1. First rule.\n2. Second rule.\n3. Third rule."),
    ],
)
def test_edits_without_a_model_never_change_what_is_said(cut, text):
    assert cut(text) == text


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("Please note that you are a very helpful assistant.", "You are a helpful assistant."),
        ("Please note that you help and that you care.", "Note that you help and that you care."),
        ("Always keep in mind that customers come first.", "Customers come first."),
        ("- It is very important to read it.", "- You must read it."),
        ("2. In order to win, read.", "2. To win, read."),
        ("Please make absolutely sure that you offer a refund.", "Offer a refund."),
        ("Make sure that you are polite.", "Make sure that you are polite."),
    ],
)
def test_what_is_left_is_a_sentence(text, short):
    assert tidy(text) == short


def test_the_mark_of_a_list_belongs_to_its_line():
    units = split_units("1. First rule.\n 12. Second rule. And more.")

    assert [unit.text for unit in units] == ["1. First rule.", " 12. Second rule.", "And more."]


def test_what_stands_in_a_fence_stays():
    text = "Use this very carefully please:\n```\nplease   keep   very  much\n```"

    assert "please   keep   very  much" in core(text)


def test_small_sections_are_left_alone_and_large_ones_come_first():
    sections = {"a": "Please read. " * 5, "b": "Please read it all. " * 20, "c": "Please read."}
    configuration = Configuration.of({"sections": sections})

    edits = asyncio.run(
        MechanicalCompressStrategy(min_section_tokens=8).propose(configuration, list(sections))
    )

    assert list(dict.fromkeys(edit.path for edit in edits)) == ["b", "a"]


def answering(answers):
    asked = []

    def model(prompt):
        asked.append(prompt)
        return next(answer for words, answer in answers.items() if words in prompt)

    strategy = LLMCompressStrategy(model, min_section_tokens=1)

    async def run(text):
        strategy.connect(as_model)
        return await strategy.propose(Configuration.of({"sections": {"system": text}}), ["system"])

    return asked, lambda text: asyncio.run(run(text))


def test_a_model_rewrites_in_three_strengths_and_bad_answers_are_dropped():
    text = "Read the ticket {{ticket}} with the greatest care and then answer with one single word."
    asked, run = answering(
        {
            "fewer words": "Sure! Here is the shortened section:\n"
            "```\nRead {{ticket}} and answer with one word.\n```",
            "about half": "```\nAnswer with one word.\n```",
            "telegram": "I'm sorry, I cannot do that.",
        }
    )

    edits = run(text)

    assert len(asked) == 3
    assert all("{{ticket}}" in prompt for prompt in asked)
    # The second lost the placeholder, the third refused.
    assert [(one.strength, one.proposed_body) for one in edits] == [
        ("light", "Read {{ticket}} and answer with one word.")
    ]
