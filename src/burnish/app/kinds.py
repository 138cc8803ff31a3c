"""Kinds of optimizers and scorers with what each can be set to: what forms are made from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from burnish.app.setting_words import worded
from burnish.domain import BurnishError
from burnish.domain.setting_schemas import sentences, settings_schema
from burnish.evaluation.scorers.catalog import scorer_maker, scorer_makers, third_party_kinds
from burnish.optimization.objective import MEASURES
from burnish.optimization.racing import RacingMode
from burnish.optimizers.catalog import is_built_in, list_optimizers, optimizer_maker

ModelUse = Literal["none", "optional", "required"]
_CODE_KINDS = ("python",)
_WEIGHT = {"type": "number", "minimum": 0, "default": 1.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What can be chosen by a name. `settings` is a JSON schema."""

    name: str
    summary: str
    description: str
    settings: dict[str, Any]
    model: ModelUse = "none"
    built_in: bool = True
    over_http: bool = True


# What goes with every optimizer: FRAMEWORK_KEYS without name and seed, which have their own fields.
FRAMEWORK: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": [],
    "properties": {
        "racing": {
            "enum": [mode.value for mode in RacingMode],
            "default": RacingMode.OFF.value,
            "description": "Ends trials early that will not win.",
        },
        "candidates_per_step": {
            "type": ["integer", "null"],
            "minimum": 1,
            "default": None,
            "description": "How many candidates run side by side; else as the optimizer wishes.",
        },
        "asynchronous": {
            "type": "boolean",
            "default": False,
            "description": "Go on as soon as one candidate has ended, without waiting for others.",
        },
        "keep_passing": {
            "type": "boolean",
            "default": False,
            "description": "Nothing wins that breaks an item which the baseline passes.",
        },
        "timeout_seconds": {
            "type": "number",
            "exclusiveMinimum": 0,
            "default": 600.0,
            "description": "How long the optimizer may think about a step.",
        },
        "space": {
            "type": "object",
            "default": {},
            "description": "What may change: sections, parameters with their values, examples.",
        },
        "objective": {
            "type": ["object", "null"],
            "default": None,
            "description": "What counts besides the score: weights of "
            f"{', '.join(MEASURES)}, or pareto with a tolerance.",
        },
    },
}


def optimizer_kinds() -> list[Kind]:
    """Every optimizer that can be named, those of other packages too."""
    return [_optimizer(name) for name in list_optimizers()]


def scorer_kinds() -> list[Kind]:
    """Every kind of scorer, those of other packages too; code stands in burnish.toml only."""
    built_in = scorer_makers()
    return [_scorer(name, built_in=name in built_in) for name in (*built_in, *third_party_kinds())]


def _scorer(name: str, *, built_in: bool) -> Kind:
    kind = _kind(name, scorer_maker, built_in=built_in)
    kind.settings["properties"]["weight"] = dict(_WEIGHT)
    if built_in:
        kind.settings["additionalProperties"] = False
        kind = replace(kind, settings=worded(name, kind.settings))
    return replace(kind, over_http=name not in _CODE_KINDS)


def _optimizer(name: str) -> Kind:
    kind = _kind(name, optimizer_maker, built_in=is_built_in(name))
    return replace(kind, settings=worded(name, kind.settings)) if kind.built_in else kind


def _kind(name: str, find: Callable[[str], Callable[..., Any]], *, built_in: bool) -> Kind:
    try:
        make = find(name)
        schema = settings_schema(make)
    except (BurnishError, TypeError, ValueError) as error:
        # Another package's that cannot be loaded: it is there, and says why it cannot be used.
        nothing = {"type": "object", "properties": {}, "required": []}
        return Kind(
            name=name,
            summary="cannot be loaded",
            description=str(error),
            settings=nothing,
            built_in=False,
        )
    summary, description = _words(make)
    return Kind(
        name=name,
        summary=summary,
        description=description,
        settings=schema,
        model=_model_use(schema),
        built_in=built_in,
    )


def _words(make: Callable[..., Any]) -> tuple[str, str]:
    told = sentences(make)
    return (told[0] if told else ""), " ".join(told)


def _model_use(schema: dict[str, Any]) -> ModelUse:
    if "model" not in schema["properties"]:
        return "none"
    return "required" if "model" in schema["required"] else "optional"
