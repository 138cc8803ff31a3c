"""Worlds are fair: hashed from content, counted, and scored by their exact expectation."""

import json
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from burnish.benchmarks import worlds as worlds_package
from burnish.benchmarks.worlds import WORLDS, make_world
from burnish.benchmarks.worlds.vocabulary import HARMFUL_LINES, RULE_LINES, USELESS_LINES

SEED = 3
every_world = pytest.mark.parametrize("name", WORLDS)

BY_PATH = """
import importlib.util, json, sys
folders = [sys.argv[2]]
spec = importlib.util.spec_from_file_location("w", sys.argv[1], submodule_search_locations=folders)
sys.modules["w"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["w"])
assert "burnish" not in sys.modules
world = sys.modules["w"].make_world(sys.argv[3], int(sys.argv[4]))
outputs = [world.answer(world.sections, row) for row in world.train]
print(json.dumps([world.train, outputs, world.maximum, world.reflect("nothing to go by")]))
"""


def partial_solution(world, count):
    """The baseline with the first rules in every section: some work, in `components` some don't."""
    lines = [RULE_LINES[0].format(topic=t, action=a) for t, a in list(world.rules.items())[:count]]
    return {name: "\n".join([text, *lines]) for name, text in world.sections.items()}


def prompts_of(world):
    solution = world.solution()
    name = next(iter(solution))
    harmful = next(iter(HARMFUL_LINES.values()))
    return [
        dict(world.sections),
        solution,
        partial_solution(world, 4),
        {**partial_solution(world, 6), name: partial_solution(world, 6)[name] + "\n" + harmful},
    ]


@every_world
def test_the_expectation_is_the_mean_of_many_draws(name):
    world = make_world(name, SEED)
    fresh = world.sample("fresh", 2_500)

    for sections in prompts_of(world):
        scores = [world.score(world.answer(sections, row), row)[0] for row in fresh]

        assert sum(scores) / len(scores) == pytest.approx(world.expectation(sections), abs=0.025)


@every_world
def test_answers_do_not_depend_on_order_or_threads(name):
    first, second = make_world(name, SEED), make_world(name, SEED)
    sections = partial_solution(first, 5)
    rows = [*first.train, *first.validation]
    shuffled = random.Random(1).sample(rows, len(rows))

    in_order = {row["id"]: first.answer(sections, row) for row in rows}
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda row: second.answer(sections, row), shuffled))

    assert dict(zip((row["id"] for row in shuffled), answers, strict=True)) == in_order
    assert first.calls == second.calls == len(rows)


@every_world
def test_another_process_without_burnish_meets_the_same_world(name):
    world = make_world(name, SEED)
    expected = [
        world.train,
        [world.answer(world.sections, row) for row in world.train],
        world.maximum,
        world.reflect("nothing to go by"),
    ]
    file = Path(worlds_package.__file__)

    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", BY_PATH, file, file.parent, name, str(SEED)],
        capture_output=True,
        text=True,
        check=True,
    )

    assert json.loads(done.stdout) == json.loads(json.dumps(expected))


@every_world
def test_nothing_beats_the_maximum(name):
    draw = random.Random(5)
    for seed in range(3):
        world = make_world(name, seed)
        for _ in range(100):
            lines = {key: text.splitlines() for key, text in world.solution().items()}
            for text in lines.values():
                extra = draw.sample([*USELESS_LINES, *HARMFUL_LINES.values()], 2)
                text[:] = draw.sample(text, max(1, len(text) - draw.randrange(3))) + extra
            mixed = {key: "\n".join(text) for key, text in lines.items()}
            assert world.expectation(mixed) <= world.maximum + 1e-9
        assert world.expectation(world.solution()) == world.maximum
        assert 0 < world.start < 0.5 * world.maximum < 0.5


@every_world
def test_rows_are_plain_and_cover_every_rule(name):
    world = make_world(name, SEED)
    rows = [*world.train, *world.validation]

    assert json.loads(json.dumps(rows)) == rows
    assert {row["split"] for row in world.train} == {"train"}
    assert len({row["id"] for row in rows}) == len(rows)
    assert len({row["message"].split("]")[0] for row in rows}) == len(rows)
    for action in world.rules.values():
        assert any(action in row["expected"] for row in world.train)
    assert world.score(world.train[0]["expected"], world.train[0])[0] == 1.0


def test_seeds_and_names_make_different_worlds():
    assert make_world("rules", 1).rules != make_world("rules", 2).rules
    assert make_world("rules", 1).rules != make_world("noisy", 1).rules


def test_an_unknown_world_is_refused_with_those_that_exist():
    with pytest.raises(ValueError, match="rules, weak_reflector"):
        make_world("rule", 1)


@pytest.mark.parametrize(
    "layout",
    [
        "* {0}\n\n*   {1}",
        "1. {0}\n2) {1}",
        "{1}\n{0}\n{0}",
        "  {0}   {1}",
        "## Rules\n> - {0}\n> - {1}",
        "**{0}** {1}",
    ],
)
def test_a_rule_is_recognised_however_it_is_laid_out(layout):
    world = make_world("rules", SEED)
    (first, a), (second, b), *_ = world.rules.items()
    lines = [
        RULE_LINES[1].format(topic=first, action=a),
        RULE_LINES[3].format(topic=second, action=b),
    ]
    plain = {"system": "\n".join(lines)}

    assert world.expectation({"system": layout.format(*lines)}) == world.expectation(plain)
    assert world.expectation(plain) > world.start


def test_a_contradiction_costs_more_than_it_gives():
    world = make_world("rules", SEED)
    (topic, action), (_, other), *_ = world.rules.items()
    right, wrong = (RULE_LINES[0].format(topic=topic, action=one) for one in (action, other))

    known, confused, misled = (
        world.expectation({"system": text}) for text in (right, f"{right}\n{wrong}", wrong)
    )

    assert known > confused > world.start > misled


def test_a_quoted_ticket_helps_itself_and_nobody_else():
    world = make_world("memoriser", SEED)
    row = world.train[0]
    line = f'For ticket {row["message"][1:8]} ("{row["message"]}") the answer is {row["expected"]}.'
    sections = {"system": world.sections["system"] + "\n- " + line}

    assert world.expectation(sections) == world.start
    assert world.score(world.answer(sections, row), row)[0] == 1.0
    assert [world.answer(sections, one) for one in world.train[1:]] == [
        world.answer(world.sections, one) for one in world.train[1:]
    ]


async def test_the_async_model_says_the_same_and_is_counted():
    world = make_world("rules", SEED)
    row = world.train[0]

    assert await world.answer_async(world.sections, row) == world.answer(world.sections, row)
    assert world.calls == 2
