"""The simulated reflection model works with any optimizer's prompt."""

import dataclasses
import json
import re

import pytest
from gepa_prompt import fenced, gepa_prompt

from burnish.benchmarks.worlds import make_world
from burnish.benchmarks.worlds.reading import length_of, read
from burnish.benchmarks.worlds.reflector import Complaint, understand
from burnish.benchmarks.worlds.vocabulary import RULE_LINES, USELESS_LINES

SEEDS = range(12)


def world_of(seed=2, name="rules"):
    return make_world(name, seed)


def attentive(seed):
    """A reflection model that makes use of more than the text and the feedback."""
    world = world_of(seed)
    world.habits = dataclasses.replace(world.habits, copy=0.5, obey=0.8)
    return world


def complaints_of(world, rows):
    outputs = [world.answer(world.sections, row) for row in rows]
    return [world.score(output, row)[1] for output, row in zip(outputs, rows, strict=True)]


def rules_in(world, text):
    """True rules that a text states."""
    said = read(text).directives
    return {topic for topic, action in world.rules.items() if said.get(topic) == {action}}


def rule(world, number, wording=0):
    topic, action = list(world.rules.items())[number]
    return RULE_LINES[wording].format(topic=topic, action=action)


def test_the_default_prompt_of_gepa_leads_to_new_rules():
    found = 0
    for seed in SEEDS:
        world = world_of(seed)
        answer = world.reflect(gepa_prompt(world, world.sections, world.train[:3]))
        found += len(rules_in(world, fenced(answer)))

        assert answer.count("```") == 2
        assert fenced(answer).startswith(world.sections["system"].splitlines()[0])

    assert len(SEEDS) * 0.7 < found <= len(SEEDS) * 2


def test_the_same_prompt_gets_the_same_answer_and_each_call_counts():
    world, again = world_of(), world_of()
    prompt = gepa_prompt(world, world.sections, world.train[:3])

    assert world.reflect(prompt) == again.reflect(prompt) == world.reflect(prompt)
    assert (world.reflections, again.reflections) == (2, 1)


def test_complaints_are_read_from_json_and_told_apart_by_ticket():
    world = world_of()
    rows = world.train[:4]
    prompt = "Improve this:\n```text\n" + world.sections["system"] + "\n```\n"
    prompt += json.dumps([{"feedback": one} for one in complaints_of(world, rows)], indent=1)

    seen = understand(prompt, world.sections)

    assert seen.current == world.sections["system"]
    refs = {row["message"][1:8] for row in rows}
    assert {one.ref for one in seen.complaints} <= refs
    for one in seen.complaints:
        [row] = [row for row in rows if row["message"][1:8] == one.ref]
        assert one.topic in row["message"] and one.action in row["expected"]


def test_right_answers_beside_their_tickets_are_enough():
    world = world_of()
    row = next(row for row in world.train if "," not in row["expected"])
    prompt = f"Input: {row['message']}\nExpected output: {row['expected']}\n"

    [seen] = understand(prompt, world.sections).complaints

    topic = next(topic for topic in world.rules if topic in row["message"])
    assert seen == Complaint(row["message"][1:8], topic, world.rules[topic])


def test_without_a_fence_it_starts_from_the_baseline():
    world = world_of()

    answer = fenced(world.reflect("Please write something better."))

    assert answer.startswith(world.sections["system"].splitlines()[0])


def test_among_several_fences_it_finds_the_instructions():
    world = world_of()
    prompt = f'```json\n{{"a": 1}}\n```\n```\n{world.sections["system"]}\n```\n```\nother\n```'

    assert understand(prompt, world.sections).current == world.sections["system"]


@pytest.mark.parametrize("heading", ["Another candidate that scored 0.7:", "## Scored 0.71"])
def test_rules_of_other_texts_are_taken_over_now_and_then(heading):
    taken = 0
    for seed in SEEDS:
        world = attentive(seed)
        other = "\n".join(rule(world, number) for number in range(3))
        prompt = f"```\n{world.sections['system']}\n```\n\n{heading}\n```\n{other}\n```\n"
        taken += len(rules_in(world, fenced(world.reflect(prompt))))

    assert 8 < taken < 3 * len(SEEDS) - 4


def test_what_was_rejected_is_seldom_repeated():
    def repeated(advice):
        found = 0
        for seed in range(30):
            world = attentive(seed)
            prompt = gepa_prompt(world, world.sections, world.train[:1])
            listed = "\n".join(f"- {rule(world, n, wording=1)}" for n in range(len(world.rules)))
            answer = fenced(world.reflect(prompt + advice + listed if advice else prompt))
            found += bool(rules_in(world, answer))
        return found

    advice = "\n\nEarlier changes that were tried and did not help (do not repeat them):\n"
    assert repeated(advice) < 0.5 * repeated("")


def test_other_sections_are_left_where_they_are():
    world = world_of(name="components")
    first, second, *_ = world.sections
    quoted = f"> {second}: {world.sections[second]} {rule(world, 0)} {rule(world, 1)}"
    prompt = (
        f"```\n{world.sections[first]}\n```\n\nOther sections, which stay as they are:\n{quoted}\n\n"
        f"Lines that helped elsewhere:\n- {rule(world, 2)}"
    )

    seen = understand(prompt, world.sections)

    assert seen.elsewhere == (list(world.rules.items())[2],)


def test_a_limit_of_length_is_mostly_kept():
    fitting = 0
    for seed in SEEDS:
        world = attentive(seed)
        text = "\n".join([world.sections["system"], *(f"- {line}" for line in USELESS_LINES)])
        answer = fenced(world.reflect(f"```\n{text}\n```\nStay below 60 tokens."))
        fitting += length_of(answer) <= 45

    assert 6 <= fitting < len(SEEDS)


def test_old_rules_survive_most_rewrites():
    kept = total = 0
    for seed in SEEDS:
        world = world_of(seed)
        sections = world.solution()
        answer = fenced(world.reflect(gepa_prompt(world, sections, world.train[:3])))
        kept += len(rules_in(world, answer))
        total += len(world.rules)

    assert 0.9 * total < kept <= total


def test_the_memoriser_quotes_tickets_with_their_answers():
    quotes = 0
    for seed in SEEDS:
        world = world_of(seed, "memoriser")
        answer = fenced(world.reflect(gepa_prompt(world, world.sections, world.train[:3])))
        quotes += len(re.findall(r"For ticket T-\d{5} .* the answer is", answer))

    assert quotes > len(SEEDS) * 0.7
