"""Responses: their parent class, and JSON that needs no check any more."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from typing import Any, Generic, Self, TypeVar

from pydantic import BaseModel, model_validator
from pydantic_core import PydanticSerializationError, to_json
from starlette.requests import Request
from starlette.responses import Response

from burnish.domain import pages
from burnish.server.http.examples import WITH_EXAMPLES
from burnish.server.http.requests import encode_cursor

# Below, packing takes longer than sending; and the first level is nearly as small as the last.
_WORTH_PACKING = 50_000
_LEVEL = 1
_GZIP_WINDOW = 31
T = TypeVar("T")
R = TypeVar("R")


def ready_json(value: Any) -> Response:
    """JSON of plain values; tests hold them to the model that the route names."""
    try:
        text = to_json(value)
    except PydanticSerializationError:
        text = to_json(sendable(value))
    return Response(text, media_type="application/json")


def zipped(request: Request, response: Response) -> Response:
    """The response, packed where it is large and the client can unpack it."""
    response.headers["Vary"] = "Accept-Encoding"
    body = bytes(response.body)
    if len(body) < _WORTH_PACKING or not takes_gzip(request.headers.get("accept-encoding", "")):
        return response
    packer = zlib.compressobj(_LEVEL, wbits=_GZIP_WINDOW)
    packed = packer.compress(body) + packer.flush()
    return Response(
        packed,
        media_type="application/json",
        headers={"Content-Encoding": "gzip", "Vary": "Accept-Encoding"},
    )


def takes_gzip(accepted: str) -> bool:
    """Whether an Accept-Encoding names gzip, and not to refuse it."""
    for one in accepted.lower().split(","):
        name, _, weight = one.partition(";")
        if name.strip() == "gzip":
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


class View(BaseModel):
    """A response. Half surrogate pairs, which no JSON over HTTP can hold, are shown as `�`."""

    model_config = WITH_EXAMPLES

    @model_validator(mode="before")
    @classmethod
    def _make_sendable(cls, data: Any) -> Any:
        return sendable(data)

    @classmethod
    def read(cls, *records: object, **others: Any) -> Self:
        """From attributes of the same names, of the first record that has each, and others."""
        for name in cls.model_fields.keys() - others.keys():
            owner = next((one for one in records if hasattr(one, name)), records[0])
            others[name] = getattr(owner, name)
        return cls(**others)


class Page(BaseModel, Generic[T]):
    """Some of many; `next_cursor` is None on the last page."""

    items: list[T]
    next_cursor: str | None

    @classmethod
    def of(cls, page: pages.Page[R], view: Callable[[R], T], order: str) -> Self:
        """From what was read, in the order that its cursor names."""
        items = [view(one) for one in page.items]
        return cls(items=items, next_cursor=encode_cursor(order, page.next))


def sendable(value: Any) -> Any:
    """The value itself, or where its text cannot be sent, the same with what can."""
    try:
        json.dumps(value, ensure_ascii=False, default=_plain).encode()
    except UnicodeEncodeError:
        return _replaced(value)
    return value


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else repr(value)


def _replaced(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, Mapping):
        return {_replaced(key): _replaced(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_replaced(inner) for inner in value]
    return value
