"""LangChain tools with other texts: copies whose description and argument fields say something else."""

from __future__ import annotations

import copy
import functools
import operator
import types
import typing
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, create_model

from burnish.evaluation.agents.tools.texts import inlined, path_part
from burnish.integrations.frameworks.framework_agent import (
    described_schema,
    described_tool,
    sections_of_tool,
)

_MARK = "burnish looks whether this text arrives"


def langchain_tool_texts(tool: Any) -> dict[str, str]:
    """A tool's texts by path; only those that can be replaced."""
    found = sections_of_tool("", tool.name, tool.description or "", _schema(tool))
    marked = described_langchain_tool(tool, dict.fromkeys(found, _MARK))
    arrived = sections_of_tool("", tool.name, marked.description, _schema(marked))
    return {path: text for path, text in found.items() if arrived.get(path) == _MARK}


def described_langchain_tool(tool: Any, sections: Mapping[str, str]) -> Any:
    """A copy of the tool with the texts of sections; itself where they are the same."""
    schema = _schema(tool)
    description, changed = described_tool("", tool.name, tool.description or "", schema, sections)
    if description == tool.description and changed is schema:
        return tool
    update: dict[str, Any] = {"description": description}
    if changed is not schema:
        prefix = f"tools.{path_part(tool.name)}.parameters."
        given = tool.args_schema
        update["args_schema"] = (
            described_schema(given, prefix, sections)
            if isinstance(given, dict)
            else _described_model(given, prefix, sections)
        )
    return tool.model_copy(update=update)


def _schema(tool: Any) -> Any:
    """What the model is shown of the arguments."""
    shown = tool.tool_call_schema
    return shown if isinstance(shown, dict) else shown.model_json_schema()


def _described_model(model: Any, prefix: str, sections: Mapping[str, str]) -> Any:
    """A subclass whose fields are described by the sections."""
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        return model
    changed: dict[str, Any] = {}
    for name, known in model.model_fields.items():
        path = f"{prefix}{path_part(known.alias or name)}"
        text = sections.get(path, known.description or "")
        annotation = _described_annotation(known.annotation, f"{path}.", sections)
        if text != (known.description or "") or annotation is not known.annotation:
            twin = copy.copy(known)
            twin.description, twin.annotation = text or None, annotation
            changed[name] = (annotation, twin)
    if not changed:
        return model
    made = create_model(model.__name__, __base__=model, __module__=model.__module__, **changed)
    made.__doc__ = model.__doc__
    return made


def _described_annotation(annotation: Any, prefix: str, sections: Mapping[str, str]) -> Any:
    """Models within lists and unions too."""
    if isinstance(annotation, type) and not typing.get_args(annotation):
        return _described_model(annotation, prefix, sections)
    origin, given = typing.get_origin(annotation), typing.get_args(annotation)
    if origin not in (list, tuple, set, typing.Union, types.UnionType):
        return annotation
    made = tuple(_described_annotation(one, prefix, sections) for one in given)
    if all(new is old for new, old in zip(made, given, strict=True)):
        return annotation
    if origin in (typing.Union, types.UnionType):
        return functools.reduce(operator.or_, made)
    return origin[made]


def dict_texts(value: Any) -> tuple[str, str, Any] | None:
    """Name, description and schema of a tool as providers take it; None where it is none."""
    if not isinstance(value, dict):
        return None
    one = value.get("function") if value.get("type") == "function" else value
    if not isinstance(one, dict) or not isinstance(one.get("name"), str):
        return None
    schema = one.get("parameters", one.get("input_schema"))
    if not isinstance(schema, dict) or not inlined(schema):
        return None
    return one["name"], str(one.get("description") or ""), schema


def described_dict(value: dict[str, Any], description: str, schema: Any) -> dict[str, Any]:
    """The same tool with another description and schema."""
    if isinstance(value.get("function"), dict):
        return {**value, "function": described_dict(value["function"], description, schema)}
    key = "parameters" if "parameters" in value else "input_schema"
    return {**value, "description": description, key: schema}
