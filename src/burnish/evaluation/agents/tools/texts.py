"""Texts of tools as sections: descriptions of a tool, its parameters and an answer's fields.

`tools.NAME.description`, `tools.NAME.parameters.FIELD` (and `FIELD.SUB`), `output.FIELD`. Names and
types are no sections.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from burnish.domain import Json, UsageError

_PART = re.compile(r"[^A-Za-z0-9_-]+")
_DEEPEST = 8
# Where a schema may hold the schema of the same value once more.
_BRANCHES = ("anyOf", "oneOf", "allOf")
# Keys that hold values of the user's, and no schema.
_VALUES = frozenset({"default", "enum", "const", "examples", "example"})

Describe = Callable[[str, str], str]
"""From a field's path and its description to another one."""


def path_part(name: str) -> str:
    """A field's or tool's name as a part of a section's path."""
    part = _PART.sub("_", name)
    return f"_{part}" if not part or part[0] == "-" else part


def inlined(schema: Mapping[str, Any], document: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A schema without references, as far as they end, and without titles.

    References are into the schema itself, or into the document that it is from.
    """
    found: dict[str, Any] = _resolved(schema, document or schema, ())
    return found


def _resolved(value: Any, document: Mapping[str, Any], within: tuple[str, ...]) -> Any:
    if isinstance(value, list):
        return [_resolved(one, document, within) for one in value]
    if not isinstance(value, Mapping):
        return value
    reference = value.get("$ref")
    if isinstance(reference, str):
        rest = {key: one for key, one in value.items() if key != "$ref"}
        if reference in within:  # A type that holds itself is told to some depth only.
            return {"type": "object", **rest}
        whole = {**pointed_at(document, reference), **rest}
        return _resolved(whole, document, (*within, reference))
    return {
        key: one
        if key in _VALUES
        else {name: _resolved(inner, document, within) for name, inner in one.items()}
        if key == "properties" and isinstance(one, Mapping)
        else _resolved(one, document, within)
        for key, one in value.items()
        if key not in ("$defs", "definitions") and not (key == "title" and isinstance(one, str))
    }


def pointed_at(document: Mapping[str, Any], reference: str) -> Mapping[str, Any]:
    """What a reference such as `#/components/schemas/Order` means."""
    value: Any = document if reference.startswith("#") else None
    for part in reference.lstrip("#").split("/")[1:]:
        key = unquote(part).replace("~1", "/").replace("~0", "~")
        value = value.get(key) if isinstance(value, Mapping) else None
    if not isinstance(value, Mapping):
        raise UsageError(
            what="the schema of a tool cannot be read",
            why=f"there is nothing at {reference!r} in the same document",
            fix="correct the reference, or put what it means into the document itself",
            code="invalid_tool",
        )
    return value


def described(schema: Mapping[str, Any], describe: Describe, path: str = "") -> dict[str, Any]:
    """A schema with other descriptions of its fields; a field is described where it first stands."""
    return _described(schema, describe, path, set(), 0)


def _described(
    schema: Mapping[str, Any], describe: Describe, path: str, seen: set[str], depth: int
) -> dict[str, Any]:
    made = dict(schema)
    if depth > _DEEPEST:
        return made
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        made["properties"] = {
            name: _field(one, describe, f"{path}{path_part(name)}", seen, depth)
            for name, one in properties.items()
        }
    for word in _BRANCHES:
        if isinstance(schema.get(word), list):
            made[word] = [
                _described(one, describe, path, seen, depth + 1)
                if isinstance(one, Mapping)
                else one
                for one in schema[word]
            ]
    if isinstance(schema.get("items"), Mapping):
        made["items"] = _described(schema["items"], describe, path, seen, depth + 1)
    return made


def _field(field: Any, describe: Describe, path: str, seen: set[str], depth: int) -> Any:
    if not isinstance(field, Mapping):
        return field
    made = dict(field)
    if path not in seen:
        seen.add(path)
        before = field.get("description")
        text = describe(path, before if isinstance(before, str) else "")
        made.pop("description", None)
        if text:
            made["description"] = text
    return _described(made, describe, f"{path}.", seen, depth + 1)


def field_texts(schema: Mapping[str, Any] | None) -> dict[str, str]:
    """The description of every field by its path; empty where there is none yet."""
    found: dict[str, str] = {}

    def note(path: str, text: str) -> str:
        found[path] = text
        return text

    if schema is not None:
        described(schema, note)
    return found


def tool_texts(name: str, description: str, parameters: Mapping[str, Json]) -> dict[str, str]:
    """The sections of one tool."""
    own = f"tools.{path_part(name)}"
    fields = field_texts(parameters).items()
    return {
        f"{own}.description": description,
        **{f"{own}.parameters.{path}": text for path, text in fields},
    }


def with_texts(
    schema: Mapping[str, Json], prefix: str, sections: Mapping[str, str]
) -> dict[str, Json]:
    """A schema whose fields are described by the sections below a prefix."""
    return described(schema, lambda path, text: sections.get(f"{prefix}{path}", text))


def is_tool_text(path: str) -> bool:
    """Whether a section of a tool agent describes something, in place of being said."""
    first, dot, _ = path.partition(".")
    return bool(dot) and first in ("tools", "output", "agents")


def own_sections(sections: Mapping[str, str], prefix: str) -> Iterator[tuple[str, str]]:
    """The sections below a prefix, without it."""
    for path, text in sections.items():
        if path.startswith(prefix):
            yield path.removeprefix(prefix), text
