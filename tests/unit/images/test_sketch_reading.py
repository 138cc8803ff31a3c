"""What the sketch model reads in a prompt, and what it says that it leaves out."""

import pytest

from burnish.domain.images.runs import Constraints, ObjectivePreset
from burnish.images.models.sketch.model import scene_of
from burnish.images.models.sketch.reading import Scene, read_prompt
from burnish.images.planning import template_prompts


def read(prompt):
    return read_prompt(prompt)[0]


def things_of(prompt):
    return {thing.word: thing for thing in read(prompt).things}


@pytest.mark.parametrize(
    ("prompt", "shapes", "undrawn"),
    [
        ("portrait of an old fisherman", ["fisherman"], {"old", "portrait"}),
        ("a cat riding a bicycle in the rain", ["cat", "bicycle"], {"riding"}),
        ("corporate logo for a coffee shop", ["corporate logo", "coffee shop"], set()),
        ("abstract painting of anxiety", ["anxiety"], {"abstract", "painting"}),
        (
            "two lovers kissing under the Eiffel Tower at sunset",
            ["lover", "eiffel tower"],
            {"kissing", "under"},
        ),
        (
            "infographic about climate change with bar charts",
            ["infographic", "climate change", "bar chart"],
            set(),
        ),
        ("a cat, fluffy, cute", ["cat"], {"fluffy", "cute"}),
    ],
)
def test_nouns_are_labelled_shapes_and_the_other_words_are_named_as_not_drawn(
    prompt, shapes, undrawn
):
    scene = read(prompt)

    assert [thing.word for thing in scene.things] == shapes
    assert set(scene.undrawn) == undrawn


def test_no_word_of_a_prompt_is_left_out_without_a_word():
    scene = read("a grumpy zorblax juggling seven sparkling quims beneath an ornate balcony")

    said = {*scene.undrawn, *" ".join(thing.word for thing in scene.things).split()}
    assert said == {
        "grumpy", "zorblax", "juggling", "sparkling", "quim", "beneath", "ornate", "balcony",
    }  # fmt: skip


def test_counts_colours_and_sizes_belong_to_the_thing_they_stand_before():
    things = things_of("three tiny red apples and a huge blue cup on a wooden table")

    assert (things["apple"].count, things["apple"].colour, things["apple"].size) == (3, "red", 0.5)
    assert (things["cup"].count, things["cup"].colour, things["cup"].size) == (1, "blue", 1.5)
    assert things["wooden table"].colour is None


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
        ("a house under the moon and the stars", "sky", ("moon", "star")),
    ],
)
def test_light_ground_framing_and_style_are_read(prompt, field, value):
    assert getattr(read(prompt), field) == value


def test_places_in_the_picture_are_read():
    things = things_of("a dog on the left, a tree in the background and a balloon in the sky")

    assert [things[word].place for word in ("dog", "tree", "balloon")] == ["left", "back", "top"]


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
    scene = read(prompt)

    assert scene.things == ()
    assert scene.backdrops == ("beach",)
    assert {"people", "boat"} <= set(scene.absent)
    assert scene.undrawn == ()


def test_words_of_a_list_that_must_be_included_need_no_article():
    things = read("a house. Must include: zorblax, red umbrella.").things

    assert [(one.word, one.colour) for one in things] == [
        ("house", None),
        ("zorblax", None),
        ("umbrella", "red"),
    ]


def test_an_edit_keeps_what_it_does_not_name():
    base = read("three yellow ducks on a lake at sunset, watercolour")

    edited = scene_of(
        ("three yellow ducks on a lake at sunset, watercolour", "make the ducks blue, add a boat")
    )

    assert [(one.word, one.count, one.colour) for one in edited.things] == [
        ("duck", 3, "blue"),
        ("boat", 1, None),
    ]
    assert (edited.backdrops, edited.light, edited.styles) == (
        ("lake",),
        "sunset",
        ("watercolour",),
    )
    assert edited.seed == base.seed


def test_an_edit_still_names_what_the_first_prompt_asked_for_in_vain():
    edited = scene_of(("portrait of an old fisherman", "at night"))

    assert set(edited.undrawn) == {"old", "portrait"}
    assert (edited.light, [one.word for one in edited.things]) == ("night", ["fisherman"])


def test_an_edit_removes_what_it_does_not_want():
    edited = scene_of(
        ("a boat and a lighthouse at the beach", "the same without the boat, at night")
    )

    assert [one.word for one in edited.things] == ["lighthouse"]
    assert edited.light == "night"


@pytest.mark.parametrize("objective", list(ObjectivePreset))
def test_planned_changes_add_no_things_to_a_picture(objective):
    prompt = "portrait of an old fisherman"
    planned = template_prompts(prompt, objective, Constraints())

    for _ in range(10):
        scene = scene_of((prompt, next(planned)[0]))
        assert [one.word for one in scene.things] == ["fisherman"]


@pytest.mark.parametrize(
    "prompt", ["", "   ", "\x00\uffff", "a" * 50_000, "no " * 5000, "((((", "🦆", "the red " * 900]
)
def test_any_text_is_some_scene_of_bounded_size(prompt):
    scene = read(prompt)

    assert isinstance(scene, Scene)
    assert len(scene.things) <= 8
    assert len(scene.undrawn) <= 12
    assert all(len(one.word) <= 40 and one.count <= 9 for one in scene.things)
