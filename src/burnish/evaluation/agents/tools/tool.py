"""Tool of an agent: what a model is told of it, how it is called, and which arguments it takes."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any, Protocol

from burnish.domain import Json, UsageError

# What every provider takes as a tool's name.
_UNFIT = re.compile(r"[^A-Za-z0-9_-]+")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_LONGEST_NAME = 64
_LONGEST_RESULT = 50_000


class ToolFailure(Exception):  # noqa: N818 - an observation, not a crash
    """Why a call came to nothing, in words for the model."""


class Tool(Protocol):
    """One tool. Safe to call from many tasks at once.

    `parameters` is the JSON schema of its arguments, an object. `call` is handed arguments that fit
    it and returns text for the model; ToolFailure and every other exception is told to the model,
    but for UnavailableError: then nobody was there, which is an outage and no answer. Equal calls
    have equal idempotency keys, also after the program was killed. `fingerprint` is None where its
    code cannot be seen.
    """

    name: str
    description: str
    parameters: Mapping[str, Json]
    fingerprint: str | None

    async def call(self, arguments: Mapping[str, Json], *, idempotency_key: str) -> str:
        """What it answers, as text."""
        ...

    async def close(self) -> None:
        """Free what it holds; a later call takes it anew."""
        ...


def fit_name(name: str) -> str:
    """A name as providers take it, which is also a part of a section's path."""
    fit = _UNFIT.sub("_", name).strip("-")[:_LONGEST_NAME]
    if not fit.strip("_"):
        raise UsageError(
            what=f"the tool {name!r} cannot be used",
            why="its name has neither letters nor digits of ASCII",
            fix='give it another one, such as name = "find_order"',
            code="invalid_tool",
        )
    return fit


def filled(value: str, name: str) -> str:
    """A header or variable of a tool, with `${NAME}` taken from the environment."""

    def variable(found: re.Match[str]) -> str:
        known = os.environ.get(found[1])
        if known is None:
            raise UsageError(
                what=f"the tool {name!r} cannot be called",
                why=f"it names the variable {found[1]}, which is not set",
                fix=f"set {found[1]} in the environment",
                code="missing_key",
            )
        return known

    return _VARIABLE.sub(variable, value)


def result_text(value: Any) -> str:
    """What a tool returned as the model reads it; a very long text keeps both of its ends."""
    if isinstance(value, str):
        text = value
    elif value is None:
        text = "done"
    else:
        text = json.dumps(value, ensure_ascii=False, default=_plain)
    if len(text) <= _LONGEST_RESULT:
        return text
    half = _LONGEST_RESULT // 2
    left = len(text) - 2 * half
    return f"{text[:half]}\n… ({left} characters left out) …\n{text[-half:]}"


def _plain(value: Any) -> Any:
    from pydantic_core import to_jsonable_python  # noqa: PLC0415 - for values that JSON has not

    return to_jsonable_python(value, fallback=str)


def broken_rule(arguments: Json, schema: Mapping[str, Json]) -> str | None:
    """In words, how arguments break their schema; None when they fit."""
    import jsonschema  # noqa: PLC0415 - slow to load, and only agents with tools need it

    if not isinstance(arguments, Mapping):
        return "they are no JSON object"
    validator = jsonschema.Draft202012Validator(schema)
    found = sorted(validator.iter_errors(arguments), key=lambda one: [str(p) for p in one.path])
    if not found:
        return None
    error: Any = jsonschema.exceptions.best_match(found) or found[0]
    where = ".".join(str(part) for part in error.absolute_path)
    return f"{where}: {error.message}" if where else str(error.message)
