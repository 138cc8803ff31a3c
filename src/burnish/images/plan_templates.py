"""Changes of a picture that need no model: always the same for the same wish."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from burnish.domain.images import Constraints, ObjectivePreset
from burnish.images.constraint_text import asks_for_any, extended, with_constraints


@dataclass(frozen=True, slots=True)
class Mutation:
    """One change, with the tags that say what kind it is."""

    tags: tuple[str, ...]
    text: str


_COMPOSITION = Mutation(
    ("composition",), "Recompose by the rule of thirds with clear space around the subject"
)
_LIGHTING = Mutation(("lighting",), "Relight with a warm golden-hour key light and soft shadows")
_LENS = Mutation(("lens",), "Reframe as a close-up through an 85mm lens with a blurred background")
_CENTRED = Mutation(("composition", "framing"), "Centre the subject in a symmetric frame")
_WIDE = Mutation(("lens", "framing"), "Pull back to a wide shot that shows the surroundings")
_PALETTE = Mutation(("colour",), "Limit the palette to three harmonious, saturated colours")
_MOOD = Mutation(("lighting", "mood"), "Use cinematic lighting with strong contrast and rim light")
_STUDIO = Mutation(
    ("lighting", "background"), "Set it in a studio with even light on a plain backdrop"
)
_DETAIL = Mutation(("detail",), "Sharpen the materials and fine textures of the subject")
_CONTRAST = Mutation(("clarity",), "Raise the contrast between the subject and its background")

_BY_OBJECTIVE = {
    ObjectivePreset.ADHERENCE: (
        _COMPOSITION,
        _LIGHTING,
        _LENS,
        _CENTRED,
        _WIDE,
        _CONTRAST,
        _DETAIL,
        _PALETTE,
        _MOOD,
        _STUDIO,
    ),
    ObjectivePreset.AESTHETIC: (
        _MOOD,
        _PALETTE,
        _COMPOSITION,
        _LIGHTING,
        _LENS,
        _WIDE,
        _DETAIL,
        _CENTRED,
        _CONTRAST,
        _STUDIO,
    ),
    ObjectivePreset.PRODUCT: (
        _STUDIO,
        _CENTRED,
        _DETAIL,
        _CONTRAST,
        _LENS,
        _LIGHTING,
        _COMPOSITION,
        _PALETTE,
        _WIDE,
        _MOOD,
    ),
}


def template_prompts(
    prompt: str, objective: ObjectivePreset, constraints: Constraints
) -> Iterator[tuple[str, Mutation]]:
    """Changed prompts without end, all different; none adds what is to be avoided, or what the
    prompt says already."""
    for mutation in _BY_OBJECTIVE[objective]:
        used = mutation.text.lower() in prompt.lower()
        if not used and not asks_for_any(mutation.text, constraints.must_avoid):
            yield _changed(prompt, mutation, constraints), mutation
    number = 1
    while True:
        number += 1
        mutation = Mutation(("take",), f"Take {number} of the same picture")
        yield _changed(prompt, mutation, constraints), mutation


def _changed(prompt: str, mutation: Mutation, constraints: Constraints) -> str:
    return with_constraints(extended(prompt, mutation.text), constraints)
