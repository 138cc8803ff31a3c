"""Requests of Opik's clients: bodies, perhaps compressed but bounded, the workspace and the ingest."""

from __future__ import annotations

import contextlib
import json
import zlib
from typing import Annotated, TypeVar

from fastapi import Depends, Header, Request
from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.exceptions import HTTPException

from burnish.domain import UsageError
from burnish.integrations.opik.ingest import OpikIngest
from burnish.server.http.services import Serving

MAX_UNPACKED_BYTES = 64_000_000
_GZIP = zlib.MAX_WBITS | 16
B = TypeVar("B", bound=BaseModel)
DEFAULT_WORKSPACE, DEFAULT_PROJECT = "default", "Default Project"
Place = Annotated[str, Header(alias="Comet-Workspace", min_length=1, max_length=200)]


class Body(BaseModel):
    """A body; fields that are not known are let be, since newer clients send more."""

    model_config = ConfigDict(extra="ignore")


class Kept(BaseModel):
    """Part of a body that is kept as it was sent, with fields that are not known."""

    model_config = ConfigDict(extra="allow")

    def document(self) -> dict[str, object]:
        """What was sent."""
        return self.model_dump(mode="json", exclude_unset=True)


async def read_body(request: Request, kind: type[B]) -> B:
    """The body as this kind of thing; UsageError when it is not."""
    raw = await request.body()
    if "gzip" in request.headers.get("content-encoding", "").lower():
        raw = unpacked(raw)
    if b"NaN" in raw or b"Infinity" in raw:
        _require_numbers(raw)
    try:
        return kind.model_validate_json(raw)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])[:200] or "the body"
        raise _unusable(f"{where}: {first['msg'][:200]}") from None


def _require_numbers(raw: bytes) -> None:
    """Refuse what pydantic takes for a number and no JSON could give back."""

    def refuse(name: str) -> None:
        raise _unusable(f"{name} is not a JSON number")

    # Other mistakes are told by whoever reads it next.
    with contextlib.suppress(ValueError, RecursionError):
        json.loads(raw, parse_constant=refuse)


def _unusable(why: str) -> UsageError:
    return UsageError(
        what="the request cannot be used",
        why=why,
        fix="send what Opik's own API takes",
        code="invalid_request",
    )


def unpacked(packed: bytes, most: int = MAX_UNPACKED_BYTES) -> bytes:
    """What was compressed, unless it is more than anybody sends."""
    unpacker = zlib.decompressobj(_GZIP)
    try:
        raw = unpacker.decompress(packed, most + 1)
    except zlib.error:
        raise HTTPException(400) from None
    if len(raw) > most:
        raise HTTPException(413, f"it holds more than {most} bytes when it is unpacked")
    if not unpacker.eof:
        raise HTTPException(400)
    return raw


async def _ingest(request: Request, serving: Serving) -> OpikIngest:
    """One for all requests: it keeps their writes apart."""
    state = request.app.state
    found = getattr(state, "opik_ingest", None)
    if found is None or found.workspace is not serving.workspace:
        found = state.opik_ingest = OpikIngest(serving.workspace)
    assert isinstance(found, OpikIngest)
    return found


Ingest = Annotated[OpikIngest, Depends(_ingest)]
