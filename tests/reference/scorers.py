"""Page of the scorers: each kind with its settings, from the constructors."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from tests.reference.markdown import NONE, table, takes, value

from burnish.domain.setting_schemas import parameter_types, settings_schema, type_schema
from burnish.evaluation.scorers.catalog import _ALIASES, scorer_makers
from burnish.evaluation.scorers.scorer_set import Weighted

_PARTS = {"scorers": {"type": "array", "items": {}}}


def made(_: str) -> str:
    """Every kind with its settings."""
    return "\n".join(_section(kind, make) for kind, make in every_kind().items())


def every_kind() -> dict[str, Callable[..., Any]]:
    """What makes each kind, `weighted` too."""
    return {**scorer_makers(), "weighted": Weighted}


def settings_of(kind: str) -> dict[str, dict[str, Any]]:
    """The settings of a kind with their schema, those included that only a path stands for."""
    make = every_kind()[kind]
    if make is Weighted:
        return _PARTS
    told, hints = settings_schema(make)["properties"], parameter_types(make)
    return {
        name: told.get(name) or type_schema(hints.get(name)) or {}
        for name in inspect.signature(make).parameters
        if name != "name"
    }


def _section(kind: str, make: Callable[..., Any]) -> str:
    about = inspect.getdoc(make) or ""
    also = [f"`{name}`" for name, known in _ALIASES.items() if known == kind]
    also = [f"Also written {', '.join(also)}.\n"] if also else []
    rows = [_row(name, one, make) for name, one in settings_of(kind).items()]
    return "\n".join(
        [f"## {kind}\n", f"{about}\n", *also, table(["setting", "takes", "unless said"], rows)]
    )


def _row(name: str, schema: dict[str, Any], make: Callable[..., Any]) -> list[str]:
    one = inspect.signature(make).parameters.get(name)
    needed = make is Weighted or (one is not None and one.default is one.empty)
    default = schema.get("default")
    unless = NONE if default in (None, "") else value(default)
    return [f"`{name}`", takes(schema), "must be given" if needed else unless]
