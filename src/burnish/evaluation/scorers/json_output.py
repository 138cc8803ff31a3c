"""The JSON that an output holds."""

from __future__ import annotations

import json
import re
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
