"""Tools that are Python functions: their schema from signature, type hints and docstring."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from burnish.domain import Json, UsageError
from burnish.evaluation.agents.tools.texts import inlined
from burnish.evaluation.agents.tools.tool import ToolFailure, fit_name, result_text
from burnish.models.fingerprints import callable_fingerprint
from burnish.support.threads import DaemonThreads

IDEMPOTENCY_KEY = "idempotency_key"
_MAX_THREADS = 64
_NOT_NAMED = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
# Of docstrings: an `Args:` list, `:param name:` lines, a `Parameters` heading over dashes.
_HEADING = re.compile(r"(Args|Arguments|Parameters|Params|Keyword Args)\s*:\s*$", re.IGNORECASE)
_OTHER = re.compile(
    r"(Returns?|Yields?|Raises|Examples?|Notes?|See Also|References|Attributes|Warns|Warnings?)\s*:\s*$"
)
_ENTRY = re.compile(r"\*{0,2}([A-Za-z_]\w*)\s*(?:\([^)]*\))?\s*:\s*(.*)$")
_FIELD = re.compile(r"\s*:param\s+(?:[^:]*\s)?\*{0,2}([A-Za-z_]\w*)\s*:\s*(.*)$")
_ANY_FIELD = re.compile(r"\s*:(param|type|returns?|rtype|raises?)\b[^:]*:")
_DASHES = re.compile(r"\s*-{3,}\s*$")
_NUMPY_ENTRY = re.compile(r"\*{0,2}([A-Za-z_]\w*)\s*(?::.*)?$")


class FunctionTool:
    """Calls a function with arguments by name. A plain one runs in a thread, an async one on the loop.

    Arguments become what the type hints say: enums, dates, dataclasses, pydantic models. A function
    with a parameter `idempotency_key` is handed the key; the model is not told of it.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        description: str | None = None,
        version: str | None = None,
    ) -> None:
        self.name = fit_name(name or _own_name(function))
        said, fields = read_docstring(_docstring(function))
        self.description = said if description is None else description
        self._function = function
        self._takes_key = IDEMPOTENCY_KEY in inspect.signature(function).parameters
        self._model = _arguments_model(function, self.name, fields)
        self.parameters: Mapping[str, Json] = {
            "type": "object",
            "properties": {},
            **inlined(self._model.model_json_schema()),
            "additionalProperties": False,
        }
        self._is_async = _is_async(function)
        self._threads = DaemonThreads(_MAX_THREADS)
        self.fingerprint = callable_fingerprint(function, version)

    async def call(self, arguments: Mapping[str, Json], *, idempotency_key: str) -> str:
        """What the function returns, as text."""
        call = partial(self._function, **self._given(arguments))
        if self._takes_key:
            call = partial(call, **{IDEMPOTENCY_KEY: idempotency_key})
        answer = await call() if self._is_async else await self._threads.run(call)
        if inspect.isawaitable(answer):
            answer = await answer
        return result_text(answer)

    async def close(self) -> None:
        """Let the threads end."""
        self._threads.close()

    def _given(self, arguments: Mapping[str, Json]) -> dict[str, Any]:
        """The arguments that were given, as their types; defaults are the function's own."""
        from pydantic import ValidationError  # noqa: PLC0415 - loaded with the model above

        try:
            read = self._model.model_validate(dict(arguments))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise ToolFailure(f"the argument {where}: {first['msg']}") from None
        fields = type(read).model_fields
        return {
            field.alias or key: getattr(read, key)
            for key, field in fields.items()
            if key in read.model_fields_set
        }


def _arguments_model(function: Callable[..., Any], name: str, texts: Mapping[str, str]) -> Any:
    """A pydantic model of the parameters; its fields have made names, lest one be taken."""
    from pydantic import ConfigDict, Field, create_model  # noqa: PLC0415 - slow to load
    from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError  # noqa: PLC0415

    fields: dict[str, Any] = {}
    hints = _hints(function)
    for number, (key, parameter) in enumerate(inspect.signature(function).parameters.items()):
        if key == IDEMPOTENCY_KEY or parameter.kind in _NOT_NAMED:
            continue
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            raise _unusable(name, f"its parameter {key!r} cannot be given by name")
        hint = hints.get(key, Any)
        text = _own_text(hint) or texts.get(key)
        fields[f"argument_{number}"] = (
            hint,
            Field(
                default=... if parameter.default is inspect.Parameter.empty else parameter.default,
                alias=key,
                description=text or None,
            ),
        )
    settings = ConfigDict(arbitrary_types_allowed=False, protected_namespaces=())
    try:
        model = create_model(f"{name}_arguments", __config__=settings, **fields)
        model.model_json_schema()
    except (PydanticSchemaGenerationError, PydanticUserError, TypeError) as error:
        raise _unusable(
            name, f"its type hints have no JSON schema: {_first_line(error)}"
        ) from error
    return model


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    target = function.func if isinstance(function, partial) else function
    if not (inspect.isfunction(target) or inspect.ismethod(target)):
        target = target.__call__  # type: ignore[operator] # an object that is called
    try:
        return typing.get_type_hints(target, include_extras=True)
    except (NameError, TypeError) as error:
        raise _unusable(_own_name(function), f"a type hint cannot be read: {error}") from error


def _own_text(hint: Any) -> str:
    """The text of `Annotated[str, "…"]`; pydantic reads its own kinds itself."""
    if typing.get_origin(hint) is not typing.Annotated:
        return ""
    for one in typing.get_args(hint)[1:]:
        said = one if isinstance(one, str) else getattr(one, "description", None)
        if isinstance(said, str):
            return said
    return ""


def _docstring(function: Callable[..., Any]) -> str | None:
    target = function.func if isinstance(function, partial) else function
    if inspect.isfunction(target) or inspect.ismethod(target) or inspect.isbuiltin(target):
        return target.__doc__
    return getattr(type(target).__call__, "__doc__", None) or type(target).__doc__


def _own_name(function: Callable[..., Any]) -> str:
    target = function.func if isinstance(function, partial) else function
    return getattr(target, "__name__", type(target).__name__)


def _is_async(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - an object may have an async __call__
    )


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _unusable(name: str, why: str) -> UsageError:
    return UsageError(
        what=f"the function {name!r} cannot be a tool",
        why=why,
        fix="give its parameters types such as str, int, Literal, an Enum, a dataclass or a "
        "pydantic model",
        code="invalid_tool",
    )


def read_docstring(text: str | None) -> tuple[str, dict[str, str]]:
    """What a docstring says of the whole, and of each parameter."""
    lines = inspect.cleandoc(text or "").splitlines()
    said: list[str] = []
    found: dict[str, list[str]] = {}
    number = 0
    while number < len(lines):
        line = lines[number]
        underlined = number + 1 < len(lines) and bool(_DASHES.match(lines[number + 1]))
        if underlined:
            block, number = _numpy_block(lines, number + 2)
            if line.strip().lower() in ("parameters", "other parameters"):
                found.update(_numpy_entries(block))
        elif _HEADING.match(line):
            block, number = _indented(lines, number + 1)
            found.update(_entries(block))
        elif _OTHER.match(line):
            _, number = _indented(lines, number + 1)
        elif _ANY_FIELD.match(line):
            number = _field(lines, number, found)
        else:
            said.append(line)
            number += 1
    return _joined(said), {name: " ".join(words).strip() for name, words in found.items()}


def _indented(lines: list[str], number: int) -> tuple[list[str], int]:
    """The lines below a heading that stand further in, or are empty between such lines."""
    block: list[str] = []
    while number < len(lines) and (not lines[number].strip() or lines[number][0].isspace()):
        block.append(lines[number])
        number += 1
    return block, number


def _entries(block: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    own: int | None = None
    current: list[str] = []
    for line in block:
        if not line.strip():
            continue
        depth = len(line) - len(line.lstrip())
        own = depth if own is None else own
        entry = _ENTRY.match(line.strip())
        if entry and depth <= own:
            current = found.setdefault(entry[1], [])
            current.append(entry[2])
        else:
            current.append(line.strip())
    return found


def _numpy_block(lines: list[str], number: int) -> tuple[list[str], int]:
    """All lines up to the next underlined heading."""
    block: list[str] = []
    while number < len(lines):
        if number + 1 < len(lines) and _DASHES.match(lines[number + 1]):
            break
        block.append(lines[number])
        number += 1
    return block, number


def _numpy_entries(block: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    current: list[str] = []
    for line in block:
        if line.strip() and not line[0].isspace() and (entry := _NUMPY_ENTRY.match(line)):
            current = found.setdefault(entry[1], [])
        elif line.strip():
            current.append(line.strip())
    return found


def _field(lines: list[str], number: int, found: dict[str, list[str]]) -> int:
    entry = _FIELD.match(lines[number])
    words = [entry[2]] if entry else []
    number += 1
    while (
        number < len(lines) and lines[number][:1].isspace() and not _ANY_FIELD.match(lines[number])
    ):
        words.append(lines[number].strip())
        number += 1
    if entry:
        found[entry[1]] = words
    return number


def _joined(lines: list[str]) -> str:
    """Paragraphs without their line breaks; lists and blocks keep theirs."""
    paragraphs = re.split(r"\n\s*\n", "\n".join(lines).strip())
    kept = []
    for paragraph in paragraphs:
        plain = not re.search(r"^\s*([-*>•]|\d+[.)]|\s{2,}|```)", paragraph, re.MULTILINE)
        kept.append(" ".join(paragraph.split()) if plain else paragraph.rstrip())
    return "\n\n".join(one for one in kept if one)
