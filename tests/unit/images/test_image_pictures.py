"""Comparing pictures pixel by pixel, and the sheet that shows a whole run."""

import io
from dataclasses import replace

from image_world import World, encoded, wish
from PIL import Image, ImageDraw

from burnish.domain.images.runs import ImageFile, ImageRun, ImageRunStatus
from burnish.images.contact_sheet import draw_contact_sheet
from burnish.images.models.scripted import ScriptedImageModel, flat_picture
from burnish.images.pictures import compare_pictures, decode, thumbnail
from burnish.images.stage_context import RunLabels

LABELS = RunLabels(image="painter (offline)", judge="judge (blind)", text="templates")


def scene(size=(80, 60), square=None, ground="navy"):
    image = Image.new("RGB", size, ground)
    if square:
        ImageDraw.Draw(image).rectangle(square, fill="yellow")
    return image


def test_equal_pictures_do_not_differ():
    found = compare_pictures(encoded(scene()), encoded(scene()))

    assert (found.changed_share, found.mean_difference) == (0.0, 0.0)


def test_a_lossy_copy_is_no_change():
    image = scene(square=(10, 10, 40, 40))

    found = compare_pictures(encoded(image), encoded(image, "JPEG", quality=95, subsampling=0))

    assert found.changed_share < 0.02


def test_the_share_of_changed_pixels_is_counted_and_glows_in_the_map():
    found = compare_pictures(encoded(scene()), encoded(scene(square=(0, 0, 39, 59))))

    assert found.changed_share == 0.5
    assert 0.3 < found.mean_difference < 0.5
    with Image.open(io.BytesIO(found.difference_map)) as shown:
        assert shown.size == (80, 60)
        changed, same = shown.getpixel((5, 30)), shown.getpixel((70, 30))
    assert sum(changed) > sum(same) + 150
    assert len(set(same)) == 1


def test_black_and_white_differ_wholly():
    found = compare_pictures(encoded(scene(ground="black")), encoded(scene(ground="white")))

    assert (found.changed_share, found.mean_difference) == (1.0, 1.0)


def test_a_picture_of_another_size_is_fitted():
    found = compare_pictures(encoded(scene((80, 60))), encoded(scene((160, 120))))
    other_shape = compare_pictures(encoded(scene((80, 60))), encoded(scene((60, 80))))

    assert found.changed_share == 0.0
    assert 0.2 < other_shape.changed_share < 0.6
    assert decode(other_shape.difference_map).width == 80


def test_transparency_is_seen_on_white():
    glass = Image.new("RGBA", (20, 20), (0, 0, 0, 0))

    found = compare_pictures(encoded(glass), encoded(Image.new("RGB", (20, 20), "white")))

    assert found.changed_share == 0.0


async def sheet_of(world, **changes):
    run = await world.run(**changes)
    anchor = None
    if run.anchor_commit_id is not None:
        anchor = (await world.repository.commit(run.anchor_commit_id)).images[0]
    return run, draw_contact_sheet(run, anchor, world.files.stored, LABELS)


async def test_a_sheet_shows_the_anchor_and_each_variant_in_its_rank():
    run, data = await sheet_of(World())

    found = decode(data)
    assert found.media_type == "image/png"
    with Image.open(io.BytesIO(data)) as shown:
        middles = [shown.getpixel((40 + 456 * place + 216, 400)) for place in range(4)]
    prompts = [run.request.base_prompt, *(one.variant_prompt for one in run.leaderboard)]
    for middle, prompt in zip(middles, prompts, strict=True):
        with Image.open(io.BytesIO(flat_picture(prompt))) as drawn:
            assert middle == drawn.getpixel((1, 1))


async def test_a_sheet_is_as_wide_as_the_run_has_variants():
    _, two = await sheet_of(World(), n_variants=2)
    _, three = await sheet_of(World())

    assert decode(three).width - decode(two).width == 456


async def test_a_variant_that_was_not_drawn_has_its_place_too():
    from image_world import TIMEOUT  # noqa: PLC0415

    whole, _ = await sheet_of(World())
    run, data = await sheet_of(World(image=ScriptedImageModel(failures={"Relight": TIMEOUT})))

    assert len(run.leaderboard) == len(whole.leaderboard) - 1
    assert decode(data).width == 1880


def test_a_run_that_drew_nothing_has_a_sheet():
    run = ImageRun(
        run_id="r1", request=wish(base_prompt="word " * 700), status=ImageRunStatus.FAILED
    )

    assert decode(draw_contact_sheet(run, None, {}, LABELS)).width == 512
    lost = ImageFile(digest="0" * 64, media_type="image/png", width=1, height=1, size=1)
    strange = replace(run, request=wish(base_prompt="x" * 3000 + " 漢字 \x00\ud800"))
    assert decode(draw_contact_sheet(strange, lost, {}, LABELS)).height > 400


def test_a_picture_that_was_taken_on_its_side_is_turned_upright():
    """IMG-26: thumbnails of phone photos lay on their side."""
    wide = Image.new("RGB", (400, 200), "red")
    wide.paste("blue", (0, 0, 100, 200))
    turned = Image.Exif()
    turned[0x0112] = 6  # Shown a quarter clockwise: what is left comes to the top.
    lying = encoded(wide, "JPEG", exif=turned, quality=95)
    standing = encoded(wide.rotate(-90, expand=True), "PNG")

    with Image.open(io.BytesIO(thumbnail(lying))) as small:
        assert small.size == (160, 320)
    assert compare_pictures(standing, lying).changed_share < 0.02
