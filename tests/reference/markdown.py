"""Markdown of the reference: tables, and types and values of settings in words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

NONE = "–"
DOCS = Path(__file__).parents[2] / "docs"
_MADE = re.compile(r"(?<=<!-- made: )(\S+) -->\n.*?(?=<!-- end -->)", re.DOTALL)


def filled(name: str, make: Callable[[str], str]) -> str:
    """A page of the docs whose parts between `<!-- made: PART -->` and `<!-- end -->` are made anew."""
    text = (DOCS / name).read_text(encoding="utf-8")
    return _MADE.sub(lambda found: f"{found[1]} -->\n\n{make(found[1])}\n", text)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; bars and line breaks in cells are kept from ending them."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines) + "\n"


def value(given: Any) -> str:
    """A value as it stands in burnish.toml."""
    return NONE if given is None else f"`{toml(given)}`"


def toml(given: Any) -> str:
    """A value in TOML; tables inline."""
    if isinstance(given, Mapping):
        return "{ " + ", ".join(f"{key} = {toml(one)}" for key, one in given.items()) + " }"
    if isinstance(given, (list, tuple)):
        return "[" + ", ".join(map(toml, given)) + "]"
    return json.dumps(given, ensure_ascii=False)


def takes(schema: Mapping[str, Any]) -> str:
    """What a setting takes, by its JSON schema."""
    if schema.get("x-model"):
        return "a model"
    if "anyOf" in schema:
        kinds = [takes(one) for one in schema["anyOf"] if one != {"type": "null"}]
        return " or ".join(dict.fromkeys(kinds))
    if "$ref" in schema:
        return "a table"
    if "enum" in schema:
        return ", ".join(f"`{one}`" for one in schema["enum"])
    kinds = schema.get("type", "any")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    return " or ".join(_plain(one, schema) for one in kinds if one != "null")


def _plain(kind: str, schema: Mapping[str, Any]) -> str:
    if kind == "array":
        return f"list of {takes(schema.get('items', {}))}"
    if kind == "object":
        inner = schema.get("additionalProperties", {})
        return f"table of {takes(inner if isinstance(inner, Mapping) else {})}"
    return {"integer": "whole number", "string": "text", "boolean": "true, false"}.get(kind, kind)


def _cell(text: str) -> str:
    # A bar that is already kept from ending its cell stays as it is.
    return re.sub(r"(?<!\\)\|", r"\\|", " ".join(str(text).split()))
