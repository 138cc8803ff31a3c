"""What the sketch model understands of a prompt."""

import json

import pytest

from burnish.images.models.sketch.kinds import KINDS
from burnish.images.models.sketch.merging import merge
from burnish.images.models.sketch.reading import read_prompt
from burnish.images.models.sketch.scene import Scene
from burnish.images.models.sketch.words import THINGS


def scene_of(prompt):
    return read_prompt(prompt)[0]


def things_of(prompt):
    return {thing.kind: thing for thing in scene_of(prompt).things}


def test_counts_colours_and_sizes_belong_to_the_thing_they_stand_before():
    things = things_of("three tiny red apples and a huge blue cup on a wooden table")

    assert (things["apple"].count, things["apple"].colour, things["apple"].size) == (3, "red", 0.5)
    assert (things["cup"].count, things["cup"].colour, things["cup"].size) == (1, "blue", 1.5)
    assert things["table"].colour is None


def test_two_roles_dress_one_person():
    scene = scene_of("cinematic portrait of an astronaut chef in a neon diner")

    (person,) = scene.things
    assert (person.kind, person.wears) == ("person", ("astronaut", "chef"))
    assert scene.backdrops == ("diner",)
    assert (scene.light, scene.styles, scene.frame) == ("neon", ("cinematic",), "close")


@pytest.mark.parametrize("prompt", ["a cat astronaut", "portrait of a cat as an astronaut"])
def test_an_animal_may_have_a_role(prompt):
    (cat,) = scene_of(prompt).things

    assert (cat.kind, cat.wears) == ("cat", ("astronaut",))


def test_an_animal_may_have_a_role_and_wear_things():
    (cat,) = scene_of("a cat astronaut wearing a red scarf and sunglasses in space").things

    assert cat.wears == ("astronaut", "scarf", "glasses")


@pytest.mark.parametrize(
    ("prompt", "field", "value"),
    [
        ("a house at golden hour", "light", "golden-hour"),
        ("a house at night under neon", "light", "neon"),
        ("a neon city at night", "light", "neon"),
        ("a neon diner. Relight with a warm golden-hour key light", "light", "golden-hour"),
        ("a house in the rain", "weather", ("rain",)),
        ("a house, watercolor", "styles", ("watercolour",)),
        ("a house, line art, film grain", "styles", ("line-art", "grain")),
        ("a wide shot of a house", "frame", "wide"),
        ("macro of a rose", "frame", "close"),
        ("a house by the rule of thirds", "layout", "thirds"),
        ("a house with clear space around it", "layout", "roomy"),
        ("a symmetrical house", "layout", "symmetric"),
        ("a house in a green meadow", "tint", "green"),
        ("a house between mountains and a lake", "backdrops", ("mountains", "lake")),
        ("a vibrant, warm house", "mood", ("vibrant", "warm")),
    ],
)
def test_manners_of_a_picture_are_read(prompt, field, value):
    assert getattr(scene_of(prompt), field) == value


def test_places_in_the_picture_are_read():
    things = things_of("a dog on the left, a tree in the background and a balloon in the sky")

    assert [things[kind].place for kind in ("dog", "tree", "balloon")] == ["left", "back", "top"]


def test_whoever_is_in_front_of_something_has_it_behind():
    scene = scene_of("a knight and a dragon in front of a castle")

    assert [(one.kind, one.wears, one.place) for one in scene.things] == [
        ("person", ("knight",), ""),
        ("dragon", (), ""),
        ("castle", (), "back"),
    ]


def test_two_roles_with_a_word_between_are_two_people():
    people = scene_of("a knight and a wizard").things

    assert [one.wears for one in people] == [("knight",), ("wizard",)]


@pytest.mark.parametrize(
    "prompt",
    [
        "a beach without people, no boats",
        "a beach. Must avoid: people, boats.",
        "a beach\navoid: people and boats",
        "a beach free of people; exclude boats",
    ],
)
def test_what_is_not_wanted_is_not_in_the_scene(prompt):
    scene = scene_of(prompt)

    assert scene.things == ()
    assert scene.backdrops == ("beach",)
    assert {"people", "boat"} <= set(scene.absent)


def test_an_unknown_noun_becomes_a_shape_of_its_own():
    kinds = [(thing.kind, thing.word) for thing in scene_of("a zorblax beside two quims").things]

    assert kinds == [("unknown", "zorblax"), ("unknown", "quim")]


def test_words_of_a_list_that_must_be_included_need_no_article():
    things = scene_of("a house. Must include: zorblax, red umbrella.").things

    assert [(one.kind, one.colour) for one in things] == [
        ("house", None),
        ("unknown", None),
        ("umbrella", "red"),
    ]


def test_every_word_for_a_thing_has_a_drawing():
    assert set(THINGS.values()) <= set(KINDS)
    assert len(KINDS) > 70


def test_an_edit_keeps_what_it_does_not_name():
    base = scene_of("three yellow ducks on a lake at sunset, watercolour")
    asked, banned = read_prompt("make the ducks blue, add a boat")

    edited = merge(base, asked, banned)

    assert [(one.kind, one.count, one.colour) for one in edited.things] == [
        ("duck", 3, "blue"),
        ("boat", 1, None),
    ]
    assert (edited.backdrops, edited.light, edited.styles) == (
        ("lake",),
        "sunset",
        ("watercolour",),
    )
    assert edited.seed == base.seed


def test_an_edit_removes_what_it_does_not_want():
    asked, banned = read_prompt("the same without the boat, at night")

    edited = merge(scene_of("a boat and a lighthouse at the beach"), asked, banned)

    assert [one.kind for one in edited.things] == ["lighthouse"]
    assert edited.light == "night"


def test_a_scene_survives_its_json_form():
    scene = scene_of("three tiny red apples on a table, no text, pixel art, close-up")

    assert Scene.of(json.loads(json.dumps(scene.to_json()))) == scene


@pytest.mark.parametrize(
    "value",
    [None, [], {"seed": "1"}, {"things": []}, 7],
)
def test_what_is_no_scene_is_none(value):
    assert Scene.of(value) is None


def test_a_forged_scene_is_cut_to_size():
    thing = {"kind": "cat", "word": "x" * 900, "count": 10**9, "size": 1e9, "wears": ["a"] * 99}
    forged = {"seed": 1, "things": [thing] * 500, "styles": [1, "oil"], "turns": [10**12] * 50}

    scene = Scene.of(forged)

    assert scene is not None
    assert len(scene.things) <= 8
    assert (scene.things[0].count, scene.things[0].size) == (9, 3.0)
    assert len(scene.things[0].word) == 40
    assert scene.styles == ("oil",)


@pytest.mark.parametrize(
    "prompt", ["", "   ", "\x00\uffff", "a" * 50_000, "no " * 5000, "((((", "🦆"]
)
def test_any_text_is_some_scene(prompt):
    assert isinstance(scene_of(prompt), Scene)
