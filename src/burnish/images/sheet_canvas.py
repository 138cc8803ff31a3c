"""Text, pills, bars and pictures on a sheet. Import it late: it needs Pillow."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cache

from PIL import Image, ImageDraw, ImageFont, ImageOps

from burnish.images.decoding import open_picture

Colour = tuple[int, int, int]

PAPER: Colour = (247, 247, 245)
CARD: Colour = (255, 255, 255)
LINE: Colour = (222, 222, 218)
INK: Colour = (28, 30, 33)
FAINT: Colour = (104, 108, 114)
ACCENT: Colour = (37, 99, 200)
GOOD: Colour = (22, 120, 72)
BAD: Colour = (178, 72, 20)
_GROUND: Colour = (236, 236, 232)
# Longer than any line on a sheet, so that measuring a line is quick whatever it holds.
_LONGEST_LINE = 400


@cache
def font(size: int) -> ImageFont.ImageFont | ImageFont.FreeTypeFont:
    """The font that comes with Pillow: the same on every machine."""
    return ImageFont.load_default(size)


class SheetCanvas:
    """A sheet to draw on; places are (x, y) of the upper left corner."""

    def __init__(self, width: int, height: int) -> None:
        self.image = Image.new("RGB", (width, height), PAPER)
        self._draw = ImageDraw.Draw(self.image)

    def card(self, box: tuple[int, int, int, int], edge: Colour = LINE) -> None:
        """A white card with a thin edge."""
        self._draw.rounded_rectangle(box, radius=12, fill=CARD, outline=edge, width=2)

    def text(self, place: tuple[int, int], text: str, size: int, colour: Colour = INK) -> None:
        """One line."""
        self._draw.text(place, text, font=font(size), fill=colour)

    def right_text(
        self, place: tuple[int, int], text: str, size: int, colour: Colour = INK
    ) -> None:
        """One line that ends at the place."""
        self.text((place[0] - width_of(text, size), place[1]), text, size, colour)

    def lines(
        self, place: tuple[int, int], lines: Sequence[str], size: int, colour: Colour = INK
    ) -> int:
        """Lines below each other; where the next one would be."""
        x, y = place
        for line in lines:
            self.text((x, y), line, size, colour)
            y += line_height(size)
        return y

    def bar(self, box: tuple[int, int, int, int], share: float, colour: Colour) -> None:
        """A bar that is filled to a share."""
        left, top, right, bottom = box
        self._draw.rounded_rectangle(box, radius=4, fill=_GROUND)
        filled = left + round((right - left) * min(1.0, max(0.0, share)))
        if filled - left >= 8:
            self._draw.rounded_rectangle((left, top, filled, bottom), radius=4, fill=colour)

    def pills(
        self, place: tuple[int, int], texts: Sequence[tuple[str, Colour]], width: int, rows: int
    ) -> None:
        """Tags in rows; what does not fit is left out."""
        left, y = place
        x, row = left, 1
        for text, colour in texts:
            shown = fitted(text, 13, width - 20)
            wide = width_of(shown, 13) + 18
            if x + wide > left + width:
                x, y, row = left, y + 28, row + 1
            if row > rows:
                return
            box = (x, y, x + wide, y + 23)
            self._draw.rounded_rectangle(box, radius=11, outline=colour, width=1)
            self.text((x + 9, y + 3), shown, 13, colour)
            x += wide + 6

    def picture(self, box: tuple[int, int, int, int], data: bytes | None, instead: str) -> None:
        """A picture fitted into a box, or words where there is none."""
        left, top, right, bottom = box
        size = (right - left, bottom - top)
        self._draw.rectangle(box, fill=_GROUND)
        if data is None:
            lines = wrapped(instead, 15, size[0] - 40, 5)
            self.lines((left + 20, top + size[1] // 2 - 40), lines, 15, FAINT)
            return
        with open_picture(data) as opened:
            shown = ImageOps.contain(opened.convert("RGB"), size)
        place = (left + (size[0] - shown.width) // 2, top + (size[1] - shown.height) // 2)
        self.image.paste(shown, place)


def width_of(text: str, size: int) -> int:
    """How wide a line is."""
    return round(font(size).getlength(text))


def line_height(size: int) -> int:
    """From one line to the next."""
    return round(size * 1.4)


def wrapped(text: str, size: int, width: int, most: int) -> list[str]:
    """The text in lines of a width; when there are more than `most`, the last ends in dots."""
    lines: list[str] = []
    current = ""
    for word in text.split():
        longer = f"{current} {word}".strip()
        if current and width_of(longer, size) > width:
            lines.append(current)
            current = word[:_LONGEST_LINE]
            if len(lines) > most:
                break
        else:
            current = longer[:_LONGEST_LINE]
    lines.append(current)
    if len(lines) > most:
        lines = [*lines[: most - 1], f"{lines[most - 1]} …"]
    return [fitted(line, size, width) for line in lines]


def fitted(text: str, size: int, width: int) -> str:
    """The text cut to a width, with dots where it was cut."""
    if width_of(text, size) <= width:
        return text
    fits = bisect_right(
        range(len(text)), width, key=lambda length: width_of(f"{text[:length]}…", size)
    )
    return f"{text[: fits - 1]}…" if fits else ""
