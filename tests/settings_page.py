"""The page of optimizers' settings, written from the constructors: `python -m tests.settings_page`."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from burnish.domain.setting_schemas import sentences, settings_schema
from burnish.optimizers.catalog import is_built_in, list_optimizers, optimizer_maker

PAGE = Path(__file__).parents[1] / "docs" / "optimizer-settings.md"
HEAD = """# Settings of the optimizers

They stand beside `name` in `[optimizer]` of `burnish.toml`, in `settings` over HTTP, and are keyword
arguments of the classes in `burnish.optimizers`. `python -m tests.settings_page` writes this page from
the code. What holds for all of them (`seed`, `racing`, `objective`, `space`, …) is in
[optimize](optimize.md), which one to take in [optimizers](optimizers.md).
"""


def page() -> str:
    """The page as the code has it."""
    names = [name for name in list_optimizers() if is_built_in(name)]
    return "\n".join([HEAD, *map(_section, names)])


def undescribed() -> list[str]:
    """Settings that no sentence of their class names."""
    return [
        f"{name}.{setting}"
        for name in list_optimizers()
        if is_built_in(name)
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
    head = ["| setting | takes | unless said | what it does |", "| --- | --- | --- | --- |"]
    first = sentences(make)[0].rstrip(".;")
    return "\n".join([f"## {name}\n", f"{first}.\n", *head, *rows, ""])


def _row(setting: str, schema: dict[str, Any], *, needed: bool) -> str:
    default = schema.get("default")
    unless = "must be given" if needed else "–" if default is None else f"`{default}`"
    words = schema.get("description", "").replace("|", "\\|").removesuffix(";")
    return f"| `{setting}` | {_takes(schema)} | {unless} | {words} |"


def _takes(schema: dict[str, Any]) -> str:
    if schema.get("x-model"):
        return "a model"
    if "anyOf" in schema:
        return " or ".join(_takes(one) for one in schema["anyOf"] if one != {"type": "null"})
    if "enum" in schema:
        return ", ".join(f"`{one}`" for one in schema["enum"])
    kinds = schema.get("type", "any")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    return " or ".join(_plain(one, schema) for one in kinds if one != "null")


def _plain(kind: str, schema: dict[str, Any]) -> str:
    if kind == "array":
        return f"list of {_takes(schema.get('items', {}))}"
    if kind == "object":
        return f"table of {_takes(schema.get('additionalProperties', {}))}"
    return {"integer": "whole number", "string": "text", "boolean": "true, false"}.get(kind, kind)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
