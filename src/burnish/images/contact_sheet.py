"""One picture of a whole run: the anchor, the ranked variants, and what was said of them."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from burnish.domain.images import ImageFile, ImageRun, Rubric, Variant
from burnish.images.models.pillow import require_pillow
from burnish.images.run_models import RunLabels

if TYPE_CHECKING:
    from burnish.images.sheet_canvas import SheetCanvas

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
    require_pillow("the contact sheet")
    from burnish.images.sheet_canvas import SheetCanvas, line_height, wrapped  # noqa: PLC0415

    cards = [_anchor_card(run, anchor, pictures), *_variant_cards(run, pictures)]
    width = 2 * _EDGE + len(cards) * _CARD + (len(cards) - 1) * _GAP
    title = wrapped(run.request.base_prompt, 26, width - 2 * _EDGE, 3)
    top = _EDGE + len(title) * line_height(26) + 44
    tall = _INSIDE * 2 + _PICTURE + _TITLE + max(_below(card) for card in cards)
    canvas = SheetCanvas(width, top + tall + 84)
    below = canvas.lines((_EDGE, _EDGE), title, 26)
    _headline(canvas, (_EDGE, below + 4), run)
    for place, card in enumerate(cards):
        _draw_card(canvas, _EDGE + place * (_CARD + _GAP), top, tall, card)
    _footer(canvas, (_EDGE, top + tall + 20), labels, width - 2 * _EDGE)
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
        instead="No anchor was drawn.",
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
    from burnish.images.sheet_canvas import BAD, FAINT  # noqa: PLC0415

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
    from burnish.images.sheet_canvas import ACCENT, FAINT, INK, LINE, wrapped  # noqa: PLC0415

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
    from burnish.images.sheet_canvas import wrapped  # noqa: PLC0415

    lines = len(wrapped(card.prompt, 15, _PICTURE, _MOST_LINES))
    return lines * _LINE + (_RUBRIC if card.rubric else 0)


def _draw_rubric(canvas: SheetCanvas, place: tuple[int, int], rubric: Rubric) -> int:
    from burnish.images.sheet_canvas import ACCENT, BAD, FAINT, GOOD, INK  # noqa: PLC0415

    x, y = place
    for words, name in _METRICS:
        value = getattr(rubric, name)
        canvas.text((x, y), words, 14, FAINT)
        colour = BAD if name.endswith("_penalty") else ACCENT
        canvas.bar((x + 186, y + 4, x + _PICTURE - 48, y + 14), value, colour)
        canvas.right_text((x + _PICTURE, y), f"{value:.2f}", 14, INK)
        y += 22
    canvas.text((x, y), f"the judge is {rubric.confidence:.0%} sure", 14, FAINT)
    tags = [(tag.replace("_", " "), GOOD) for tag in rubric.strength_tags]
    tags += [(tag.replace("_", " "), BAD) for tag in rubric.failure_tags]
    canvas.pills((x, y + 27), tags, _PICTURE, 2)
    return y + 27 + (64 if tags else 8)


def _footer(canvas: SheetCanvas, place: tuple[int, int], labels: RunLabels, width: int) -> None:
    from burnish.images.sheet_canvas import FAINT, wrapped  # noqa: PLC0415

    said = f"Drawn by {labels.image}.   Judged by {labels.judge}.   Planned by {labels.text}."
    canvas.lines(place, wrapped(said, 16, width, 2), 16, FAINT)
