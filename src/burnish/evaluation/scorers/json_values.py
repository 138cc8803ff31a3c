"""JSON values that an output holds, and validators of JSON schemas."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from burnish.domain import AgentOutput, Json, UsageError, require_json

_FENCE = re.compile(r"\A```[A-Za-z0-9_-]*[ \t]*\r?\n(.*?)\r?\n?[ \t]*```\Z", re.DOTALL)
_REPAIRABLE = ("{", "[")


class NotJsonError(ValueError):
    """A text that is no JSON; the message says where it goes wrong."""


def json_of(output: AgentOutput, *, repair: bool = False) -> Json:
    """The output's data where the agent gave some, else its text parsed."""
    return output.data if output.data is not None else parse_json(output.text, repair=repair)


def parse_json(text: str, *, repair: bool = False) -> Json:
    """JSON from a text that is nothing else, or one fenced block of it.

    Strict first. With `repair`, text that starts as an object or a list is mended; JSON somewhere
    inside of prose is never picked out, because it may be a quotation.
    """
    body = unfenced(text)
    try:
        return _strict(body)
    except NotJsonError:
        if not repair or not body.startswith(_REPAIRABLE):
            raise
        return _repaired(body)


def unfenced(text: str) -> str:
    """The text without the ``` fence around all of it, if there is one."""
    text = text.strip().removeprefix("\ufeff")
    fence = _FENCE.match(text)
    return fence.group(1).strip() if fence else text


def _strict(text: str) -> Json:
    if not text:
        raise NotJsonError("the text is empty")
    try:
        return json.loads(text, parse_constant=_refuse)  # type: ignore[no-any-return]
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise NotJsonError(f"{error.msg} at {place}") from error
    except RecursionError as error:
        raise NotJsonError("it is nested too deeply") from error
    except ValueError as error:
        raise NotJsonError(str(error)) from error


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")


def _refuse_several(text: str) -> None:
    """Of several values the library would keep the last one, and that may be a quotation."""
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return
    if any(opening in text[end:] for opening in _REPAIRABLE):
        raise NotJsonError("there is more than one JSON value")


def _repaired(text: str) -> Json:
    import json_repair  # noqa: PLC0415 - slow to import, and only few outputs need it

    _refuse_several(text)
    try:
        value: Any = json_repair.loads(text)
        mended = require_json(value)
    except (UsageError, ValueError, RecursionError) as error:
        raise NotJsonError("it cannot be repaired") from error
    if not isinstance(mended, (dict, list)):
        raise NotJsonError("it cannot be repaired")
    return mended


def load_schema(schema: Mapping[str, Any] | str | Path) -> Mapping[str, Any]:
    """The schema itself, from a mapping or a JSON file."""
    if isinstance(schema, Mapping):
        return dict(schema)
    path = Path(schema)
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        why = f"{path} cannot be read: {error.strerror or error}"
        raise _bad(why, "name a JSON file that holds the schema", "missing_file") from error
    except json.JSONDecodeError as error:
        why = f"{path} is not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        raise _bad(why, "correct the file") from error
    except ValueError as error:
        raise _bad(f"{path} is not JSON: {error}", "correct the file") from error
    if not isinstance(value, dict):
        raise _bad(f"{path} holds a {type(value).__name__}, not an object", "correct the file")
    return value


def schema_validator(schema: Mapping[str, Any]) -> Any:
    """A validator of the draft that the schema names, or of 2020-12."""
    from jsonschema import SchemaError  # noqa: PLC0415 - slow to import
    from jsonschema.validators import Draft202012Validator, validator_for  # noqa: PLC0415
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]  # noqa: PLC0415

    require_json(schema, where="$.schema")
    kind = validator_for(schema, default=Draft202012Validator)
    try:
        kind.check_schema(schema)
    except SchemaError as error:
        why = f"it is not a JSON schema: {error.json_path}: {error.message[:300]}"
        raise _bad(why, "correct the schema") from error
    _check_references(schema)
    # With a registry of its own, the library never opens an address that a `$ref` names.
    return kind(schema, registry=REGISTRY)


def _check_references(schema: Mapping[str, Any]) -> None:
    from jsonschema_specifications import REGISTRY  # noqa: PLC0415
    from referencing import Resource  # noqa: PLC0415
    from referencing.exceptions import Unresolvable  # noqa: PLC0415
    from referencing.jsonschema import DRAFT202012  # noqa: PLC0415

    if any("$id" in part for part in _parts(schema)):
        return  # References may be relative to it; a broken one shows when it is followed.
    root = Resource.from_contents(schema, default_specification=DRAFT202012)
    resolver = REGISTRY.with_resource("", root).resolver()
    for part in _parts(schema):
        reference = part.get("$ref")
        if not isinstance(reference, str):
            continue
        try:
            resolver.lookup(reference)
        except Unresolvable as error:
            why = f"the reference {reference!r} leads nowhere"
            fix = "put what it refers to into the schema's own $defs: nothing is fetched"
            raise _bad(why, fix) from error


def _parts(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        yield value
        for inner in value.values():
            yield from _parts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _parts(inner)


def _bad(why: str, fix: str, code: str = "invalid_scorer") -> UsageError:
    what = "the setting 'schema' of the scorer 'json_schema' cannot be used"
    return UsageError(what=what, why=why, fix=fix, code=code)
