"""Values that need no check any more, as a response."""

from __future__ import annotations

import zlib
from typing import Any

from pydantic_core import PydanticSerializationError, to_json
from starlette.requests import Request
from starlette.responses import Response

from burnish.server.http.views import sendable

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
