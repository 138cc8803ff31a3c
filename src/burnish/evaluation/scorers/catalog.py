"""Scorer catalog: scorers by name and their settings, as `scorers = […]` of a suite holds them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from burnish.domain import Model, Scorer, UsageError
from burnish.evaluation.imports import load_object
from burnish.evaluation.scorers.agreement import Agreement
from burnish.evaluation.scorers.asserts import Asserts
from burnish.evaluation.scorers.fields import DEFAULT_FIELD, bad_setting
from burnish.evaluation.scorers.function_scorer import FunctionScorer
from burnish.evaluation.scorers.json_scorers import JsonField, JsonSchema
from burnish.evaluation.scorers.judge import LLMJudge, SkippedJudge, has_criteria
from burnish.evaluation.scorers.numeric import NumericTolerance
from burnish.evaluation.scorers.pairwise import Outputs, PairwiseJudge
from burnish.evaluation.scorers.patterns import Contains, Regex
from burnish.evaluation.scorers.scorer_set import ScorerSet, Weighted, is_scorer
from burnish.evaluation.scorers.text import ExactMatch, Similarity
from burnish.evaluation.scorers.tool_calls import (
    ToolArguments,
    ToolCalled,
    ToolNotCalled,
    ToolOrder,
)
from burnish.evaluation.scorers.transcripts import GoalReached, Steps, Turns
from burnish.support.entry_points import Seam
from burnish.support.hints import nearest
from burnish.support.number_checks import is_number
from burnish.support.setting_checks import check_settings, make_with

SEAM = Seam(
    group="burnish.scorers", noun="scorer", wants="a class, or a function that returns a scorer"
)
# Settings of `build_scorer` itself, which every kind takes.
COMMON = ("kind", "weight")
# What a suite gives its scorers itself.
_GIVEN = ("baseline",)
_TEXTS = (
    *("field", "reference", "pattern", "path", "name", "match", "decimal", "version", "tool"),
)
_FLAGS = (
    *("ignore_case", "strip", "repair", "blocking", "score_only", "exact", "strict", "transcript"),
)
_NUMBERS = ("absolute", "relative", "threshold", "timeout_seconds", "weight", "most", "least")
ScorerSpec: TypeAlias = "Mapping[str, Any] | str | Callable[..., Any] | Scorer"
OpenModel: TypeAlias = Callable[[Any], Model]
_MAKERS: Mapping[str, Callable[..., Scorer]] = {
    "exact_match": ExactMatch,
    "contains": Contains,
    "regex": Regex,
    "numeric": NumericTolerance,
    "similarity": Similarity,
    "json_schema": JsonSchema,
    "json_field": JsonField,
    "tool_called": ToolCalled,
    "tool_not_called": ToolNotCalled,
    "tool_arguments": ToolArguments,
    "tool_order": ToolOrder,
    "steps": Steps,
    "turns": Turns,
    "goal_reached": GoalReached,
    "judge": LLMJudge,
    "pairwise": PairwiseJudge,
    "agreement": Agreement,
    "asserts": Asserts,
    "python": FunctionScorer,
}
_ALIASES = {"llm_judge": "judge", "numeric_tolerance": "numeric", "function": "python"}
_JUDGES = ("judge", "pairwise")
# Kinds whose field holds the right answer, of which there may be only a few: worth stratifying by.
_LABELLED = ("agreement", "exact_match", "contains", "json_field", "regex")


def checked_settings(
    kind: str, spec: Mapping[str, Any], make: Callable[..., Any]
) -> dict[str, Any]:
    """The settings that the scorer's constructor takes, each checked for its type."""
    parameters = inspect.signature(make).parameters
    known = {name: one for name, one in parameters.items() if name not in _GIVEN}
    settings = {key: value for key, value in spec.items() if key not in COMMON}
    for key, value in settings.items():
        if key not in known:
            raise UsageError(
                what=f"the scorer {kind!r} has no setting {key!r}",
                why="it cannot be guessed what it is for",
                fix=nearest(str(key), [*known, "weight"]),
                code="unknown_setting",
            )
        _check_type(kind, key, value)
    missing = [
        key
        for key, parameter in known.items()
        if parameter.default is parameter.empty and key not in settings
    ]
    if missing:
        raise bad_setting(kind, missing[0], "it is missing", f"add {missing[0]!r}")
    return settings


def checked_weight(spec: object) -> float:
    """A spec's weight: 1 unless it says otherwise."""
    weight = spec.get("weight", 1.0) if isinstance(spec, Mapping) else 1.0
    if not is_number(weight) or weight < 0:
        raise bad_setting("scorer", "weight", f"{weight!r} is not a finite number from 0 up")
    return float(weight)


def _check_type(kind: str, key: str, value: Any) -> None:
    if key in _TEXTS and not isinstance(value, str):
        raise bad_setting(kind, key, f"{value!r} is not text")
    if key in _FLAGS and not isinstance(value, bool):
        raise bad_setting(kind, key, f"{value!r} is neither true nor false")
    if key in _NUMBERS and not is_number(value):
        raise bad_setting(kind, key, f"{value!r} is not a finite number")
    if key == "fields" and not _is_text_list(value):
        raise bad_setting(kind, key, f"{value!r} is not a list of names")
    if key == "parameters" and not isinstance(value, Mapping):
        raise bad_setting(kind, key, f"{value!r} is not a table")
    if key == "text" and not isinstance(value, str) and not _is_text_list(value):
        raise bad_setting(kind, key, f"{value!r} is neither text nor a list of texts")


def _is_text_list(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value)


def scorer_makers() -> Mapping[str, Callable[..., Scorer]]:
    """What makes each built-in kind of scorer, but for `weighted`, which is made of others."""
    return _MAKERS


def scorer_maker(kind: str) -> Callable[..., Scorer]:
    """What makes a scorer of a kind, built in or registered by an installed package."""
    make = _MAKERS.get(kind) or SEAM.load(kind)
    if make is None:
        raise _unknown_kind(kind)
    return make


def third_party_kinds() -> list[str]:
    """Kinds that installed packages add; a built-in kind or its other name wins over theirs."""
    return sorted(set(SEAM.installed()) - {*_MAKERS, *_ALIASES, "weighted"})


def build_scorers(
    specs: Sequence[ScorerSpec],
    *,
    open_model: OpenModel,
    folder: Path,
    baseline: Outputs | None = None,
) -> ScorerSet:
    """All scorers of a suite, with the weights that their specs give.

    Judges without criteria are left out where another scorer decides. Pairwise ones without a
    reference compare with the baseline's outputs.
    """
    scorers = [
        build_scorer(spec, open_model=open_model, folder=folder, baseline=baseline)
        for spec in specs
    ]
    pairs = list(zip(scorers, [checked_weight(spec) for spec in specs], strict=True))
    kept = [pair for pair in pairs if not isinstance(pair[0], SkippedJudge)]
    if not any(weight for _, weight in kept):
        kept = pairs
    skipped = tuple(one.name for one in scorers if isinstance(one, SkippedJudge))
    return ScorerSet([one for one, _ in kept], [weight for _, weight in kept], skipped=skipped)


def build_scorer(
    spec: ScorerSpec, *, open_model: OpenModel, folder: Path, baseline: Outputs | None = None
) -> Scorer:
    """A scorer from a table with its `kind`, a kind's name, "module:function", or an object."""
    if isinstance(spec, str):
        if ":" in spec:
            return _from_reference(spec, folder)
        spec = {"kind": spec}
    if isinstance(spec, Mapping):
        checked_weight(spec)
        return _from_table(spec, open_model, folder, baseline)
    if is_scorer(spec):
        return spec
    if callable(spec) and not isinstance(spec, type):
        return FunctionScorer(spec)
    raise UsageError(
        what=f"{spec!r:.100} cannot be used as a scorer",
        why=f"it is a {type(spec).__name__}",
        fix='give a function, a Scorer object, "module:function" or { kind = "exact_match", … }',
        code="invalid_scorer",
    )


def needs_baseline(specs: Sequence[ScorerSpec]) -> bool:
    """Whether a scorer compares outputs with those of a baseline."""
    for spec in specs:
        table: Mapping[str, Any] = spec if isinstance(spec, Mapping) else {}
        kind, parts = table.get("kind"), table.get("scorers")
        if kind == "pairwise" and table.get("reference") is None:
            return True
        if kind == "weighted" and isinstance(parts, (list, tuple)) and needs_baseline(parts):
            return True
    return False


def stratify_field(spec: ScorerSpec) -> str | None:
    """The item's field that holds the right label, where the scorer compares with one."""
    if isinstance(spec, (Agreement, ExactMatch, JsonField, Contains)):
        return spec.field
    if isinstance(spec, Regex):
        return spec.field if spec.compares else None
    if isinstance(spec, str):
        spec = {"kind": spec}
    if not isinstance(spec, Mapping) or spec.get("kind") not in _LABELLED:
        return None
    if spec["kind"] == "contains" and "text" in spec:
        return None
    if spec["kind"] == "regex" and not ("pattern" in spec and "field" in spec):
        return None
    own = "label" if spec["kind"] == "agreement" else DEFAULT_FIELD
    field = spec.get("field", own)
    return field if isinstance(field, str) else None


def _from_table(
    spec: Mapping[str, Any], open_model: OpenModel, folder: Path, baseline: Outputs | None
) -> Scorer:
    kind = _kind_of(spec)
    if kind == "weighted":
        return _weighted(spec, open_model, folder, baseline)
    if kind not in _MAKERS:
        return _third_party(kind, spec, open_model)
    make = _MAKERS[kind]
    if kind in _JUDGES:
        spec = {**spec, "criteria": _criteria(spec.get("criteria"), folder)}
    settings = checked_settings(kind, spec, make)
    if kind == "pairwise":
        settings["baseline"] = baseline
    if kind in _JUDGES and not has_criteria(settings["criteria"]):
        return SkippedJudge(name=settings.get("name", kind))
    if kind in _JUDGES or settings.get("model") is not None:
        settings["model"] = open_model(settings["model"])
    elif isinstance(settings.get("schema"), (str, Path)):
        settings["schema"] = folder / settings["schema"]
    elif kind == "python" and isinstance(settings["function"], str):
        settings["function"] = load_object(settings["function"], folder)
    return make(**settings)


def _kind_of(spec: Mapping[str, Any]) -> str:
    given = spec.get("kind")
    kind = _ALIASES.get(str(given), given)
    # What is installed is looked at only for a name that is not ours.
    if kind in (*_MAKERS, "weighted") or kind in third_party_kinds():
        return str(kind)
    raise _unknown_kind(given)


def _unknown_kind(given: object) -> UsageError:
    return UsageError(
        what="a scorer has no kind" if given is None else f"there is no scorer {given!r}",
        why="a scorer is one of the built-in kinds or your own function",
        fix=nearest(str(given), [*_MAKERS, "weighted", *third_party_kinds()])
        + ', or "module:function"',
        code="unknown_scorer",
    )


def _third_party(kind: str, spec: Mapping[str, Any], open_model: OpenModel) -> Scorer:
    make = scorer_maker(kind)
    settings = {key: value for key, value in spec.items() if key not in COMMON}
    check_settings("scorer", kind, make, settings)
    if settings.get("model") is not None:
        settings["model"] = open_model(settings["model"])
    scorer = make_with("scorer", kind, make, settings)
    if is_scorer(scorer):
        return scorer
    raise SEAM.broken(
        f"{kind!r} cannot be used as a scorer",
        f"what it makes, a {type(scorer).__name__}, lacks name, fingerprint or score",
        "give it all three; fingerprint = None means that it is not known",
    )


def _weighted(
    spec: Mapping[str, Any], open_model: OpenModel, folder: Path, baseline: Outputs | None
) -> Weighted:
    def make(scorers: Sequence[ScorerSpec], name: str = "weighted") -> Weighted:
        parts = build_scorers(scorers, open_model=open_model, folder=folder, baseline=baseline)
        return Weighted(list(zip(parts.scorers, parts.weights, strict=True)), name=name)

    settings = checked_settings("weighted", spec, make)
    if not isinstance(settings["scorers"], (list, tuple)):
        raise bad_setting("weighted", "scorers", f"{settings['scorers']!r} is not a list")
    return make(**settings)


def _from_reference(reference: str, folder: Path) -> Scorer:
    value = load_object(reference, folder)
    return value if is_scorer(value) else FunctionScorer(value)


def _criteria(criteria: Any, folder: Path) -> Any:
    """Criteria as given, or from a file as in { file = "criteria.md" }."""
    if not isinstance(criteria, Mapping):
        return criteria
    if list(criteria) != ["file"] or not isinstance(criteria["file"], str):
        raise bad_setting("judge", "criteria", "a table of it has just `file`, a path")
    path = folder / criteria["file"]
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = f"{path} cannot be read: {getattr(error, 'strerror', None) or error}"
        raise bad_setting("judge", "criteria", why, "name a text file") from error
