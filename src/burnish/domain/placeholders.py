"""`{{name}}` substitution: text in, text out, nothing is evaluated."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from burnish.domain.errors import UsageError
from burnish.domain.json_values import Json

_PLACEHOLDER = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*(?:[.-][A-Za-z0-9_]+)*)\s*\}\}")


def placeholders(text: str) -> tuple[str, ...]:
    """Names in order of first appearance, each once."""
    return tuple(dict.fromkeys(_PLACEHOLDER.findall(text)))


def render(text: str, fields: Mapping[str, Json]) -> str:
    """Each placeholder replaced by its field; a value that holds `{{…}}` is left as it is."""
    return _PLACEHOLDER.sub(lambda match: _as_text(lookup(fields, match.group(1))), text)


def lookup(fields: Mapping[str, Json], name: str) -> Json:
    """A field by its name, or by a dotted path into nested objects."""
    if name in fields:
        return fields[name]
    value: Any = fields
    for part in name.split("."):
        if not isinstance(value, Mapping) or part not in value:
            raise UsageError(
                what=f"the placeholder {{{{{name}}}}} cannot be filled",
                why="the item has no such field; it has " + (", ".join(sorted(fields)) or "none"),
                fix="rename the placeholder or add the column to the dataset",
                code="placeholder_unknown",
            )
        value = value[part]
    return value  # type: ignore[no-any-return]


def _as_text(value: Json) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False)
