"""Answers of meta-models: the text and its reason, or the kind of what came instead."""

from __future__ import annotations

import json

import pytest

from burnish.optimizers.shared.answer_reading import Rewritten, Unusable, read_answer

CURRENT = "Route the ticket to a desk.\nAnswer with one word."
NEW = f"{CURRENT}\nParcels go to shipping."


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (f"Parcels were missing.\n\n```\n{NEW}\n```\nI hope this helps!", "Parcels were missing."),
        (f"<think>Hm, ```x```.</think>\n```\n{NEW}\n```", ""),
        (json.dumps({"rationale": "Parcels.", "new_text": NEW}), "Parcels."),
        (f"```json\n{json.dumps({'reason': 'Parcels.', 'system': NEW})}\n```", "Parcels."),
        (json.dumps({"new_prompt": NEW}), ""),
        (json.dumps({"improved": NEW, "why": "Parcels."}), "Parcels."),
        (json.dumps({"instructions": NEW.split("\n")}), ""),
        (f"```\nsystem:\n{NEW}\n```", ""),
        (f"```\nSystem prompt: {NEW}\n```", ""),
        (
            f"```\n{NEW}\n```\nFor example, it is used so:\n```\n{'My parcel is late! ' * 9}\n```",
            None,
        ),
        (f"```\n{NEW}", ""),
        (f"Sure! Here is the new prompt:\n\n{NEW}\n\nLet me know if it should be shorter.", ""),
    ],
)
def test_the_new_text_is_found_whatever_stands_around_it(answer, reason):
    read = read_answer(answer, CURRENT, section="system")

    assert isinstance(read, Rewritten)
    assert read.text == NEW
    assert reason is None or read.reason == reason


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        ("empty", ""),
        ("empty", "   \n\t"),
        ("empty", "```\n---\n```"),
        ("empty", "\x00\x01"),
        ("empty", "<think>What now?"),
        ("refusal", "I'm sorry, but I can't help with that."),
        ("refusal", "```\nI'm sorry, but I can't help with that.\n```"),
        ("refusal", "Unfortunately, I am not able to rewrite this section for you."),
        ("refusal", "Thank you for the details. Unfortunately, I cannot help with this request."),
        ("refusal", '{"new_text": "I cannot assist with that."}'),
        ("counter_question", "Before I write anything: could you tell me who reads the answers?"),
        ("counter_question", "Could you please share the list of departments first? Thanks."),
        ("counter_question", "Which departments are there, and who works in them?"),
        ("counter_question", "```\nCould you tell me which departments there are?\n```"),
        ("cut", f"```\n{CURRENT}\n- A message about a delivery go"),
        ("cut", '{"reason": "Parcels.", "new_text": "Route the tick'),
        ("cut", "```\n[keep existing lines]\nParcels go to shipping.\n```"),
        ("cut", "```\nParcels go to shipping.\n(rest unchanged)\n```"),
        ("cut", "```\nParcels go to shipping.\n... the previous instructions remain ...\n```"),
        ("unchanged", f"```\n{CURRENT}\n```"),
        ("unchanged", f"No changes needed.\n```\n\n{CURRENT}  \n\n```"),
        ("unchanged", "No changes are needed."),
        ("unreadable", '{"score": 3, "ok": true}'),
        ("unreadable", '{"one": "some text", "two": "another text"}'),
        ("unreadable", "The assistant did not know which words belong where, so I will add a"),
    ],
)
def test_what_is_no_text_has_a_kind(kind, answer):
    assert read_answer(answer, CURRENT) == Unusable(kind)


def test_a_lost_placeholder_has_a_kind_too():
    assert read_answer("```\nRoute it.\n```", "Route {{ticket}}.") == Unusable("placeholders")


def test_what_the_model_was_not_given_room_for_is_cut_however_it_ends():
    answer = f"```\n{NEW}\n```"

    assert read_answer(answer, CURRENT, finish_reason="length") == Unusable("cut")
    assert read_answer(answer, CURRENT, finish_reason="refusal") == Unusable("refusal")


@pytest.mark.parametrize(
    "text",
    [
        "Please provide a short answer.",
        "Could you tell me the desk of {{ticket}}?",
        '{"desk": "billing"} is how an answer looks.',
        "{{ticket}}\nAnswer in one word.",
        "# Task\n\n| word | desk |\n| --- | --- |\n| parcel | shipping |",
    ],
)
def test_prompts_that_look_like_something_else_are_prompts(text):
    assert read_answer(f"```\n{text}\n```", "Route it.") == Rewritten(text, "")


def test_a_text_that_is_json_stays_json():
    assert read_answer('```\n{"task": "new"}\n```', '{"task": "old"}') == Rewritten(
        '{"task": "new"}', ""
    )
