"""What is a picture and what is not, whatever it claims."""

import hashlib
import struct
import zlib

import pytest
from image_world import encoded
from PIL import Image

from burnish.domain import UsageError
from burnish.images import pictures as decoding
from burnish.images.pictures import decode, thumbnail


def small(mode="RGB", size=(40, 30)):
    return Image.linear_gradient("L").resize(size).convert(mode)


def refusal(data):
    with pytest.raises(UsageError) as caught:
        decode(data)
    assert caught.value.code == "INVALID_IMAGE"
    return caught.value.why


def png(width, height):
    """A PNG that says it is so large, in a few bytes."""

    def chunk(kind, data):
        tail = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + tail

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(b"\x00" * 1000)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("kind", "media"), [("PNG", "image/png"), ("JPEG", "image/jpeg"), ("WEBP", "image/webp")]
)
def test_a_picture_is_described_by_what_was_decoded(kind, media):
    data = encoded(small(), kind)

    found = decode(data)

    assert (found.width, found.height, found.media_type) == (40, 30, media)
    assert found.size == len(data)
    assert found.digest == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("kind", ["GIF", "BMP", "TIFF", "PPM", "ICO"])
def test_other_formats_are_refused(kind):
    assert "neither PNG nor JPEG nor WebP" in refusal(encoded(small(), kind))


@pytest.mark.parametrize(
    "data",
    [b"", b"<svg onload='alert(1)'/>", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"RIFF1234WEBP"],
)
def test_bytes_that_are_no_picture_are_refused(data):
    refusal(data)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_a_truncated_picture_is_refused(kind):
    data = encoded(small("RGB", (200, 200)), kind)

    assert refusal(data[: len(data) // 2])


def test_a_bomb_of_a_hundred_megapixels_is_refused_by_its_header():
    assert "10000 × 10000 pixels" in refusal(png(10_000, 10_000))
    # So large that Pillow itself would warn or raise.
    assert "pixels" in refusal(png(60_000, 60_000))


def test_a_webp_bomb_is_refused_before_its_decoder_sees_it(monkeypatch):
    lossy, lossless = encoded(small(), "WEBP"), encoded(small(), "WEBP", lossless=True)
    extended = encoded(small("RGBA"), "WEBP", exif=b"Exif\x00\x00II*\x00\x08\x00\x00\x00\x00\x00")
    assert {one[12:16] for one in (lossy, lossless, extended)} == {b"VP8 ", b"VP8L", b"VP8X"}
    monkeypatch.setattr(decoding, "MOST_PIXELS", 1_000)

    for data in (lossy, lossless, extended):
        assert "40 × 30 pixels" in refusal(data)


def test_a_picture_of_exactly_the_limit_is_taken(monkeypatch):
    monkeypatch.setattr(decoding, "MOST_PIXELS", 1_200)
    assert decode(encoded(small())).width == 40
    monkeypatch.setattr(decoding, "MOST_PIXELS", 1_199)
    refusal(encoded(small()))


def test_too_many_bytes_are_refused_unread(monkeypatch):
    data = encoded(small())
    monkeypatch.setattr(decoding, "LARGEST_BYTES", len(data) - 1)

    assert "bytes, more than" in refusal(data)


@pytest.mark.parametrize("kind", ["PNG", "WEBP"])
def test_an_animated_picture_is_refused(kind):
    frames = [Image.new("RGB", (20, 20), colour) for colour in ("red", "blue")]
    data = encoded(frames[0], kind, save_all=True, append_images=frames[1:], duration=100)

    assert "animated" in refusal(data)


def test_a_thumbnail_fits_its_square_and_keeps_transparency():
    large = encoded(small("RGBA", (1000, 500)))

    found = decode(thumbnail(large))

    assert (found.width, found.height, found.media_type) == (320, 160, "image/webp")
    assert decode(thumbnail(encoded(small("P")))).width == 40
    glass = encoded(Image.new("RGBA", (10, 10), (255, 0, 0, 0)))
    with decoding.open_picture(thumbnail(glass)) as shown:
        assert shown.mode == "RGBA"
