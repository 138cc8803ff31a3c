"""Section texts out of models' answers: marked in the usual ways, unmarked, and garbage."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.optimizers.shared.cleaning import extract_rationale, extract_text

CURRENT = "Classify the review: {{review}}"
TEXT = "Read {{review}}.\nAnswer with one word."
CODE = 'Answer as JSON:\n```json\n{"label": "{{review}}"}\n```\nNothing else.'

# Lines that mark nothing themselves; whether a text may hold fences is shown by examples.
LINES = st.text(
    st.characters(
        codec="utf-8", exclude_categories=("Cs", "Cc", "Zl", "Zp"), exclude_characters="`~<"
    ),
    max_size=60,
)
TEXTS = st.lists(LINES, min_size=1, max_size=6).map(
    lambda lines: "\n".join(["Do {{review}}", *lines, "and so on"])
)
WRAPPERS = (
    "```\n{}\n```",
    "```text\n{}\n```",
    "```markdown\n{}\n```\n",
    "~~~\n{}\n~~~",
    "````\n{}\n````",
    "```\n{}",
    "```\n\n{}\n\n```",
    "Sure! Here is the improved prompt:\n\n```\n{}\n```",
    "Here's a better version:\n```prompt\n{}\n```\n\nRationale: it is clearer.",
    "The old one was\n```\nClassify the review: {{{{review}}}}\n```\nand this is new:\n```\n{}\n```",
    "<think>```\nnot this {{{{review}}}}\n```</think>\n```\n{}\n```",
    "<new_instructions>\n{}\n</new_instructions>",
    "Here it is:\n<improved_prompt>{}</improved_prompt>\nI hope this helps!",
    "<new_instructions>\n```\n{}\n```\n</new_instructions>",
    "```\n<prompt>\n{}\n</prompt>\n```",
    "I looked at the failures.\r\n\r\n```\r\n{}\r\n```",
)


@settings(max_examples=60, deadline=None)
@given(text=TEXTS, wrapper=st.sampled_from(WRAPPERS))
def test_a_marked_text_comes_back_unchanged(text, wrapper):
    assert extract_text(wrapper.format(text), current=CURRENT) == text


@settings(max_examples=100, deadline=None)
@given(answer=st.text(), current=st.text(max_size=40))
def test_garbage_gives_some_text_or_none(answer, current):
    found = extract_text(answer, current=current)

    assert found is None or any(one.isalnum() for one in found)
    assert len(extract_rationale(answer)) <= 300


@pytest.mark.parametrize(
    "answer",
    [
        TEXT,
        f'Sure, here\'s the improved version:\n\n"{TEXT}"\n\nI hope this helps!',
        f"Here is the improved prompt: {TEXT}",
        f"**Improved prompt:**\n{TEXT}\n\n**Rationale:** shorter",
        f"## Revised instructions\n{TEXT}\n\n### Changes made:\n- shorter",
        f"Certainly!\n\n{TEXT}\n\nLet me know if you want another.",
        f"---\n{TEXT}\n---",
        f"“{TEXT}”",
        f"```{TEXT}```",
        f"```\n{TEXT}```",
        f"```\nHere is the improved prompt:\n{TEXT}\n```",
        f"{TEXT}\n\nThis improved prompt tells the model what to answer.",
    ],
)
def test_what_is_said_around_the_text_goes(answer):
    assert extract_text(answer, current=CURRENT) == TEXT


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "   \n",
        "```\n```",
        "```",
        "…!?",
        "I'm sorry, but I can't help with that.",
        "No changes needed.",
        "The prompt fails because it never says what the labels are.",  # lost the placeholder
        "word {{review}} " * 500,
    ],
)
def test_an_answer_without_a_text_gives_none(answer):
    assert extract_text(answer, current=CURRENT) is None


def test_a_word_is_no_text_unless_the_current_text_is_one():
    assert extract_text("OK", current="Answer the question with care.") is None
    assert extract_text("OK", current="Yes") == "OK"


@pytest.mark.parametrize(
    "text",
    [
        '"Yes" or "no" for {{review}}: which is it? Say "Yes" or "no"',
        "Below is a review. Classify it as: positive or negative.\n{{review}}",
        "Think.\nReasoning: why\nExplanation: how\nAnswer: {{review}}",
        "Put the label of {{review}} into <answer>label</answer>.",
        "Here is a review: {{review}}",
        "    indented {{review}}",
    ],
)
def test_texts_that_look_like_meta_text_stay_whole(text):
    assert extract_text(f"```\n{text}\n```", current=CURRENT) == text
    assert extract_text(text, current=CURRENT) == text.strip()


@pytest.mark.parametrize(
    "wrapper", ["```\n{}\n```", "````\n{}\n````", "Here:\n```markdown\n{}\n```"]
)
def test_fences_inside_the_text_stay(wrapper):
    assert extract_text(wrapper.replace("{}", CODE), current=CURRENT) == CODE


def test_bare_fences_inside_stay_when_the_current_text_has_fences_too():
    text = CODE.replace("json\n", "\n")

    assert extract_text(f"New:\n```\n{text}\n```", current=CODE) == text


def test_of_several_blocks_the_last_that_is_no_fragment_counts():
    fragment = (
        f"Old:\n```\n{CURRENT}\n```\nNew:\n```\n{TEXT}\n```\nIt will say:\n```\npositive\n```"
    )

    assert extract_text(fragment, current=CURRENT) == TEXT


def test_placeholders_stay_as_they_are():
    text = "Use {{ review }} and {{review}}, not {review}."

    assert extract_text(f"```\n{text}\n```", current=CURRENT) == text


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (f"The labels were missing.\n```\n{TEXT}\n```", "The labels were missing."),
        (
            f"Sure! Here is the improved prompt:\n```\n{TEXT}\n```\nRationale: It is\nshorter.",
            "It is shorter.",
        ),
        (f"{TEXT}\n\nRationale: It is shorter.", "It is shorter."),
        (f"<prompt>{TEXT}</prompt>\nNow it names the labels.", "Now it names the labels."),
        (f"```\n{TEXT}\n```\n\nI hope this helps!", ""),
        (TEXT, ""),
    ],
)
def test_the_rationale_is_what_stands_beside_the_text(answer, said):
    assert extract_rationale(answer) == said


def test_a_long_rationale_is_cut():
    said = extract_rationale("why " * 200 + "\n```\nx\n```")

    assert len(said) <= 300
    assert said.endswith("…")


@pytest.mark.parametrize(
    "piece", ["`", "```\n", "<prompt>", " ", "-", "\n", "*", "sure ", "here is "]
)
def test_long_repetitions_are_read_in_no_time(piece):
    # Of this thread alone: what runs beside it does not count.
    started = time.thread_time()
    extract_text(piece * 20_000, current=CURRENT)
    extract_rationale(piece * 20_000)

    assert time.thread_time() - started < 2
