"""Planning stage of an image run: the variants' prompts, by a text model or by templates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from burnish.domain import Json, Model, Usage
from burnish.domain.images.runs import (
    MIN_PROMPT_LENGTH,
    Constraints,
    ImageRunRequest,
    ObjectivePreset,
    Variant,
)
from burnish.images.constraint_text import (
    asks_for_any,
    extended,
    has_nothing_of,
    with_constraints,
)
from burnish.images.models.picture_words import LIGHTS, words_of
from burnish.images.text_answers import NoAnswerError, Question

LONGEST_PROMPT = 4_000
_MOST_TAGS, _LONGEST_TAG = 6, 40
_TASK = """\
You plan variants of a picture for an image model that edits it. Each variant is one full prompt \
that keeps the subject of the base prompt and changes one or two aspects on purpose, such as \
composition, lighting, lens, palette or style, in the direction of the objective. Variants differ \
from each other. Each shows everything that must be included, and nothing that must be avoided is \
asked for."""
_FORM = '{"variants": [{"variant_prompt": "<the prompt>", "mutation_tags": ["<aspect>"]}]}'
_TEXT: dict[str, Json] = {"type": "string"}
_VARIANT: dict[str, Json] = {
    "type": "object",
    "properties": {
        "variant_prompt": _TEXT,
        "mutation_tags": {"type": "array", "items": _TEXT},
    },
    "required": ["variant_prompt", "mutation_tags"],
    "additionalProperties": False,
}
_SCHEMA: dict[str, Json] = {
    "type": "object",
    "properties": {"variants": {"type": "array", "items": _VARIANT}},
    "required": ["variants"],
    "additionalProperties": False,
}
_Planned = tuple[str, tuple[str, ...]]


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
    prompt says already, nor another light than the prompt names."""
    lit = any(word in LIGHTS for word in words_of(prompt.lower()))
    for mutation in _BY_OBJECTIVE[objective]:
        used = mutation.text.lower() in prompt.lower() or (lit and "lighting" in mutation.tags)
        if not used and not asks_for_any(mutation.text, constraints.must_avoid):
            yield _changed(prompt, mutation, constraints), mutation
    number = 1
    while True:
        number += 1
        mutation = Mutation(("take",), f"Take {number} of the same picture")
        yield _changed(prompt, mutation, constraints), mutation


def _changed(prompt: str, mutation: Mutation, constraints: Constraints) -> str:
    return with_constraints(extended(prompt, mutation.text), constraints)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The planned variants. `fallbacks` says what templates had to replace, and why."""

    variants: tuple[Variant, ...]
    usage: Usage = field(default_factory=Usage)
    fallbacks: tuple[str, ...] = ()


async def plan(request: ImageRunRequest, model: Model | None) -> Plan:
    """Variants `v01`, `v02`, … by the text model, or by templates where there is none.

    Templates are no fallback when no model was asked for.
    """
    if model is None:
        return Plan(variants=_numbered(request, []))
    try:
        answer = await _question(request).ask(model)
    except NoAnswerError as error:
        reason = f"planning: templates were used, because {error}"
        return Plan(variants=_numbered(request, []), usage=error.usage, fallbacks=(reason,))
    kept, problems = _usable(answer.value.get("variants"), request)
    fallbacks: tuple[str, ...] = ()
    if len(kept) < request.n_variants:
        missing = request.n_variants - len(kept)
        why = "; ".join(dict.fromkeys(problems)) or f"{model.name} planned only {len(kept)}"
        fallbacks = (f"planning: {missing} of {request.n_variants} are templates, because {why}",)
    return Plan(variants=_numbered(request, kept), usage=answer.usage, fallbacks=fallbacks)


def _question(request: ImageRunRequest) -> Question:
    constraints = request.constraints
    parts = [
        ("BASE PROMPT", request.base_prompt),
        ("OBJECTIVE", request.objective_preset.value),
        ("NUMBER OF VARIANTS", str(request.n_variants)),
        ("MUST INCLUDE", "\n".join(constraints.must_include) or "(nothing)"),
        ("MUST AVOID", "\n".join(constraints.must_avoid) or "(nothing)"),
    ]
    return Question(task=_TASK, form=_FORM, schema=_SCHEMA, parts=parts)


def _usable(given: Any, request: ImageRunRequest) -> tuple[list[_Planned], list[str]]:
    """Those that can be used, mended where that is enough, and what is wrong with the others."""
    kept: list[_Planned] = []
    problems: list[str] = []
    for one in given if isinstance(given, list) else []:
        prompt: Any = one.get("variant_prompt") if isinstance(one, dict) else None
        problem = _problem(prompt, [text for text, _ in kept], request)
        if problem is not None:
            problems.append(problem)
        elif len(kept) < request.n_variants:
            kept.append(
                (with_constraints(prompt, request.constraints), _tags(one.get("mutation_tags")))
            )
    return kept, problems


def _problem(prompt: Any, kept: Sequence[str], request: ImageRunRequest) -> str | None:
    if not isinstance(prompt, str) or len(prompt.strip()) < MIN_PROMPT_LENGTH:
        return "a planned prompt is empty or too short"
    if len(prompt) > LONGEST_PROMPT:
        return f"a planned prompt is longer than {LONGEST_PROMPT} characters"
    avoid = request.constraints.must_avoid
    # What the base prompt itself asks for, a plan may keep: there the wish contradicts itself.
    added = [term for term in avoid if not asks_for_any(request.base_prompt, [term])]
    if asks_for_any(prompt, added):
        return "a planned prompt asks for something that must be avoided"
    plain = _folded(with_constraints(prompt, request.constraints))
    if plain in {_folded(other) for other in kept}:
        return "two planned prompts are the same"
    if has_nothing_of(prompt, request.base_prompt, request.constraints):
        return "a planned prompt has nothing of the base prompt"
    if _folded(prompt) == _folded(request.base_prompt):
        return "a planned prompt is the base prompt itself"
    return None


def _numbered(request: ImageRunRequest, planned: Sequence[_Planned]) -> tuple[Variant, ...]:
    """The planned ones, filled up with templates that are like none of them."""
    chosen = list(planned)
    taken = {_folded(prompt) for prompt, _ in chosen}
    templates = template_prompts(request.base_prompt, request.objective_preset, request.constraints)
    while len(chosen) < request.n_variants:
        prompt, mutation = next(templates)
        if _folded(prompt) not in taken:
            chosen.append((prompt, mutation.tags))
    return tuple(
        Variant(variant_id=f"v{number:02}", variant_prompt=prompt, mutation_tags=tags)
        for number, (prompt, tags) in enumerate(chosen, start=1)
    )


def _tags(given: Any) -> tuple[str, ...]:
    texts = [" ".join(one.split()) for one in given or () if isinstance(one, str)]
    return tuple(dict.fromkeys(one[:_LONGEST_TAG] for one in texts if one))[:_MOST_TAGS]


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
