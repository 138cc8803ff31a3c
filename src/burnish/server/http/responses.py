"""Responses: their parent class, and JSON that needs no check any more."""

from __future__ import annotations

import json
import zlib
from typing import Any, Self

from pydantic import BaseModel, model_validator
from pydantic_core import PydanticSerializationError, to_json
from starlette.requests import Request
from starlette.responses import Response

from burnish.server.http.examples import WITH_EXAMPLES

# Below, packing takes longer than sending; and the first level is nearly as small as the last.
_WORTH_PACKING = 50_000
_LEVEL = 1
_GZIP_WINDOW = 31


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
    def read(cls, record: object, **others: Any) -> Self:
        """From a record's attributes of the same names, and others that it has not."""
        names = [name for name in cls.model_fields if name not in others]
        return cls(**{name: getattr(record, name) for name in names}, **others)


def sendable(value: Any) -> Any:
    """The value itself, or where its text cannot be sent, the same with what can."""
    try:
        json.dumps(value, ensure_ascii=False, default=repr).encode()
    except UnicodeEncodeError:
        return _replaced(value)
    return value


def _replaced(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_replaced(key): _replaced(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_replaced(inner) for inner in value]
    return value
