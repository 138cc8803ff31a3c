"""What the sketch model draws, and that it says what it does not draw."""

import asyncio
import io
import json
import subprocess
import sys

import pytest
from image_world import draw_prompt, redraw
from PIL import Image, ImageChops, ImageStat
from PIL.PngImagePlugin import PngInfo

from burnish.domain import UsageError
from burnish.domain.images.runs import Constraints, ObjectivePreset, Quality
from burnish.images.models import SketchModel
from burnish.images.models.picture_words import BACKDROPS, LIGHTS, STYLES
from burnish.images.models.sketch import drawing
from burnish.images.models.sketch.drawing import draw_scene
from burnish.images.models.sketch.model import PROMPTS_KEY, scene_of
from burnish.images.models.sketch.reading import Scene, Thing, read_prompt
from burnish.images.planning import template_prompts

ASTRONAUT = "cinematic portrait of an astronaut chef in a neon diner"


def opened(data):
    return Image.open(io.BytesIO(data)).convert("RGB")


def difference(one, other):
    both = [opened(data).resize((96, 96)) for data in (one, other)]
    return sum(ImageStat.Stat(ImageChops.difference(*both)).mean) / 3


def share_like(picture, colour, reach=60):
    """How much of a picture is near a colour."""
    gap = ImageChops.difference(picture, Image.new("RGB", picture.size, colour))
    near = [max(pixel) < reach for pixel in zip(*[iter(gap.tobytes())] * 3, strict=True)]
    return sum(near) / len(near)


def encoded(picture, form="PNG"):
    out = io.BytesIO()
    picture.save(out, form)
    return out.getvalue()


async def test_the_same_request_gives_the_same_bytes_from_any_task():
    model = SketchModel()
    pictures = await asyncio.gather(
        *(model.generate(ASTRONAUT, quality=Quality.LOW) for _ in range(3))
    )
    base = pictures[0].data
    edits = [await model.edit(base, "at sunset", quality=Quality.LOW) for _ in range(2)]
    await model.close()

    assert len({picture.data for picture in pictures}) == 1
    assert edits[0].data == edits[1].data != base
    assert pictures[0].usage.calls == 1
    assert "offline" in model.label


def test_quality_is_size():
    sizes = [opened(draw_prompt("a red apple", quality)).size for quality in Quality]

    assert sizes == [(384, 384), (512, 512), (768, 768)]


@pytest.mark.parametrize(
    ("asked", "colour"),
    [("red", (200, 40, 44)), ("blue", (44, 96, 196)), ("yellow", (248, 208, 48))],
)
def test_a_thing_has_the_colour_that_was_asked_for(asked, colour):
    plain = opened(draw_prompt("a white car in a studio", Quality.LOW)).resize((96, 96))
    picture = opened(draw_prompt(f"a {asked} car in a studio", Quality.LOW)).resize((96, 96))

    assert share_like(picture, colour) > share_like(plain, colour) + 0.03


def test_more_things_take_more_room():
    one, five = (
        opened(draw_prompt(f"{count} red apples on a studio backdrop", Quality.LOW))
        for count in ("one", "five")
    )
    columns = [
        sum(
            share_like(picture.crop((x, 0, x + 24, 384)), (200, 40, 44), 70) > 0.02
            for x in range(0, 384, 24)
        )
        for picture in (one, five)
    ]

    assert columns[1] > columns[0] + 3


def test_night_is_darker_than_day_and_sunset_is_warmer():
    day, night, sunset = (
        ImageStat.Stat(opened(draw_prompt(f"a house in a field {when}", Quality.LOW))).mean
        for when in ("by day", "at night", "at sunset")
    )

    assert sum(night) < 0.6 * sum(day)
    assert sunset[0] / sunset[2] > 1.3 * day[0] / day[2]


def test_different_prompts_give_visibly_different_pictures():
    prompts = ["a cat", "a castle at night", "three ducks on a lake", "a red car", "a rose, noir"]
    pictures = [draw_prompt(prompt, Quality.LOW) for prompt in prompts]

    apart = [difference(a, b) for i, a in enumerate(pictures) for b in pictures[:i]]
    assert min(apart) > 12


def test_an_unknown_word_has_a_shape_of_its_own():
    pictures = [draw_prompt(f"a {word} on a table", Quality.LOW) for word in ("zorblax", "flumph")]

    assert difference(*pictures) > 1


def test_every_planned_variant_is_another_picture_of_the_same_things():
    base = draw_prompt(ASTRONAUT, Quality.LOW)
    prompts = template_prompts(ASTRONAUT, ObjectivePreset.ADHERENCE, Constraints())
    variants = [redraw(base, next(prompts)[0], Quality.LOW) for _ in range(4)]

    assert len({*variants, base}) == 5
    for data in variants:
        assert difference(base, data) > 0.5
        told = tuple(json.loads(Image.open(io.BytesIO(data)).text[PROMPTS_KEY]))
        assert [thing.word for thing in scene_of(told).things] == ["astronaut chef"]


def test_an_edit_that_names_nothing_new_is_seen_to_be_another_picture():
    base = draw_prompt("a bedroom", Quality.LOW)

    assert difference(base, redraw(base, "Take 2 of the same picture", Quality.LOW)) > 0.1


@pytest.mark.parametrize(
    "chunk", ["[]", "[1]", "{}", "nonsense", '"text"', "[" * 5000, json.dumps(["x" * 700_000])]
)
def test_a_forged_chunk_makes_the_picture_a_foreign_one(chunk):
    info = PngInfo()
    info.add_text(PROMPTS_KEY, chunk)
    out = io.BytesIO()
    Image.new("RGB", (64, 64), (20, 160, 60)).save(out, "PNG", pnginfo=info)

    edited = opened(redraw(out.getvalue(), "at night", Quality.LOW))

    assert edited.size == (384, 384)


def texts_of(monkeypatch, prompt, *edits):
    """What is written on the picture of a prompt."""
    written = []
    text = drawing.ImageDraw.ImageDraw.text

    def noted(self, place, words, *arguments, **options):
        written.append(words)
        return text(self, place, words, *arguments, **options)

    data = draw_prompt(prompt, Quality.LOW)
    monkeypatch.setattr(drawing.ImageDraw.ImageDraw, "text", noted)
    if not edits:
        draw_prompt(prompt, Quality.LOW)
    for edit in edits:
        written.clear()
        data = redraw(data, edit, Quality.LOW)
    return written


def test_a_noun_is_a_labelled_shape_and_a_strip_says_what_was_not_drawn(monkeypatch):
    """IMG-11: an empty meadow was drawn for a fisherman, without a word."""
    texts = texts_of(monkeypatch, "portrait of an old fisherman")

    assert texts == ["fisherman", "sketch, not drawn: old, portrait"]


def test_the_strip_of_an_edit_says_it_too(monkeypatch):
    texts = texts_of(monkeypatch, "portrait of an old fisherman", "at night", "smiling, at dusk")

    assert texts == ["fisherman", "sketch, not drawn: old, portrait, smiling"]


def test_a_strip_without_words_left_out_says_that_it_is_a_sketch(monkeypatch):
    assert texts_of(monkeypatch, "a red fox in a snowy forest at dawn") == ["fox", "sketch"]


def test_a_strip_holds_what_fits_and_counts_the_rest(monkeypatch):
    prompt = ", ".join(f"{one}ishly" for one in ("grump", "zorb", "quim", "flumph", "snark", "jab"))

    texts = texts_of(monkeypatch, f"{prompt}, {prompt.replace('ishly', 'ously')} cat")

    assert texts[-1].startswith("sketch, not drawn: ")
    assert texts[-1].endswith(" more")


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP"])
def test_a_foreign_picture_stays_behind_what_is_added(form):
    green = Image.new("RGB", (320, 200), (20, 160, 60))

    edited = opened(redraw(encoded(green, form), "add a red car", Quality.LOW)).resize((96, 96))

    assert share_like(edited, (20, 160, 60)) > 0.3
    assert share_like(edited, (208, 44, 48)) > 0.02


def test_a_foreign_picture_is_graded_as_the_prompt_says():
    green = encoded(Image.new("RGBA", (320, 200), (20, 160, 60, 128)))

    edited = opened(redraw(green, "in black and white", Quality.LOW))

    red, _, blue = ImageStat.Stat(edited).mean
    assert abs(red - blue) < 3


@pytest.mark.parametrize("data", [b"", b"GIF89a", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\x00" * 9])
async def test_a_base_that_is_no_picture_is_refused(data):
    with pytest.raises(UsageError) as caught:
        await SketchModel().edit(data, "a cat", quality=Quality.LOW)

    assert caught.value.code == "not_an_image"


def test_a_base_with_too_many_pixels_is_refused_before_it_is_decoded():
    bomb = encoded(Image.new("1", (9000, 9000)))

    with pytest.raises(UsageError, match="25 million"):
        redraw(bomb, "a cat", Quality.LOW)


@pytest.mark.parametrize("word", ["fisherman", "cat", "eiffel tower", "zorblax", "quim", "bread"])
def test_every_word_draws_a_shape(word):
    bare = draw_scene(Scene(seed=1, backdrops=("studio",)), 96)
    drawn = draw_scene(Scene(seed=1, backdrops=("studio",), things=(Thing(word=word),)), 96)

    assert sum(ImageStat.Stat(ImageChops.difference(bare, drawn)).mean) > 1.5


@pytest.mark.parametrize("backdrop", sorted(set(BACKDROPS.values())))
@pytest.mark.parametrize("light", ["day", "night"])
def test_every_backdrop_is_painted(backdrop, light):
    drawn = draw_scene(Scene(seed=3, backdrops=(backdrop,), light=light), 96)

    assert ImageStat.Stat(drawn.convert("L")).stddev[0] > 2


@pytest.mark.parametrize("style", sorted(set(STYLES.values())))
def test_every_style_changes_the_picture(style):
    plain = Scene(seed=3, things=(Thing(word="house"),), backdrops=("hills",))
    styled = Scene(seed=3, things=plain.things, backdrops=("hills",), styles=(style,))

    pictures = [draw_scene(scene, 128) for scene in (plain, styled)]

    assert sum(ImageStat.Stat(ImageChops.difference(*pictures)).mean) > 2


def test_every_light_is_another():
    pictures = [
        draw_scene(Scene(seed=3, things=(Thing(word="house"),), light=light), 64).tobytes()
        for light in sorted(set(LIGHTS.values()))
    ]

    assert len(set(pictures)) == len(pictures)


@pytest.mark.parametrize("frame", ["close", "wide", "aerial", "low-angle"])
@pytest.mark.parametrize("layout", ["centred", "thirds", "symmetric", "roomy"])
def test_every_framing_of_a_crowd_is_drawn(frame, layout):
    scene, _ = read_prompt(
        "nine ducks, two cats, a person and a table with five apples in the rain"
    )
    framed = Scene(
        seed=1, things=scene.things, weather=("rain", "snow", "fog"), frame=frame, layout=layout
    )

    assert draw_scene(framed, 64).size == (64, 64)


def test_without_pillow_the_fix_is_told():
    script = (
        "import sys; sys.modules['PIL'] = None\n"
        "import importlib.util as u; real = u.find_spec\n"
        "import burnish.images.models.pillow as p\n"
        "p.find_spec = lambda name: None\n"
        "from burnish.images.models import PixelJudge, SketchModel\n"
        "from burnish.domain import UsageError\n"
        "for kind in (SketchModel, PixelJudge):\n"
        "    try: kind()\n"
        "    except UsageError as error: print(error.fix)\n"
    )

    told = subprocess.check_output([sys.executable, "-c", script], text=True)

    assert told.split("\n")[:2] == ["pip install 'burnish[images]'"] * 2


def test_importing_the_models_loads_neither_pillow_nor_the_sdk():
    script = (
        "import sys, burnish.images.models, burnish.images.models.scripted\n"
        "print([name for name in ('PIL', 'openai', 'httpx2', 'numpy') if name in sys.modules])"
    )

    assert subprocess.check_output([sys.executable, "-c", script], text=True).strip() == "[]"


async def test_words_that_are_not_drawn_are_told_besides():
    model = SketchModel()
    drawn = await model.generate("portrait of an old fisherman", quality=Quality.LOW)
    edited = await model.edit(drawn.data, "an old fisherman riding a cat", quality=Quality.LOW)

    assert drawn.not_drawn == ("old", "portrait")
    assert edited.not_drawn == ("old", "portrait", "riding")
