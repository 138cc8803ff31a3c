"""Answers of the meta-model as candidates of `gepa`: no wrappings, no secrets, not too long."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from gepa_driver import (
    ITEMS,
    counted,
    current_text,
    gepa_run,
    helpful,
    missing_topics,
    rule,
    topic_of,
)

from burnish.models import count_tokens

WRAPPINGS = {
    "chatter": "Sure! Here is the improved prompt:\n\n```\n{0}\n```\nLet me know if it helps!",
    "a language": "```markdown\n{0}\n```",
    "a lead-in inside": "```\nImproved instructions:\n{0}\n```",
    "two fences": "Before:\n```\nRoute the ticket.\n```\nAfter:\n```\n{0}\n```",
    "a tag": "<new_instructions>\n{0}\n</new_instructions>",
    "a tag and a fence": "<prompt>\n```\n{0}\n```\n</prompt>",
    "thoughts": "<think>Hm, ```x``` and so on.</think>\n```\n{0}\n```",
    "tildes": "~~~\n{0}\n~~~",
    "windows": "Fine.\r\n```\r\n{0}\r\n```\r\n",
}


@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_neither_fences_nor_what_the_model_says_around_get_into_a_candidate(wrapping):
    def model(prompt):
        text = re.search(r"```\n(.*?)\n```", helpful(prompt), re.DOTALL)[1]
        return WRAPPINGS[wrapping].format(text)

    run = gepa_run(model).go()

    assert run.best.objective_score == 1
    known = {
        "Route the ticket to the right desk.",
        "Say nothing else.",
        "{{ticket}}",
        *map(rule, map(topic_of, range(40))),
    }
    for text in run.texts():
        assert set(text.split("\n")) <= known


class TestLength:
    @pytest.mark.parametrize("most", [30, 60])
    def test_no_candidate_is_longer_than_the_budget(self, most):
        def terse(prompt):
            lines = [rule(topic) for topic in missing_topics(prompt)][:1]
            return "\n".join(["```", current_text(prompt), *lines, "```"])

        run = gepa_run(terse, settings={"max_prompt_tokens": most}, budget=300).go()

        assert len(run.candidates) > 1
        assert run.best.objective_score > 0
        for one in run.candidates.values():
            assert sum(map(count_tokens, one.configuration.sections.values())) <= most

    def test_a_baseline_that_is_too_long_may_only_be_shortened(self):
        run = gepa_run(
            lambda prompt: "```\nRoute it.\n```", settings={"max_prompt_tokens": 12}, budget=300
        ).go()

        made = [one for one in run.candidates.values() if one.number]
        assert made
        assert all(
            sum(map(count_tokens, one.configuration.sections.values())) <= 12 for one in made
        )

    def test_rewrites_that_are_too_long_are_not_tried(self):
        def verbose(prompt):
            lines = "\n".join(f"Rule {n} is long and says little." for n in range(30))
            return f"```\n{lines}\n```"

        run = gepa_run(verbose, settings={"max_prompt_tokens": 100}, budget=90).go()

        assert not any("Rule 9" in text for text in run.texts())


def test_models_see_no_answer_and_no_validation_item():
    model, asked = counted(helpful)
    items = {
        one.id: replace(one, data={**one.data, "expected": f"secret-{one.id}"})
        for one in ITEMS.values()
    }
    gepa_run(model, items=items, settings={"accept_threshold": 2.0}, budget=300).go()

    assert asked
    assert not any("secret-" in prompt or "Dear all" in prompt for prompt in asked)
