"""What the pixel judge says, and that only pixels and words decide it."""

import io
import random
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from image_world import draw_prompt, redraw
from PIL import Image, ImageDraw, ImageFilter
from PIL.PngImagePlugin import PngInfo

from burnish.domain import UsageError
from burnish.domain.images.runs import Constraints, ObjectivePreset, Quality
from burnish.images.models import PixelJudge
from burnish.images.models.openai.judge import NUMBERS
from burnish.images.models.pixel_judge.judge import judge_picture
from burnish.images.planning import template_prompts

PLAIN = Constraints()


def encoded(picture, **options):
    out = io.BytesIO()
    picture.save(out, "PNG", **options)
    return out.getvalue()


def judged(picture, prompt, *, objective=ObjectivePreset.ADHERENCE, constraints=PLAIN):
    data = picture if isinstance(picture, bytes) else encoded(picture)
    return judge_picture(data, prompt, objective, constraints)


def disc(colour, ground=(120, 130, 140), at=(0.5, 0.55), r=0.2):
    picture = Image.new("RGB", (256, 256), ground)
    x, y, size = 256 * at[0], 256 * at[1], 256 * r
    ImageDraw.Draw(picture).ellipse((x - size, y - size, x + size, y + size), fill=colour)
    return picture.filter(ImageFilter.SMOOTH)


def noisy(picture, spread):
    raw = bytearray(picture.tobytes())
    luck = random.Random(7)
    for index, value in enumerate(raw):
        raw[index] = max(0, min(255, value + luck.randint(-spread, spread)))
    return Image.frombytes("RGB", picture.size, bytes(raw))


@pytest.mark.parametrize("tone", [(0, 0, 0), (255, 255, 255), (90, 90, 90)])
def test_an_empty_picture_scores_low(tone):
    empty = judged(Image.new("RGB", (200, 200), tone), "a red ball on a blue table at sunset")
    drawn = judged(draw_prompt("a red ball on a blue table at sunset", Quality.LOW), "a red ball")

    assert empty.composite_score < 0.15 < drawn.composite_score - 0.3
    assert empty.confidence < drawn.confidence
    assert empty.failure_tags


async def test_of_two_the_same_one_wins_in_either_order_and_nothing_measured_is_a_tie():
    red, blue = encoded(disc("red")), encoded(disc("blue"))
    objective = ObjectivePreset.ADHERENCE

    async def chosen(first, second, prompt):
        judge = PixelJudge()
        return await judge.choose(first, second, prompt, objective=objective, constraints=PLAIN)

    assert (await chosen(red, blue, "a red ball")).winner == "A"
    assert (await chosen(blue, red, "a red ball")).winner == "B"
    assert (await chosen(red, red, "a red ball")).winner == "tie"
    unmeasured = await chosen(red, blue, "portrait of an old fisherman")
    assert unmeasured.winner == "tie" and "not measured" in unmeasured.reason


@pytest.mark.parametrize("colour", ["red", "blue", "yellow", "green", "orange", "white"])
def test_a_picture_with_the_asked_colour_beats_one_without(colour):
    seen = {"red": (208, 44, 48), "blue": (44, 96, 196), "yellow": (248, 208, 48)}
    seen |= {"green": (64, 152, 72), "purple": (132, 60, 172), "orange": (240, 132, 32)}
    seen |= {"white": (250, 250, 250), "black": (20, 20, 20)}
    other = "blue" if colour != "blue" else "red"

    right = judged(disc(seen[colour]), f"a {colour} ball")
    wrong = judged(disc(seen[other]), f"a {colour} ball")

    assert right.prompt_adherence > wrong.prompt_adherence + 0.2
    assert f"colour: {colour} not seen" in wrong.failure_tags


def test_a_colour_that_must_be_avoided_costs():
    ball = disc((208, 44, 48))

    free = judged(ball, "a ball", constraints=Constraints(must_avoid=("green",)))
    broken = judged(ball, "a ball", constraints=Constraints(must_avoid=("red",)))
    told = judged(ball, "a ball, no red")

    assert broken.prompt_adherence < free.prompt_adherence
    assert told.prompt_adherence < free.prompt_adherence
    missing = judged(ball, "a ball", constraints=Constraints(must_include=("green leaves",)))
    assert missing.prompt_adherence < judged(ball, "a ball").prompt_adherence


@pytest.mark.parametrize(
    "prompt", ["portrait of an old fisherman", "abstract painting of anxiety", "a logo", ""]
)
def test_adherence_is_not_measured_where_no_word_can_be(prompt):
    """IMG-10: it was 0.55 whatever the picture, and an empty meadow had a subject that stood out."""
    for picture in (disc((208, 44, 48)), draw_prompt("a meadow", Quality.LOW)):
        rubric = judged(picture, prompt)

        assert rubric.confidence == 0.0
        assert rubric.not_measured == ("prompt_adherence",)
        assert "not measured" in rubric.rationale
        assert not any("stands out" in tag for tag in rubric.strength_tags)


def test_one_measured_word_is_enough_for_a_verdict():
    rubric = judged(disc((208, 44, 48)), "a red fisherman")

    assert rubric.confidence > 0.2
    assert rubric.not_measured == ()
    assert "Not measured: fisherman." in rubric.rationale


@pytest.mark.parametrize("prompt", ["a red ball at night", "a house at sunset", "a fisherman"])
def test_no_tag_speaks_of_a_subject_since_pixels_do_not_tell_what_it_is(prompt):
    for picture in (disc((208, 44, 48)), draw_prompt(prompt, Quality.LOW)):
        rubric = judged(picture, prompt)

        assert not any("subject" in tag for tag in (*rubric.strength_tags, *rubric.failure_tags))


def test_noise_raises_the_penalty_step_by_step():
    clean = disc((208, 44, 48))
    penalties = [
        judged(noisy(clean, spread), "a red ball").technical_artifact_penalty
        for spread in (0, 20, 60)
    ]

    assert penalties == sorted(penalties)
    assert penalties[2] > penalties[0] + 0.3
    assert judged(noisy(clean, 60), "a red ball").hard_rule_violations == 1


def test_what_is_cut_off_or_lost_in_the_ground_is_composed_worse():
    good = judged(disc((208, 44, 48)), "a red ball")
    cut = judged(disc((208, 44, 48), at=(0.98, 0.02)), "a red ball")
    lost = judged(disc((124, 134, 144)), "a red ball")

    assert good.composition_quality > cut.composition_quality
    assert good.subject_fidelity > lost.subject_fidelity + 0.2


@pytest.mark.parametrize(
    "words", ["at night", "at sunset", "watercolour", "black and white", "pixel art", "neon"]
)
def test_a_manner_that_was_asked_for_is_measured(words):
    with_it = draw_prompt(f"a house in a field, {words}", Quality.LOW)
    without = draw_prompt("a house in a field by day", Quality.LOW)
    prompt = f"a house in a field, {words}"

    assert judged(with_it, prompt).prompt_adherence > judged(without, prompt).prompt_adherence


@pytest.mark.parametrize(
    "prompt",
    [
        "cinematic portrait of an astronaut chef in a neon diner",
        "a red bicycle leaning on a blue door at sunset",
        "three yellow ducks on a lake, watercolour",
    ],
)
def test_variants_of_one_prompt_are_told_apart(prompt):
    base = draw_prompt(prompt, Quality.LOW)
    planned = islice(template_prompts(prompt, ObjectivePreset.ADHERENCE, PLAIN), 3)

    scores = [judged(redraw(base, one, Quality.LOW), one).composite_score for one, _ in planned]

    assert len(set(scores)) == 3
    assert max(scores) - min(scores) > 0.003
    assert min(scores) > 0.3


async def test_the_same_pixels_get_the_same_verdict_whatever_the_file_says():
    info = PngInfo()
    info.add_text("burnish-sketch-scene", '{"seed": 1, "score": 1.0}')
    picture = disc((208, 44, 48))
    request = {"objective": ObjectivePreset.AESTHETIC, "constraints": PLAIN}
    judge = PixelJudge()

    plain = await judge.judge(encoded(picture), "a red ball", **request)
    told = await judge.judge(encoded(picture, pnginfo=info), "a red ball", **request)
    await judge.close()

    assert plain == told
    assert "understands nothing" in judge.label


@given(
    st.binary(min_size=48, max_size=48),
    st.text(max_size=80),
    st.sampled_from(list(ObjectivePreset)),
)
@settings(max_examples=25, derandomize=True)
def test_every_number_is_from_0_to_1_for_any_picture_and_any_words(raw, prompt, objective):
    tiny = Image.frombytes("RGB", (4, 4), raw)

    rubric = judged(tiny.resize((33, 57)), prompt, objective=objective)

    assert all(0.0 <= getattr(rubric, name) <= 1.0 for name in NUMBERS)
    assert rubric.rationale


@pytest.mark.parametrize("mode", ["L", "LA", "P", "RGBA", "1", "I;16"])
def test_every_mode_of_picture_is_judged(mode):
    assert judged(Image.new(mode, (40, 30)), "a red ball").technical_artifact_penalty > 0


def test_one_pixel_is_judged_too():
    assert judged(Image.new("RGB", (1, 1)), "").composite_score < 0.2


def test_bytes_that_are_no_picture_are_refused():
    with pytest.raises(UsageError) as caught:
        judged(b"<svg onload=alert(1)>", "a red ball")

    assert caught.value.code == "not_an_image"


def test_a_clean_ground_counts_for_a_product():
    clean, busy = disc((208, 44, 48)), noisy(disc((208, 44, 48)), 90)

    rubrics = [
        judged(one, "a red ball", objective=ObjectivePreset.PRODUCT) for one in (clean, busy)
    ]

    assert rubrics[0].style_coherence > rubrics[1].style_coherence
