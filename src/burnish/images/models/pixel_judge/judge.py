"""Pixel judge: measures a picture with nothing but Pillow, and understands nothing."""

from __future__ import annotations

import asyncio
from math import hypot
from typing import TYPE_CHECKING

from burnish.domain.images.protocols import Judgement, PictureChoice
from burnish.domain.images.runs import Constraints, ObjectivePreset, Rubric
from burnish.images.models.pillow import open_picture, require_pillow
from burnish.images.models.pixel_judge.wishes import Wish, ramp, spoken_words, wishes_of

if TYPE_CHECKING:
    from burnish.images.models.pixel_judge.measures import Measures

_THIRDS = [(x, y) for x in (1 / 3, 2 / 3) for y in (1 / 3, 1 / 2, 2 / 3)]
_MIDDLE = (0.5, 0.55)
# It has no idea what it sees, so it is never quite sure.
_MOST_CONFIDENT = 0.8
_MOST_TAGS = 6
_MOST_WORDS = 12
# Where nothing was measured, which a confidence of 0 says too.
_UNMEASURED = 0.5
_NOTHING = "Adherence is not measured: no word of the prompt can be seen in figures."


class PixelJudge:
    """`pixel-judge`: the same picture and request give the same rubric.

    Whatever it says follows from the decoded pixels and the words of the request; metadata of the
    file plays no part.
    """

    name = "pixel-judge"
    label = "pixel-judge (offline, counts pixels, understands nothing)"

    def __init__(self) -> None:
        require_pillow("the judge pixel-judge")

    async def judge(
        self,
        image: bytes,
        prompt: str,
        *,
        objective: ObjectivePreset,
        constraints: Constraints,
    ) -> Judgement:
        """The rubric that the picture's pixels earn."""
        rubric = await asyncio.to_thread(judge_picture, image, prompt, objective, constraints)
        return Judgement(rubric=rubric)

    async def choose(
        self,
        first: bytes,
        second: bytes,
        prompt: str,
        *,
        objective: ObjectivePreset,
        constraints: Constraints,
    ) -> PictureChoice:
        """The picture whose rubric comes to more; a tie where nothing of the prompt was measured."""
        a, b = [
            await asyncio.to_thread(judge_picture, one, prompt, objective, constraints)
            for one in (first, second)
        ]
        gap = a.composite_score - b.composite_score
        if a.not_measured or not gap:
            return PictureChoice(
                winner="tie", reason=_NOTHING if a.not_measured else "equal scores"
            )
        scores = sorted((a.composite_score, b.composite_score), reverse=True)
        reason = "scores {:.4f} against {:.4f} by its pixels".format(*scores)
        return PictureChoice(winner="A" if gap > 0 else "B", reason=reason)

    async def close(self) -> None:
        """Nothing is held."""


def judge_picture(
    image: bytes, prompt: str, objective: ObjectivePreset, constraints: Constraints
) -> Rubric:
    """Measure the picture and hold the figures against the request.

    Where no word of the request can be measured, adherence is the middle and the confidence 0.
    """
    from burnish.images.models.pixel_judge.measures import measure  # noqa: PLC0415 - loads Pillow

    measures = measure(open_picture(image, what="the picture cannot be judged"))
    wishes = wishes_of(prompt, constraints, measures)
    content = _content(measures)
    penalty = _penalty(measures, wishes)
    figures = {
        "prompt_adherence": _adherence(wishes, content),
        "subject_fidelity": _fidelity(measures) * (0.3 + 0.7 * content),
        "composition_quality": _composition(measures, wishes) * (0.3 + 0.7 * content),
        "style_coherence": _coherence(measures, wishes, objective) * (0.3 + 0.7 * content),
    }
    spoken = spoken_words(prompt)
    share = (1 + len(wishes)) / (2 + len(spoken))
    sure = min(_MOST_CONFIDENT, 0.2 + 0.6 * share) if wishes else 0.0
    return Rubric(
        **{name: round(value, 4) for name, value in figures.items()},
        technical_artifact_penalty=round(penalty, 4),
        confidence=round(sure * (0.5 + 0.5 * content), 4),
        failure_tags=_failures(measures, wishes, penalty),
        strength_tags=_strengths(measures, wishes),
        rationale=_rationale(measures, wishes, spoken - {wish.word for wish in wishes}),
        not_measured=() if wishes else ("prompt_adherence",),
    )


def _content(m: Measures) -> float:
    """Whether there is anything to judge: one flat tone has nothing."""
    return ramp(max(m.contrast, m.separation), 0.04, 0.25)


def _adherence(wishes: list[Wish], content: float) -> float:
    """The granted share of what was asked, with a doubt that only more measured words dispel."""
    if not wishes:
        return _UNMEASURED * content
    weight = sum(wish.weight for wish in wishes)
    granted = sum(wish.granted * wish.weight for wish in wishes)
    return (granted * (0.25 + 0.75 * content) + 0.55 * content) / (weight + 1.0)


def _fidelity(m: Measures) -> float:
    size = ramp(m.subject, 0.02, 0.12) * ramp(m.subject, 0.65, 0.4)
    together = ramp(m.reach, 0.42, 0.2)
    sharp = ramp(m.sharp, 4, 120)
    return 0.4 * ramp(m.separation, 0.05, 0.9) + 0.25 * size + 0.2 * together + 0.15 * sharp


def _composition(m: Measures, wishes: list[Wish]) -> float:
    x, y = m.centre
    to_third = min(hypot(x - tx, y - ty) for tx, ty in _THIRDS)
    placed = ramp(min(to_third, hypot(x - _MIDDLE[0], y - _MIDDLE[1])), 0.25, 0.0)
    room = ramp(m.subject, 0.6, 0.3) * ramp(m.subject, 0.01, 0.08)
    plain = 0.4 * placed + 0.3 * m.margin + 0.2 * room + 0.1 * m.symmetry
    return _with_wishes(plain, wishes, "composition")


def _coherence(m: Measures, wishes: list[Wish], objective: ObjectivePreset) -> float:
    compact = ramp(m.palette, 60, 4)
    toned = ramp(m.contrast, 0.05, 0.7) * ramp(m.clipped, 0.5, 0.1)
    colourful = 1.0 - abs(m.saturation - 0.45) / 0.55
    plain = 0.4 * compact + 0.35 * toned + 0.25 * max(0.0, colourful)
    if objective is ObjectivePreset.PRODUCT:
        plain = 0.6 * plain + 0.4 * m.calm
    elif objective is ObjectivePreset.AESTHETIC:
        plain = 0.7 * plain + 0.3 * max(0.0, colourful) * ramp(m.contrast, 0.1, 0.5)
    return _with_wishes(plain, wishes, "style", "light")


def _with_wishes(plain: float, wishes: list[Wish], *about: str) -> float:
    """Half of it is what was asked for, where that was said."""
    own = [wish.granted for wish in wishes if wish.about in about]
    return plain if not own else 0.5 * plain + 0.5 * sum(own) / len(own)


def _penalty(m: Measures, wishes: list[Wish]) -> float:
    asked = {wish.word for wish in wishes if wish.about == "style" and wish.granted > 0.3}
    noise = ramp(m.noise, 2.0, 12.0) * (0.4 if asked else 1.0)
    clipped = ramp(m.clipped, 0.12, 0.6)
    bars = 0.0 if asked else ramp(m.bars, 0.05, 0.4)
    blurred = ramp(m.sharp, 20, 4)
    return min(1.0, 0.02 + 0.6 * noise + 0.35 * clipped + 0.2 * bars + 0.25 * blurred)


def _failures(m: Measures, wishes: list[Wish], penalty: float) -> tuple[str, ...]:
    tags = [f"{wish.about}: {wish.word} not seen" for wish in wishes if wish.granted < 0.25]
    if m.noise > 6:
        tags.append("noise artifact")
    if m.brightness < 0.12:
        tags.append("too dark")
    if m.brightness > 0.93:
        tags.append("too bright")
    if m.sharp < 8:
        tags.append("blur or empty areas")
    if m.subject < 0.03 or m.separation < 0.12:
        tags.append("nothing stands out")
    elif m.margin < 0.7:
        tags.append("what stands out is cut by the frame")
    return tuple(tags[:_MOST_TAGS])


def _strengths(m: Measures, wishes: list[Wish]) -> tuple[str, ...]:
    tags = [f"{wish.about}: {wish.word}" for wish in wishes if wish.granted > 0.8]
    # Whether it is what was asked for, pixels do not tell.
    if wishes and m.subject >= 0.03 and m.separation > 0.4:
        tags.append("something stands out")
    if m.contrast > 0.35 and m.clipped < 0.1:
        tags.append("balanced tones")
    if m.palette < 14 and m.saturation > 0.15:
        tags.append("compact palette")
    return tuple(tags[:_MOST_TAGS])


def _rationale(m: Measures, wishes: list[Wish], unmeasured: set[str]) -> str:
    main = sorted(m.families.items(), key=lambda item: (-item[1], item[0]))[:3]
    colours = ", ".join(f"{name} {part:.0%}" for name, part in main)
    measured = ", ".join(f"{wish.word} {wish.granted:.0%}" for wish in wishes[:8])
    adherence = f"Measured of the prompt: {measured}." if wishes else _NOTHING
    if wishes and unmeasured:
        adherence += f" Not measured: {', '.join(sorted(unmeasured)[:_MOST_WORDS])}."
    x, y = m.centre
    return (
        f"Pixels only: {colours}; brightness {m.brightness:.2f}, contrast {m.contrast:.2f}, "
        f"saturation {m.saturation:.2f}. What stands out covers {m.subject:.0%} around "
        f"({x:.2f}, {y:.2f}). {adherence}"
    )
