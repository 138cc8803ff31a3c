"""Nunjucks in another tool's texts: plain names are ours too, and anything more is not run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from burnish.domain import Json, UsageError, placeholders, render

_STATEMENT = re.compile(r"\{%.*?%\}|\{#.*?#\}|\{%|\{#", re.DOTALL)
_EXPRESSION = re.compile(r"\{\{(.{0,500}?)\}\}", re.DOTALL)
_DUMPED = re.compile(
    r"(?<!\")\{\{\s*([A-Za-z_][\w.]*)\s*\|\s*(?:dump|tojson)(?:\s*\|\s*safe)?\s*\}\}"
)
_SHOWN = 60
# Columns that a dataset or the asserts of a row need for themselves.
RENAMED: Mapping[str, str] = {"id": "id_", "split": "split_", "assert": "assert_"}
_NAMES = re.compile(r"\{\{\s*(id|split|assert)(?=[\s.}])")


def logic_in(text: str) -> str | None:
    """The first thing in a text that is more than `{{name}}`; None when there is none."""
    found = _STATEMENT.search(text)
    if found is not None:
        return _shown(found.group())
    for expression in _EXPRESSION.finditer(text):
        if not placeholders(expression.group()) or expression.group(1).strip().startswith("env."):
            return _shown(expression.group())
    return None


def with_quoted_dumps(text: str) -> str:
    """`{{x | dump}}` as `"{{x}}"`: so a chat prompt in JSON can be parsed before it is filled."""
    return _DUMPED.sub(r'"{{\1}}"', text)


def with_renamed(text: str) -> str:
    """A prompt with the names under which rows keep its variables."""
    return _NAMES.sub(lambda found: found.group()[: -len(found[1])] + RENAMED[found[1]], text)


def fill(value: Any, fields: Mapping[str, Json]) -> Any:
    """A value with the placeholders in its texts filled; a name that is not there stays as it is."""
    if isinstance(value, str):
        if "{{" not in value:
            return value
        try:
            return render(value, fields)
        except UsageError:
            return value
    if isinstance(value, Mapping):
        return {key: fill(inner, fields) for key, inner in value.items()}
    if isinstance(value, Sequence):
        return [fill(inner, fields) for inner in value]
    return value


def texts_in(value: Any) -> list[str]:
    """Every text within a value."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for inner in value.values() for text in texts_in(inner)]
    if isinstance(value, list):
        return [text for inner in value for text in texts_in(inner)]
    return []


def _shown(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"
