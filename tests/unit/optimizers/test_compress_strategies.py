"""Strategies: shorter texts that keep every placeholder."""

import asyncio

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
