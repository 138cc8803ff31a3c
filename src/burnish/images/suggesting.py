"""Suggesting stage of an image run: three prompts to go on with, by a model or by templates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from burnish.domain import Json, Model, Usage
from burnish.domain.images.runs import (
    MIN_PROMPT_LENGTH,
    TOP_K,
    ImageRun,
    ImageRunRequest,
    Rubric,
    Suggestions,
    Variant,
)
from burnish.images.constraint_text import (
    asks_for_any,
    extended,
    has_nothing_of,
    with_constraints,
    without_constraints,
)
from burnish.images.planning import LONGEST_PROMPT
from burnish.images.text_answers import NoAnswerError, Question

_BOTTOM = 2
_NAMES = ("conservative", "balanced", "aggressive")
_TASK = """\
You suggest how to go on with an image prompt, from what a judge said of variants of it. Write three \
full prompts: conservative keeps the best prompt almost as it is; balanced keeps it and mends what the \
judge criticised most; aggressive is a bold rewrite that keeps the core subject. Each shows everything \
that must be included, and nothing that must be avoided is asked for."""
_FORM = '{"conservative": "<prompt>", "balanced": "<prompt>", "aggressive": "<prompt>"}'
_SCHEMA: dict[str, Json] = {
    "type": "object",
    "properties": {name: {"type": "string"} for name in _NAMES},
    "required": list(_NAMES),
    "additionalProperties": False,
}
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
    "stands out": "Make the main subject larger and unmistakable",
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """The suggestions. `fallbacks` says which templates had to stand in, and why."""

    suggestions: Suggestions
    usage: Usage = field(default_factory=Usage)
    fallbacks: tuple[str, ...] = ()


async def suggest(run: ImageRun, model: Model | None) -> Advice:
    """By the text model, or by templates where there is none; those are no fallback then."""
    templates = template_suggestions(run.request, run.leaderboard)
    if model is None:
        return Advice(suggestions=templates)
    try:
        answer = await _question(run).ask(model)
    except NoAnswerError as error:
        reason = f"suggesting: templates were used, because {error}"
        return Advice(suggestions=templates, usage=error.usage, fallbacks=(reason,))
    chosen, fallbacks = asdict(templates), []
    taken: list[str] = []
    for name in _NAMES:
        given = answer.value.get(name)
        problem = _problem(given, run.request, taken)
        if problem is None:
            taken.append(str(given))
            chosen[name] = _within(str(given), run.request)
        else:
            fallbacks.append(f"suggesting: {name} is a template, because it {problem}")
    return Advice(suggestions=Suggestions(**chosen), usage=answer.usage, fallbacks=tuple(fallbacks))


def _question(run: ImageRun) -> Question:
    request, ranked = run.request, run.leaderboard
    top = ranked[:TOP_K]
    bottom = ranked[-_BOTTOM:] if len(ranked) > 1 else ()
    parts = [
        ("BASE PROMPT", request.base_prompt),
        ("OBJECTIVE", request.objective_preset.value),
        ("MUST INCLUDE", "\n".join(request.constraints.must_include) or "(nothing)"),
        ("MUST AVOID", "\n".join(request.constraints.must_avoid) or "(nothing)"),
        ("TOP VARIANTS", _summary(top)),
        ("BOTTOM VARIANTS", _summary(bottom)),
    ]
    return Question(task=_TASK, form=_FORM, schema=_SCHEMA, parts=parts)


def _summary(variants: Sequence[Variant]) -> str:
    return "\n\n".join(_line(one) for one in variants) or "(none)"


def _line(variant: Variant) -> str:
    rubric = variant.rubric
    assert rubric is not None
    return "\n".join(
        [
            f"rank {variant.rank}, score {variant.composite_score}: {variant.variant_prompt}",
            f"strengths: {', '.join(rubric.strength_tags) or '(none named)'}",
            f"failures: {', '.join(rubric.failure_tags) or '(none named)'}",
            f"the judge said: {rubric.rationale or '(nothing)'}",
        ]
    )


def _problem(given: Any, request: ImageRunRequest, taken: Sequence[str]) -> str | None:
    if not isinstance(given, str) or len(given.strip()) < MIN_PROMPT_LENGTH:
        return "was empty or too short"
    if len(given) > LONGEST_PROMPT:
        return f"was longer than {LONGEST_PROMPT} characters"
    if given.casefold().split() in [one.casefold().split() for one in taken]:
        return "repeats another"
    if has_nothing_of(given, request.base_prompt, request.constraints):
        return "has nothing of the prompt"
    avoid = request.constraints.must_avoid
    added = [term for term in avoid if not asks_for_any(request.base_prompt, [term])]
    return "asked for something that must be avoided" if asks_for_any(given, added) else None


def template_suggestions(request: ImageRunRequest, leaderboard: Sequence[Variant]) -> Suggestions:
    """Careful: the best prompt. In between: that with one fix. Bold: another take on the subject."""
    top = leaderboard[0] if leaderboard else None
    best = top.variant_prompt if top else request.base_prompt
    bold = _first_fit(_BOLD, request.base_prompt, request)
    return Suggestions(
        conservative=_within(best, request),
        balanced=_within(extended(best, _fix(top, best, request)), request),
        aggressive=_within(extended(request.base_prompt, bold), request),
    )


def _within(prompt: str, request: ImageRunRequest) -> str:
    """With its constraints as far as a run may have so long a prompt; it gets them anyway."""
    texts = (with_constraints(prompt, request.constraints), without_constraints(prompt))
    return next((one for one in texts if len(one) <= LONGEST_PROMPT), request.base_prompt)


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
