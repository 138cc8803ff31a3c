"""What the meta-model is shown and what is taken from its answer."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from known import result

from burnish.domain import AgentOutput, ErrorKind, Item, ItemError, Score
from burnish.optimizers.shared.reflection import (
    Question,
    Shown,
    feedback_of,
    inputs_of,
    read_answer,
)

CURRENT = "Route the ticket to a desk.\nAnswer with {{ticket}} and its desk."


def shown(item: str = "t1", data=None, **more) -> Shown:
    data = data or {"ticket": f"the ticket {item}", "expected": f"the-answer-of-{item}"}
    given = {"reason": f"the judgement of {item}", **more}
    return Shown(
        item=Item(id=item, data=data), result=result(item, given.pop("score", 0.0), **given)
    )


def question(**more) -> Question:
    given = {"section": "system", "text": CURRENT, "failed": (shown("t1"), shown("t2")), **more}
    return Question(**given)


class TestPrompt:
    def test_the_current_text_stands_in_the_first_fence(self):
        prompt = question(failed=(shown(output=AgentOutput(text="```\nsome code\n```")),)).prompt()

        assert re.search(r"^```\n(.*?)\n```$", prompt, re.DOTALL | re.MULTILINE)[1] == CURRENT

    def test_a_text_with_fences_stands_in_a_longer_one(self):
        text = "Answer with:\n```json\n{}\n```\nThat is all."

        assert f"````\n{text}\n````" in question(text=text).prompt()

    def test_inputs_outputs_and_feedback_are_shown_and_answers_are_not(self):
        prompt = question().prompt()

        for item in ("t1", "t2"):
            assert f"ticket: the ticket {item}" in prompt
            assert f"answer to {item}" in prompt
            assert f"wrong, score 0. the judgement of {item}" in prompt
            assert f"the-answer-of-{item}" not in prompt

    def test_passed_items_follow_the_failed_ones(self):
        prompt = question(passed=(shown("t3", score=1.0),)).prompt()

        assert prompt.index("the ticket t2") < prompt.index("the ticket t3")
        assert "correct, score 1. the judgement of t3" in prompt

    def test_traces_are_shown_in_part(self):
        trace = [{"step": "looked up", "result": "x" * 5_000}]
        prompt = question(failed=(shown(output=AgentOutput(text="no", trace=trace)),)).prompt()

        assert '## Trace\n[{"step": "looked up"' in prompt
        assert len(prompt) < 3_000

    def test_no_trace_has_no_heading(self):
        assert "## Trace" not in question().prompt()

    def test_long_inputs_and_outputs_are_shown_in_part(self):
        long = shown(data={"ticket": "y" * 9_000}, output=AgentOutput(text="z" * 9_000))

        assert len(question(failed=(long,)).prompt()) < 5_000

    def test_no_output_is_no_trouble(self):
        failed = shown(
            output=None, error=ItemError(kind=ErrorKind.AGENT, message="it broke"), reason=""
        )

        assert "error: it broke" in question(failed=(failed,)).prompt()

    def test_useless_changes_and_other_sections_are_told(self):
        prompt = question(
            useless=("added “Be kind.”",),
            helped=("added “Be exact.”",),
            others={"user": "Ticket:\n{{ticket}}"},
            max_tokens=80,
        ).prompt()

        assert "did not help (do not repeat them):\n- added “Be kind.”" in prompt
        assert "measurably helped:\n- added “Be exact.”" in prompt
        assert "Other sections, which stay as they are:\n> user: Ticket: {{ticket}}" in prompt
        assert "Stay below 80 tokens." in prompt

    def test_without_any_of_these_there_is_no_word_about_them(self):
        prompt = question().prompt()

        for words in ("Earlier changes", "Other sections", "Stay below"):
            assert words not in prompt

    def test_a_rewrite_is_asked_for_as_a_whole(self):
        assert "Write the section anew" in question(rewrite=True).prompt()
        assert "Keep every line" in question().prompt()

    def test_equal_questions_are_asked_alike(self):
        assert question().prompt() == question().prompt()


class TestInputs:
    @pytest.mark.parametrize(
        "name", ["expected", "label", "Answer", "expected_output", "gold", "target", "category"]
    )
    def test_answer_fields_are_left_out(self, name):
        item = Item(id="t1", data={"ticket": "Where is it?", name: "secret"})

        assert inputs_of(item) == "ticket: Where is it?"

    def test_answers_within_other_fields_are_left_out_too(self):
        data = {
            "ticket": "Where is it?",
            "meta": {"expected": "secret", "day": "Monday"},
            "turns": [{"said": "Hello", "label": "secret"}],
        }

        said = inputs_of(Item(id="t1", data=data))

        assert "secret" not in said
        assert 'meta: {"day": "Monday"}' in said
        assert 'turns: [{"said": "Hello"}]' in said


class TestFeedback:
    def test_reasons_of_all_scorers(self):
        scores = (Score(0.0, "too long"), Score(1.0), Score(0.0, error="no verdict"))
        judged = replace(result("t1", 0.5), scores=scores)

        assert feedback_of(judged) == "wrong, score 0.5. too long no verdict"

    def test_without_a_reason_the_verdict_is_left(self):
        assert feedback_of(result("t1", 1.0)) == "correct, score 1."


class TestAnswers:
    def test_the_new_text_and_what_was_said(self):
        new = f"{CURRENT}\nParcels go to shipping."
        answer = f"Parcels were not covered.\n\n```\n{new}\n```\nI hope this helps!"

        assert read_answer(answer, CURRENT) == (new, "Parcels were not covered.")

    @pytest.mark.parametrize(
        "answer",
        [
            "",
            "   \n\t",
            "I'm sorry, I cannot do that.",
            "```\n```",
            "```\n---\n```",
            "\x00\x01",
            f"```\n{CURRENT}\n```",
            f"No changes needed.\n```\n\n{CURRENT}  \n\n```",
            "Just some words without the text.",
            "{}",
            "<think>What now?",
        ],
    )
    def test_garbage_gives_nothing(self, answer):
        assert read_answer(answer, CURRENT) is None
