"""Forms of knowledge in the mixture worlds, and the reflector that reads any prompt and writes them."""

import json

import pytest
from gepa_prompt import gepa_prompt

from burnish.benchmarks.worlds.mixtures import Habits, Spec, world_class
from burnish.benchmarks.worlds.mixtures.forms import Knowledge, read, write
from burnish.benchmarks.worlds.mixtures.reflector import find_complaints, find_current
from burnish.benchmarks.worlds.mixtures.spec import FORMS

KNOWN = Knowledge(
    facts={"lantern": ["teal-bin"], "kettle": ["amber-shelf"], "violin": ["teal-bin"]},
    notes={("12345", "harp"): "ivory-rack"},
    general=["olive-bin"],
    advice=["tally-mark"],
)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("variant", range(4))
def test_what_is_written_is_read_again(form, variant):
    text = write("Classify.", KNOWN, form, variant)

    assert read(text, form) == KNOWN
    assert read(f"Sure, here it is:\n\n{text}\n\nHave fun!", form) == KNOWN


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("headings", "- lantern\n- kettle"),
        ("headings", "## teal-bin\nThese:\n- lantern"),
        ("table", "| lantern | teal-bin |\n| kettle | teal-bin |\n| violin | teal-bin |"),
        ("table", "| thing | code |\n| --- | --- |\n\n| lantern | teal-bin |"),
        ("prose", "The lantern belongs there.\n\nA word on teal-bin, which is easily missed."),
        ("json", '{"lantern": "teal-bin",'),
        ("examples", "Input: a message about the lantern\nOutput: teal-bin"),
        ("examples", "```example\nInput: a message about the lantern\n```\nOutput: teal-bin"),
        ("lines", "Mind the lantern.\nteal-bin is one of the codes."),
    ],
)
def test_a_piece_alone_counts_for_nothing(form, text):
    assert read(text, form).facts == {}


def world_of(form="lines", *, sections=1, habits=None, **properties):
    spec = Spec(
        name="made", form=form, sections=sections, habits=habits or Habits(), cues=12, **properties
    )
    return world_class(spec)(1)


def layouts(text, items):
    yield f"```\n{text}\n```\n\n{items}"
    yield f"{items}\n\nThe prompt:\n~~~~text\n{text}\n~~~~\nImprove it."
    yield f"<current_prompt>\n{text}\n</current_prompt>\n<items>{items}</items>"
    yield json.dumps({"items": items, "prompt": text})
    yield f"# Prompt\n\n{text}\n\n# Items\n\n{items}\n"


@pytest.mark.parametrize("form", FORMS)
def test_the_current_text_is_found_however_it_is_shown(form):
    world = world_of(form)
    text = world.solution()["system"]
    row = world.train[0]
    items = f"{row['message']}\n{world.score('', row)[1]}"

    for prompt in layouts(text, items):
        section, found = find_current(prompt, world.openings)

        assert section == "system"
        assert read(found, form).facts == read(text, form).facts
        assert len(find_complaints(prompt)) == 1


def test_of_several_sections_the_first_that_is_shown_is_meant():
    world = world_of(sections=3)
    texts = world.solution()
    shown = ["weekend", "morning", "evening"]
    prompt = "\n\n".join(f"`{name}`:\n```\n{texts[name]}\n```" for name in shown)

    assert find_current(prompt, world.openings) == ("weekend", texts["weekend"])


def test_a_text_without_its_opening_is_still_read():
    world = world_of("table")
    text = world.solution()["system"].split("\n", 1)[1]
    prompt = gepa_prompt(world, {"system": text}, world.train[:3])
    history = "\n\nTried before:\n- lantern, kettle, violin, umbrella: teal-bin"

    assert read(find_current(prompt + history, world.openings)[1], "table").facts.keys() == {
        *world.rules
    }


def lessons(world, calls=40):
    """What is new in answers to complaints about the baseline, by kind."""
    found = {"right": 0, "wrong": 0, "notes": 0, "empty": 0}
    for number in range(calls):
        row = world.train[number % len(world.train)]
        prompt = f"{number}\n```\n{world.sections['system']}\n```\n" + world.score("", row)[1]
        known = read(world.reflect(prompt), world.spec.form)
        right = sum(codes == [world.rules[cue]] for cue, codes in known.facts.items())
        found["right"] += right
        found["wrong"] += len(known.facts) - right
        found["notes"] += len(known.notes)
        found["empty"] += not (known.facts or known.notes)
    return found


def test_an_accurate_reflector_teaches_what_the_feedback_says():
    assert lessons(world_of()) == {"right": 40, "wrong": 0, "notes": 0, "empty": 0}


def test_reflectors_have_the_habits_that_they_are_given():
    assert 10 < lessons(world_of(habits=Habits(memorise=0.5)))["notes"] < 30
    assert 5 < lessons(world_of(habits=Habits(wrong=0.3)))["wrong"] < 20
    assert 5 < lessons(world_of("table", habits=Habits(refuse=0.4)))["empty"] < 25
    assert 5 < lessons(world_of(noise=0.3))["wrong"] < 20


def answers(world, calls=20):
    prompt = gepa_prompt(world, world.solution(), world.train[:1])
    return [world.reflect(f"{prompt}\n{number}") for number in range(calls)]


def test_a_forgetting_reflector_drops_rules():
    kept = [len(read(one, "lines").facts) for one in answers(world_of(habits=Habits(forget=0.2)))]

    assert 8 < sum(kept) / len(kept) < 11


def test_a_rewording_reflector_says_the_same_in_other_words():
    world = world_of("headings", habits=Habits(reword=True))
    said = answers(world)

    assert len(set(said)) > 10
    assert all(read(one, "headings").facts.keys() == {*world.rules} for one in said)


def test_a_chatty_reflector_wraps_the_text_in_many_ways():
    world = world_of("table", habits=Habits(chatty=True))
    said = answers(world, 60)

    assert {one[:3] for one in said} > {"```", "~~~", "Sur"}
    assert all(read(one, "table").facts.keys() == {*world.rules} for one in said)


@pytest.mark.parametrize(("partial", "most"), [(True, 1), (False, 6)])
def test_a_partial_reflector_teaches_one_thing_at_a_time(partial, most):
    world = world_of(habits=Habits(partial=partial))
    told = "\n".join(world.score("", row)[1] for row in world.train)

    answer = world.reflect(f"```\n{world.sections['system']}\n```\n{told}")

    assert len(read(answer, "lines").facts) == most


def test_a_reflector_teaches_the_section_that_it_rewrites():
    world = world_of(sections=2)
    told = "\n".join(world.score("", row)[1] for row in world.train)

    answer = world.reflect(f"```\n{world.sections['evening']}\n```\n{told}")

    assert {world.section_of(cue) for cue in read(answer, "lines").facts} == {"evening"}
