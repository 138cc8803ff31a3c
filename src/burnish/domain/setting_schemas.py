"""Settings that a constructor takes, as a JSON schema for forms: names, types, defaults, words."""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

_PLAIN: Mapping[Any, str] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    type(None): "null",
}
_SENTENCE = re.compile(r"(?<=[.;])\s+(?=[A-Z`])")
# What the framework opens by its name, whatever the constructor says it takes.
_MODELS = ("model",)
# What names a column of the dataset, so that forms can offer those that there are.
_COLUMNS = ("field", "answer_field")


def settings_schema(make: Callable[..., Any], *, leave_out: Sequence[str] = ()) -> dict[str, Any]:
    """The schema of what can be written down; what only code can give is left out.

    Each setting is described by the sentences of the docstring that name it.
    """
    hints = parameter_types(make)
    words = sentences(make)
    properties: dict[str, Any] = {}
    required: list[str] = []
    open_ended = False
    for name, one in inspect.signature(make).parameters.items():
        open_ended = open_ended or one.kind is one.VAR_KEYWORD
        if name in leave_out or one.kind not in (one.KEYWORD_ONLY, one.POSITIONAL_OR_KEYWORD):
            continue
        kind = _model(one) if name in _MODELS else type_schema(hints.get(name))
        if kind is None:
            continue
        if name in _COLUMNS and "type" in kind:
            kind["x-column"] = True
        told = " ".join(part for part in words if f"`{name}`" in part)
        properties[name] = {**kind, **_default(one), **({"description": told} if told else {})}
        if one.default is one.empty:
            required.append(name)
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": open_ended,
    }


def type_schema(hint: Any) -> dict[str, Any] | None:
    """The schema of a type; None where no plain value can stand for it."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    if hint is None or hint is Any:
        return {}
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (Union, types.UnionType):
        return _either(inner)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        values = type_schema(inner[1])
        return None if values is None else {"type": "object", "additionalProperties": values}
    if isinstance(origin, type) and issubclass(origin, Sequence):
        items = type_schema(inner[0])
        return None if items is None else {"type": "array", "items": items}
    return None


def sentences(make: Callable[..., Any]) -> list[str]:
    """The docstring, sentence by sentence."""
    text = " ".join((inspect.getdoc(make) or "").split())
    return _SENTENCE.split(text) if text else []


def _either(kinds: Sequence[Any]) -> dict[str, Any] | None:
    found = [one for kind in kinds if (one := type_schema(kind)) is not None]
    without = [one for one in found if one != {"type": "null"}]
    if not without:
        return None
    if all(set(one) == {"type"} for one in found):
        return {"type": [one["type"] for one in found]}
    return {"anyOf": found}


def _model(parameter: inspect.Parameter) -> dict[str, Any]:
    wanted = parameter.default is parameter.empty
    return {"type": "string" if wanted else ["string", "null"], "x-model": True}


def _default(parameter: inspect.Parameter) -> dict[str, Any]:
    value = parameter.default
    plain = value is None or isinstance(value, (bool, int, float, str))
    return {"default": value} if plain and value is not parameter.empty else {}


def parameter_types(make: Callable[..., Any]) -> dict[str, Any]:
    """Types by name; none where they cannot be resolved, as in a module that imports lazily."""
    target = make.__init__ if inspect.isclass(make) else make
    try:
        return get_type_hints(target)
    except (NameError, TypeError, AttributeError):
        return {}
