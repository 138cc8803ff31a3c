"""Contact sheet: one picture of a whole run, with its anchor, ranked variants and verdicts."""

from __future__ import annotations

import io
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from PIL import Image, ImageDraw, ImageFont, ImageOps

from burnish.domain.images.runs import ImageFile, ImageRun, Rubric, Variant
from burnish.images.models.pillow import turn_upright
from burnish.images.pictures import open_picture
from burnish.images.stage_context import RunLabels

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
_EDGE, _GAP, _INSIDE = 40, 24, 16
_CARD = 432
_PICTURE = _CARD - 2 * _INSIDE
_TITLE, _RUBRIC, _LINE = 50, 223, 21
_MOST_LINES = 7
_METRICS = (
    ("prompt adherence", "prompt_adherence"),
    ("subject fidelity", "subject_fidelity"),
    ("composition", "composition_quality"),
    ("style coherence", "style_coherence"),
    ("artifacts (less is better)", "technical_artifact_penalty"),
)


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
            turn_upright(opened)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Card:
    """What one card shows."""

    title: str
    number: str
    prompt: str
    data: bytes | None
    instead: str = ""
    rubric: Rubric | None = None
    best: bool = False


def draw_contact_sheet(
    run: ImageRun, anchor: ImageFile | None, pictures: Mapping[str, bytes], labels: RunLabels
) -> bytes:
    """A PNG; `pictures` are bytes by digest."""
    cards = [_anchor_card(run, anchor, pictures), *_variant_cards(run, pictures)]
    width = 2 * _EDGE + len(cards) * _CARD + (len(cards) - 1) * _GAP
    title = wrapped(run.request.base_prompt, 26, width - 2 * _EDGE, 3)
    said = f"Drawn by {labels.image}.   Judged by {labels.judge}.   Planned by {labels.text}."
    makers = wrapped(said, 16, width - 2 * _EDGE, 2)
    top = _EDGE + len(title) * line_height(26) + (1 + len(makers)) * line_height(16) + 22
    tall = _INSIDE * 2 + _PICTURE + _TITLE + max(_below(card) for card in cards)
    canvas = SheetCanvas(width, top + tall + _EDGE)
    below = canvas.lines((_EDGE, _EDGE), title, 26)
    _headline(canvas, (_EDGE, below + 4), run)
    canvas.lines((_EDGE, below + 4 + line_height(16)), makers, 16, FAINT)
    for place, card in enumerate(cards):
        _draw_card(canvas, _EDGE + place * (_CARD + _GAP), top, tall, card)
    written = io.BytesIO()
    canvas.image.save(written, "PNG")
    return written.getvalue()


def _anchor_card(run: ImageRun, anchor: ImageFile | None, pictures: Mapping[str, bytes]) -> _Card:
    origin = "the parent commit" if run.request.parent_commit_id else "drawn from the prompt"
    return _Card(
        title="Anchor",
        number="not judged",
        prompt=origin if run.request.parent_commit_id else run.request.base_prompt,
        data=None if anchor is None else pictures.get(anchor.digest),
        instead="The anchor was deleted." if run.anchor_commit_id else "No anchor was drawn.",
    )


def _variant_cards(run: ImageRun, pictures: Mapping[str, bytes]) -> list[_Card]:
    unranked = [one for one in run.variants if one.rank is None]
    return [_variant_card(one, pictures) for one in (*run.leaderboard, *unranked)]


def _variant_card(variant: Variant, pictures: Mapping[str, bytes]) -> _Card:
    ranked = variant.rank is not None
    score = "no score" if variant.composite_score is None else f"{variant.composite_score:.4f}"
    error = (variant.error or {}).get("message", "")
    return _Card(
        title=f"{variant.rank}.  {variant.variant_id}" if ranked else variant.variant_id,
        number=score,
        prompt=variant.variant_prompt,
        data=None if variant.image is None else pictures.get(variant.image.digest),
        instead=f"Not drawn. {error}" if error else "Not drawn.",
        rubric=variant.rubric,
        best=variant.rank == 1,
    )


def _headline(canvas: SheetCanvas, place: tuple[int, int], run: ImageRun) -> None:

    request = run.request
    said = [
        f"project {request.project_id}",
        f"objective {request.objective_preset.value}",
        f"quality {request.quality.value}",
        run.status.value.replace("_", " "),
        f"run {run.run_id}",
    ]
    canvas.text(place, "   ·   ".join(said), 16, BAD if run.degraded else FAINT)


def _draw_card(canvas: SheetCanvas, left: int, top: int, tall: int, card: _Card) -> None:

    canvas.card((left, top, left + _CARD, top + tall), ACCENT if card.best else LINE)
    x, y = left + _INSIDE, top + _INSIDE
    canvas.picture((x, y, x + _PICTURE, y + _PICTURE), card.data, card.instead)
    y += _PICTURE + 14
    canvas.text((x, y), card.title, 21, ACCENT if card.best else INK)
    canvas.right_text((x + _PICTURE, y), card.number, 21, INK if card.rubric else FAINT)
    y += 36
    if card.rubric is not None:
        y = _draw_rubric(canvas, (x, y), card.rubric)
    canvas.lines((x, y), wrapped(card.prompt, 15, _PICTURE, _MOST_LINES), 15, FAINT)


def _below(card: _Card) -> int:
    """How much room a card needs below its title."""

    lines = len(wrapped(card.prompt, 15, _PICTURE, _MOST_LINES))
    return lines * _LINE + (_RUBRIC if card.rubric else 0)


def _draw_rubric(canvas: SheetCanvas, place: tuple[int, int], rubric: Rubric) -> int:

    x, y = place
    for words, name in _METRICS:
        value = getattr(rubric, name)
        canvas.text((x, y), words, 14, FAINT)
        if name in rubric.not_measured:
            canvas.right_text((x + _PICTURE, y), "not measured", 14, FAINT)
            y += 22
            continue
        colour = BAD if name.endswith("_penalty") else ACCENT
        canvas.bar((x + 186, y + 4, x + _PICTURE - 48, y + 14), value, colour)
        canvas.right_text((x + _PICTURE, y), f"{value:.2f}", 14, INK)
        y += 22
    canvas.text((x, y), f"the judge is {rubric.confidence:.0%} sure", 14, FAINT)
    tags = [(tag.replace("_", " "), GOOD) for tag in rubric.strength_tags]
    tags += [(tag.replace("_", " "), BAD) for tag in rubric.failure_tags]
    canvas.pills((x, y + 27), tags, _PICTURE, 2)
    return y + 27 + (64 if tags else 8)
