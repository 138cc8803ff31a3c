"""A judge's verdict as JSON: its schema, and the check that nothing unfit passes."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from burnish.domain import Json, UnavailableError
from burnish.domain.images import Rubric

INVALID_VERDICT = "INVALID_VERDICT"
NUMBERS = (
    "prompt_adherence",
    "subject_fidelity",
    "composition_quality",
    "style_coherence",
    "technical_artifact_penalty",
    "confidence",
)
_TAGS = ("failure_tags", "strength_tags")
_MOST_TAGS = 12
_LONGEST_TAG = 80
_LONGEST_RATIONALE = 2000


def verdict_schema() -> dict[str, Json]:
    """The JSON schema of a verdict, closed and complete."""
    number: Json = {"type": "number", "minimum": 0, "maximum": 1}
    tags: Json = {"type": "array", "items": {"type": "string"}, "maxItems": _MOST_TAGS}
    properties: dict[str, Json] = {
        **dict.fromkeys(NUMBERS, number),
        **dict.fromkeys(_TAGS, tags),
        "rationale": {"type": "string"},
    }
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def read_verdict(text: str, *, judge: str) -> Rubric:
    """The checked rubric of a judge's answer; UnavailableError `INVALID_VERDICT` for all else."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise invalid_verdict(judge, "its answer is not valid JSON") from None
    if not isinstance(value, Mapping):
        raise invalid_verdict(judge, "its answer is not an object")
    problem = next(filter(None, (_problem(value, name) for name in (*NUMBERS, *_TAGS))), None)
    rationale = value.get("rationale")
    if problem is None and not isinstance(rationale, str):
        problem = "rationale is not text"
    if problem is not None:
        raise invalid_verdict(judge, problem)
    return Rubric(
        prompt_adherence=float(value["prompt_adherence"]),
        subject_fidelity=float(value["subject_fidelity"]),
        composition_quality=float(value["composition_quality"]),
        style_coherence=float(value["style_coherence"]),
        technical_artifact_penalty=float(value["technical_artifact_penalty"]),
        confidence=float(value["confidence"]),
        failure_tags=_tags(value["failure_tags"]),
        strength_tags=_tags(value["strength_tags"]),
        rationale=_plain(str(rationale))[:_LONGEST_RATIONALE],
    )


def invalid_verdict(judge: str, why: str) -> UnavailableError:
    """What a judge said is no rubric."""
    return UnavailableError(
        what=f"the verdict of {judge} cannot be used",
        why=why,
        fix="judge again, or choose another judge_model",
        code=INVALID_VERDICT,
    )


def _problem(value: Mapping[str, Any], name: str) -> str | None:
    if name not in value:
        return f"{name} is missing"
    return (
        _number_problem(name, value[name]) if name in NUMBERS else _tag_problem(name, value[name])
    )


def _number_problem(name: str, number: Any) -> str | None:
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        return f"{name} is not a number"
    if not math.isfinite(number) or not 0 <= number <= 1:
        return f"{name} is not from 0 to 1"
    return None


def _tag_problem(name: str, tags: Any) -> str | None:
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        return f"{name} is not a list of texts"
    return f"{name} has more than {_MOST_TAGS} entries" if len(tags) > _MOST_TAGS else None


def _tags(tags: list[str]) -> tuple[str, ...]:
    cleaned = (" ".join(_plain(tag).split())[:_LONGEST_TAG] for tag in tags)
    return tuple(dict.fromkeys(tag for tag in cleaned if tag))


def _plain(text: str) -> str:
    """Without control characters, and without halves of surrogate pairs, which nothing stores."""
    whole = text.encode("utf-8", "replace").decode("utf-8")
    return "".join(one for one in whole if one.isprintable() or one == "\n")
