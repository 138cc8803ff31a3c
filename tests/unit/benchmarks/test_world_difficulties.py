"""Each world has the difficulty that it is named after."""

import random
from itertools import pairwise

import pytest
from gepa_prompt import fenced, gepa_prompt

from burnish.benchmarks.worlds import WORLDS, make_world
from burnish.benchmarks.worlds.vocabulary import RULE_LINES, USELESS_LINES

SEED = 4


def climbed(world, reflections, goal):
    """Hill climbing by the true expectation: what the reflection model can lead to at all."""
    best = dict(world.sections)
    names = list(best)
    batches = random.Random(0)
    while world.reflections < reflections and world.expectation(best) < goal:
        section = names[world.reflections % len(names)]
        prompt = gepa_prompt(world, best, batches.sample(world.train, 3), section)
        child = {**best, section: fenced(world.reflect(prompt))}
        if world.expectation(child) > world.expectation(best):
            best = child
    return best


@pytest.mark.parametrize("name", WORLDS)
def test_the_reflection_model_leads_close_to_the_maximum(name):
    world = make_world(name, SEED)
    goal = 0.9 * world.maximum

    best = climbed(world, 400, goal)

    assert world.expectation(best) >= goal


def test_attention_falls_with_every_surplus_line():
    world = make_world("attention", SEED)
    text = world.solution()["system"]
    values = [
        world.expectation({"system": "\n".join([text, *USELESS_LINES[:count]])})
        for count in range(2, 8)
    ]

    assert all(after < before for before, after in pairwise(values))
    assert world.expectation({"system": text + "\nBe kind."}) == world.maximum


def test_all_rules_overflow_the_baseline_of_the_attention_world():
    world = make_world("attention", SEED)
    rules = [RULE_LINES[0].format(topic=t, action=a) for t, a in world.rules.items()]

    full = world.expectation({"system": "\n".join([world.sections["system"], *rules])})

    assert full < 0.9 * world.maximum


def test_the_lure_helps_first_and_blocks_later():
    world = make_world("deceptive", SEED)
    lure = "\nAnswer from the list of quick-replies wherever one comes close."
    baseline, best = world.sections["system"], world.solution()["system"]

    assert world.expectation({"system": baseline + lure}) > 3 * world.start
    assert world.expectation({"system": best + lure}) < 0.7 * world.maximum


def test_the_pair_hurts_alone_and_helps_together():
    world = make_world("deceptive", SEED)
    *others, first, second = world.solution()["system"].splitlines()

    without, one, other, both = (
        world.expectation({"system": "\n".join([*others, *pair])})
        for pair in ([], [first], [second], [first, second])
    )

    assert max(one, other) < without < both


def test_a_rule_works_in_its_own_section_only():
    world = make_world("components", SEED)
    topic, action = next(iter(world.rules.items()))
    line = RULE_LINES[0].format(topic=topic, action=action)
    gains = {
        name: world.expectation({**world.sections, name: f"{text}\n{line}"}) - world.start
        for name, text in world.sections.items()
    }

    assert len(world.sections) in (3, 4)
    assert [name for name, gain in gains.items() if gain > 0] == [world.home(topic)]
    assert all(name not in world.complaint("T-10000", topic, action, "") for name in gains)


def test_the_best_prompt_of_the_noisy_world_fails_some_and_the_baseline_passes_some():
    world = make_world("noisy", SEED)
    rows = [*world.train, *world.validation]

    best = [world.score(world.answer(world.solution(), row), row)[0] for row in rows]
    start = [world.score(world.answer(world.sections, row), row)[0] for row in rows]

    assert set(best) == set(start) == {0.0, 1.0}
    assert 0.7 < sum(best) / len(rows) < 0.95
    assert 0.1 < sum(start) / len(rows) < 0.4


def test_noise_falls_anew_with_the_wording_but_not_with_the_layout():
    world = make_world("noisy", SEED)
    text = world.solution()["system"]
    laid_out = {"system": text.replace("- ", "* ").replace("\n", "\n\n")}
    worded = {"system": text + "\nStay calm."}

    outputs = [
        [world.answer(sections, row) for row in world.train]
        for sections in ({"system": text}, laid_out, worded)
    ]

    assert outputs[0] == outputs[1] != outputs[2]


def test_the_weak_reflector_is_seldom_right():
    def rules_found(name):
        found = 0
        for seed in range(20):
            world = make_world(name, seed)
            prompt = gepa_prompt(world, world.sections, world.train[:3])
            child = {"system": fenced(world.reflect(prompt))}
            found += world.expectation(child) > 1.2 * world.start
        return found

    assert rules_found("weak_reflector") < 8 < 14 < rules_found("rules")
