"""Page of the optimizers' settings, from their constructors."""

from __future__ import annotations

import inspect
from typing import Any

from tests.reference.markdown import table, takes

from burnish.domain.setting_schemas import sentences, settings_schema
from burnish.optimizers.catalog import is_built_in, list_optimizers, optimizer_maker


def made(_: str) -> str:
    """Every optimizer with its settings."""
    return "\n".join(map(_section, built_in()))


def built_in() -> list[str]:
    """Names of the optimizers that Burnish brings along."""
    return [name for name in list_optimizers() if is_built_in(name)]


def undescribed() -> list[str]:
    """Settings that no sentence of their class names."""
    return [
        f"{name}.{setting}"
        for name in built_in()
        for setting in inspect.signature(optimizer_maker(name)).parameters
        if not any(f"`{setting}`" in one for one in sentences(optimizer_maker(name)))
    ]


def _section(name: str) -> str:
    make = optimizer_maker(name)
    schema = settings_schema(make)
    rows = [
        _row(setting, one, needed=setting in schema["required"])
        for setting, one in schema["properties"].items()
    ]
    first = sentences(make)[0].rstrip(".;")
    head = ["setting", "takes", "unless said", "what it does"]
    return "\n".join([f"## {name}\n", f"{first}.\n", table(head, rows)])


def _row(setting: str, schema: dict[str, Any], *, needed: bool) -> list[str]:
    default = schema.get("default")
    unless = "must be given" if needed else "–" if default is None else f"`{default}`"
    return [
        f"`{setting}`",
        takes(schema),
        unless,
        schema.get("description", "").removesuffix(";"),
    ]
