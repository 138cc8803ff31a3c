"""Request parts that many routes take: parameters, cursors, names, bounded JSON, streamed bodies."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Annotated, Any, TypeVar

from fastapi import Path, Query, Request
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from starlette.requests import ClientDisconnect

from burnish.domain import UsageError
from burnish.server.http import examples
from burnish.support.names import NAME_PATTERN

Person = Annotated[str, Field(min_length=1, max_length=200, examples=["ada"])]
Note = Annotated[str, Field(max_length=2000)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
NewName = Annotated[str, Field(pattern=NAME_PATTERN, examples=["support-router"])]
VersionNumber = Annotated[int, Field(ge=1, lt=2**31)]
ExpectedVersion = Annotated[
    int | None,
    Field(
        ge=0,
        lt=2**31,
        description="The active version that you have seen (0: none). 409 when it is another by "
        "now.",
    ),
]
T = TypeVar("T", dict[str, Any], list[Any])
_DEEPEST = 20
_LONGEST = 2000
OptimizationId = Annotated[
    str, Path(min_length=1, max_length=100, examples=[examples.OPTIMIZATION_ID])
]
CandidateId = Annotated[str, Path(min_length=1, max_length=100, examples=[examples.CANDIDATE_ID])]
Limit = Annotated[int, Query(ge=1, le=500, description="How many at most.")]
Cursor = Annotated[
    str | None,
    Query(max_length=2000, description="`next_cursor` of the page before, with the same sort."),
]


class Strict(BaseModel):
    """A request: unknown fields are mistakes, and values are what they are."""

    model_config = ConfigDict(
        extra="forbid", strict=True, allow_inf_nan=False, json_schema_extra=examples.add_examples
    )


def require_shallow(value: T) -> T:
    """The value itself, unless it is nested so deep that reading it would not end well."""
    level: list[Any] = [value]
    for _ in range(_DEEPEST):
        level = [inner for one in level for inner in _inside(one)]
        if not level:
            return value
    raise ValueError(f"it is nested more than {_DEEPEST} deep")


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


JsonObject = Annotated[dict[str, Any], AfterValidator(require_shallow)]


def encode_cursor(order: str, place: Sequence[Any] | None) -> str | None:
    """The cursor of a place in a list that is sorted so."""
    if place is None:
        return None
    text = json.dumps([order, *place], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode_cursor(order: str, cursor: str | None) -> list[Any] | None:
    """The place that a cursor stands for, in a list that is sorted so."""
    if cursor is None:
        return None
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        text = base64.b64decode(padded.encode("ascii"), altchars=b"-_", validate=True)
        value = json.loads(text)
    except (ValueError, UnicodeError, binascii.Error, RecursionError):
        raise _bad("it is not a cursor") from None
    if not isinstance(value, list) or not value or len(cursor) > _LONGEST:
        raise _bad("it is not a cursor")
    if value[0] != order:
        raise _bad("it belongs to a list that is sorted otherwise")
    return value[1:]


def decode_place(order: str, cursor: str | None, *types: type) -> list[Any] | None:
    """The place of a cursor, of which each value must have its type."""
    place = decode_cursor(order, cursor)
    if place is None or [type(one) for one in place] == list(types):
        return place
    raise other_list()


def other_list() -> UsageError:
    """The cursor is of another list than this one."""
    return _bad("it belongs to another list", "")


def _bad(why: str, beside: str = ", with the same filters and sort") -> UsageError:
    return UsageError(
        what="the cursor cannot be used",
        why=why,
        fix=f"take `next_cursor` from the page before{beside}",
        code="invalid_cursor",
    )


async def parts_of(request: Request) -> AsyncIterator[bytes]:
    """The body in parts. A client that goes away in the middle has sent nothing."""
    try:
        async for part in request.stream():
            yield part
    except ClientDisconnect:
        raise UsageError(
            what="the upload was given up",
            why="the client went away in the middle of it, and nothing was stored",
            fix="send all of it again",
            code="upload_broken_off",
        ) from None
