"""Values that need no check any more, as a response."""

from __future__ import annotations

from typing import Any

from pydantic_core import PydanticSerializationError, to_json
from starlette.responses import Response

from burnish.server.schemas.views import sendable


def ready_json(value: Any) -> Response:
    """JSON of plain values; tests hold them to the model that the route names."""
    try:
        text = to_json(value)
    except PydanticSerializationError:
        text = to_json(sendable(value))
    return Response(text, media_type="application/json")
