"""Mixture worlds are frozen, fair, and neither trivial nor impossible."""

import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from climbing import climb
from gepa_prompt import gepa_prompt

from burnish.benchmarks import worlds as worlds_package
from burnish.benchmarks.worlds import MIXTURES, make_world
from burnish.benchmarks.worlds.draws import digest
from burnish.benchmarks.worlds.mixtures import SETS, Spec, world_class
from burnish.benchmarks.worlds.mixtures.forms import Knowledge, write
from burnish.benchmarks.worlds.mixtures.spec import ADVICE, FILLERS, FORMS, SCORES

every_mixture = pytest.mark.parametrize("name", MIXTURES)

# A change here is a change of the benchmark: results from before it can no longer be compared.
FROZEN = {
    "tuning": "95ed390259eefeefe2c2324540d85659",
    "reporting": "60100c453eea1c7d7775be6b89175742",
    "structured": "c4fedb1da4a7c633dc99a169e0b88760",
}
# What makes a plain climber slow: text is lost or padded, or rules hold each other back.
HARD = ("tuning-01", "reporting-03", "reporting-07")

BY_PATH = """
import importlib.util, sys
folders = [sys.argv[2]]
spec = importlib.util.spec_from_file_location("w", sys.argv[1], submodule_search_locations=folders)
sys.modules["w"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["w"])
assert "burnish" not in sys.modules
world = sys.modules["w"].make_world(sys.argv[3], 1)
print("|".join(world.answer(world.sections, row) for row in world.train), world.maximum)
"""


def behaviour(name):
    """What a world does on its way from the baseline to what a climber finds."""
    world = make_world(name, 7)
    seen = [json.dumps([world.train, world.validation, world.test, world.sections])]
    seen += [f"{world.start:.9f} {world.maximum:.9f}", json.dumps(world.solution())]
    for sections in (world.sections, world.solution(), climb(world, budget=300)):
        section = list(sections)[-1]
        prompt = gepa_prompt(world, sections, world.train[:6], section)
        seen += [prompt, world.reflect(prompt), world.reflect(prompt), json.dumps(sections)]
    return digest(*seen)


@pytest.mark.parametrize("chosen", SETS)
def test_the_worlds_behave_as_they_did_when_they_were_frozen(chosen):
    assert digest(*(behaviour(spec.name) for spec in SETS[chosen])) == FROZEN[chosen]


def test_the_sets_have_every_property():
    tuning, reporting, structured = SETS["tuning"], SETS["reporting"], SETS["structured"]

    assert (len(tuning), len(reporting), len(structured)) == (12, 20, 9)
    assert {spec.form for spec in reporting} == {spec.form for spec in tuning} == set(FORMS)
    assert {spec.score for spec in reporting} == {spec.score for spec in tuning} == set(SCORES)
    assert {spec.sections for spec in reporting} == {1, 2, 3}
    assert {spec.attention for spec in reporting} == {"none", "fade", "cut"}
    assert len({spec.interaction for spec in reporting}) == 4
    assert all(
        any(vars(spec.habits)[trait] for spec in reporting) for trait in vars(tuning[0].habits)
    )
    assert all(20 <= spec.validation <= 100 for spec in (*tuning, *reporting))


def varied(world, draw):
    """Texts as the reflector writes them, with rules left out and lines put in."""
    texts = {}
    for name, opening in world.openings.items():
        mine = [cue for cue in world.rules if world.section_of(cue) == name]
        kept = [cue for cue in mine if draw.random() > draw.choice((0, 0, 0.2))]
        known = Knowledge(
            facts={cue: [world.rules[cue]] for cue in kept},
            general=draw.sample(sorted(set(world.rules.values())), draw.choice((0, 0, 1))),
            advice=draw.sample(list(ADVICE), draw.randrange(3)),
            fillers=draw.sample(FILLERS, draw.randrange(3)),
        )
        texts[name] = write(opening, known, world.spec.form, draw.randrange(4))
    return texts


@every_mixture
def test_the_maximum_can_be_written_and_nothing_beats_it(name):
    world = make_world(name, 1)
    draw = random.Random(5)

    assert world.expectation(world.solution()) == world.maximum
    assert max(world.expectation(varied(world, draw)) for _ in range(300)) <= world.maximum + 1e-9
    assert 0 < world.start <= 0.6 * world.maximum


@every_mixture
def test_the_expectation_is_the_mean_of_many_draws(name):
    world = make_world(name, 1)
    fresh = world.sample("fresh", 1_500)

    for sections in (world.sections, varied(world, random.Random(3))):
        scores = [world.score(world.answer(sections, row), row)[0] for row in fresh]

        assert sum(scores) / len(scores) == pytest.approx(world.expectation(sections), abs=0.04)


@pytest.mark.parametrize("name", [name for name in MIXTURES if name not in HARD])
def test_a_plain_climber_closes_half_of_the_gap(name):
    world = make_world(name, 0)

    best = climb(world, budget=1_500)

    assert world.expectation(best) >= (world.start + world.maximum) / 2


@pytest.mark.parametrize("name", HARD)
def test_the_hard_ones_are_climbed_with_more_calls(name):
    world = make_world(name, 0)

    best = climb(world, budget=6_000)

    assert world.expectation(best) >= (world.start + world.maximum) / 2


def test_luck_falls_anew_with_each_repeat_and_in_no_order():
    one, other = make_world("reporting-10", 3), make_world("reporting-10", 3)
    rows = one.train[:10]
    sections = one.solution()

    forth = Counter(one.answer(sections, row) for _ in range(5) for row in rows)
    back = Counter(other.answer(sections, row) for row in reversed(rows) for _ in range(5))

    assert forth == back
    assert len({output.partition(": ")[2] for output in forth}) > len(rows)
    assert one.best_tried == one.maximum > one.start


def test_the_seed_moves_luck_only():
    one, other = make_world("tuning-00", 1), make_world("tuning-00", 2)
    solution = one.solution()

    assert (one.train, one.maximum, solution) == (other.train, other.maximum, other.solution())
    assert [one.answer(solution, row) for row in one.train] != [
        other.answer(solution, row) for row in one.train
    ]


def test_another_process_without_burnish_meets_the_same_world():
    world = make_world("reporting-03", 1)
    file = Path(worlds_package.__file__)

    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", BY_PATH, file, file.parent, world.name],
        capture_output=True,
        text=True,
        check=True,
    )

    answers = "|".join(world.answer(world.sections, row) for row in world.train)
    assert done.stdout.strip() == f"{answers} {world.maximum}"


def told(world, **knowledge):
    """The expectation of all rules with some lines more."""
    facts = {cue: [code] for cue, code in world.rules.items()}
    text = write("Classify.", Knowledge(facts=facts, **knowledge), "lines", 0)
    return world.expectation({"system": text})


def world_of(**properties):
    return world_class(Spec(name="made", form="lines", **properties))(1)


def test_two_pieces_of_advice_help_alone_and_hurt_together():
    world = world_of(interaction="clash")

    alone = [told(world, advice=[one]) for one in ("narrow-reading", "wide-reading")]

    assert told(world, advice=["narrow-reading", "wide-reading"]) < told(world) < min(alone)


def test_half_of_the_rules_wait_for_another():
    world = world_of(interaction="prerequisite")
    bare = write("Classify.", Knowledge(advice=["tally-mark"]), "lines", 0)

    assert world.expectation({"system": bare}) == world.start
    assert told(world) < 0.8 * told(world, advice=["tally-mark"])


def test_a_line_on_everything_else_helps_first_and_hurts_later():
    world = world_of(interaction="overreach", score="fraction")
    code = Counter(world.rules.values()).most_common(1)[0][0]
    early = write("Classify.", Knowledge(general=[code]), "lines", 0)

    assert world.expectation({"system": early}) > world.start
    assert told(world, general=[code]) < 0.7 * told(world)


@pytest.mark.parametrize("attention", ["fade", "cut"])
def test_a_long_prompt_loses_rules(attention):
    world = world_of(attention=attention, room=1.05)

    assert told(world, fillers=list(FILLERS)) < 0.9 * told(world)


def test_a_note_on_an_item_helps_nobody_else():
    world = world_of()
    row = next(
        row for row in world.train if world.score(world.answer(world.sections, row), row)[0] < 1
    )
    [(cue, code)] = [part.split("=") for part in row["expected"].split("; ")]
    text = write("Classify.", Knowledge(notes={(row["message"][5:10], cue): code}), "lines", 0)

    assert world.score(world.answer({"system": text}, row), row)[0] == 1
    assert world.expectation({"system": text}) == world.start
