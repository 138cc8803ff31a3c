"""Suggestions that need no model: from the best prompt, and from what is wrong with its picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from burnish.domain.images import ImageRunRequest, Rubric, Suggestions, Variant
from burnish.images.constraint_text import asks_for_any, extended, with_constraints

# By a piece of a failure tag; the first that fits is taken.
_FIXES_BY_TAG = {
    "watermark": "Leave the picture free of lettering and marks",
    "limb": "Draw every figure with correct anatomy and a natural pose",
    "anatomy": "Draw every figure with correct anatomy and a natural pose",
    "artifact": "Render clean edges and smooth gradients with no distortion",
    "noise": "Render clean, even surfaces without grain",
    "blur": "Bring the subject into crisp focus",
    "dark": "Lift the exposure so that the subject reads at a glance",
    "bright": "Hold the highlights so that no area burns out",
    "colour": "Show the named colours plainly on the subject",
    "color": "Show the named colours plainly on the subject",
    "subject": "Make the main subject larger and unmistakable",
    "composition": "Give the subject a clear place in the frame with even margins",
    "style": "Hold one consistent style over the whole picture",
}
_FIXES_BY_METRIC = {
    "prompt_adherence": "Show every detail of the description clearly",
    "subject_fidelity": "Make the main subject larger and unmistakable",
    "composition_quality": "Give the subject a clear place in the frame with even margins",
    "style_coherence": "Hold one consistent style over the whole picture",
    "technical_artifact_penalty": "Render clean edges and smooth gradients with no distortion",
}
_LAST_FIXES = ("Sharpen the focus on the subject", "Simplify the background")
_BOLD = (
    "Reimagine it from an unexpected low viewpoint with dramatic colour contrast",
    "Reimagine it as a night scene with glowing light and deep shadows",
    "Reimagine it in a bold graphic style with flat shapes and few colours",
    "Reimagine it from scratch in another setting, season and time of day",
)


def template_suggestions(request: ImageRunRequest, leaderboard: Sequence[Variant]) -> Suggestions:
    """Careful: the best prompt. In between: that with one fix. Bold: another take on the subject."""
    top = leaderboard[0] if leaderboard else None
    best = top.variant_prompt if top else request.base_prompt
    constraints = request.constraints
    bold = _first_fit(_BOLD, request.base_prompt, request)
    return Suggestions(
        conservative=with_constraints(best, constraints),
        balanced=with_constraints(extended(best, _fix(top, best, request)), constraints),
        aggressive=with_constraints(extended(request.base_prompt, bold), constraints),
    )


def _fix(top: Variant | None, prompt: str, request: ImageRunRequest) -> str:
    rubric = top.rubric if top else None
    fixes = () if rubric is None else tuple(_fixes_of(rubric))
    return _first_fit((*fixes, *_LAST_FIXES), prompt, request)


def _fixes_of(rubric: Rubric) -> Iterator[str]:
    """For its failure tags, then for its metrics from the weakest up."""
    for tag in rubric.failure_tags:
        yield from (fix for piece, fix in _FIXES_BY_TAG.items() if piece in tag.lower())
    strength = {
        name: 1 - value if name.endswith("_penalty") else value
        for name in _FIXES_BY_METRIC
        for value in (getattr(rubric, name),)
    }
    yield from (_FIXES_BY_METRIC[name] for name in sorted(strength, key=lambda one: strength[one]))


def _first_fit(texts: Sequence[str], prompt: str, request: ImageRunRequest) -> str:
    """The first that asks for nothing to be avoided and that the prompt does not say already."""
    avoid = request.constraints.must_avoid
    fitting = [text for text in texts if not asks_for_any(text, avoid)]
    fresh = [text for text in fitting if text.lower() not in prompt.lower()]
    return next(iter(fresh or fitting), "Try it once more, in another way")
