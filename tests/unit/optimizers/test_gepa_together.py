"""Lines that act on each other: some block others, some help only together, some only come along."""

from __future__ import annotations

import random

from gepa_driver import current_text, gepa_run, helpful, missing_topics, rule, topic_of

from burnish.domain import Candidate

BLOCKER = "Always answer in a hurry."
REGISTER, BACKWARDS = "Open the register first.", "Read all entries backwards."
IDLE = "Remember that every customer matters."


def text_of(candidate: Candidate) -> str:
    return "\n".join(candidate.configuration.sections.values())


def blocked_world(candidate: Candidate, item: str) -> tuple[float, str]:
    """In a hurry, three tickets of four are guessed rightly, and all others wrongly."""
    text, number = text_of(candidate), int(item[1:])
    right = number % 4 != 0 if BLOCKER in text else rule(topic_of(number)) in text
    return float(right), "desk"


def paired_world(candidate: Candidate, item: str) -> tuple[float, str]:
    """Vouchers need two lines, of which one alone does nothing."""
    text, topic = text_of(candidate), topic_of(int(item[1:]))
    if topic == "voucher":
        return float(REGISTER in text and BACKWARDS in text), "desk"
    return float(rule(topic) in text), "desk"


def answer(prompt: str, *lines: str) -> str:
    text = "\n".join([current_text(prompt), *lines])
    return f"Something was missing.\n```\n{text}\n```"


def hurried(prompt: str) -> str:
    """Helps, and often proposes to hurry."""
    hurry = [BLOCKER] if random.Random(prompt).random() < 0.5 else []
    return answer(prompt, *hurry, *map(rule, missing_topics(prompt)))


def one_of_two(prompt: str) -> str:
    """Knows the rules, but of the two lines that vouchers need it never says both."""
    topics = missing_topics(prompt)
    lines = [rule(topic) for topic in topics if topic != "voucher"]
    if "voucher" in topics:
        lines.append(random.Random(prompt).choice([REGISTER, BACKWARDS, IDLE]))
    return answer(prompt, *lines)


def test_a_line_that_is_in_the_way_of_others_is_found_and_left_out():
    run = gepa_run(hurried, world=blocked_world, budget=600).go(max_trials=60)

    said = [one.rationale or "" for one in run.candidates.values()]
    assert any("in the way of others" in one for one in said)
    assert run.best.objective_score == 1
    assert BLOCKER not in text_of(run.best_candidate)


def test_lines_that_help_only_together_are_found_together():
    run = gepa_run(one_of_two, world=paired_world, budget=900).go(max_trials=80)

    assert run.best.objective_score == 1
    assert REGISTER in text_of(run.best_candidate)
    assert BACKWARDS in text_of(run.best_candidate)


def test_what_only_came_along_with_what_helps_is_not_joined():
    def wordy(prompt):
        return helpful(prompt).replace("\n```\n", f"\n```\n{IDLE}\n", 1)

    run = gepa_run(wordy, budget=700).go(max_trials=60)

    assert run.best.objective_score == 1
    assert IDLE not in text_of(run.best_candidate)
