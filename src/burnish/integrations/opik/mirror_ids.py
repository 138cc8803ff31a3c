"""Ids that an Opik server takes: version 7, and the same however often a thing is sent."""

from __future__ import annotations

import hashlib
import uuid
from datetime import datetime

_VERSION = 7


def made_id(kind: str, *parts: str, milliseconds: int) -> str:
    """The id of a thing of ours. Things sort by the milliseconds, which are not exact for all."""
    digest = hashlib.sha256("\x1f".join((kind, *parts)).encode("utf-8", "surrogatepass")).digest()
    value = (milliseconds & (2**48 - 1)) << 80 | int.from_bytes(digest[:10], "big")
    value = value & ~(0xF << 76) | _VERSION << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return str(uuid.UUID(int=value))


def usable_id(identity: str, kind: str, *, milliseconds: int) -> str:
    """Our own id where a server takes it, else one made from it."""
    try:
        own = uuid.UUID(identity)
    except ValueError:
        return made_id(kind, identity, milliseconds=milliseconds)
    if own.version == _VERSION and str(own) == identity:
        return identity
    return made_id(kind, identity, milliseconds=milliseconds)


def milliseconds_of(stamp: str) -> int:
    """Of a time as it is stored."""
    return int(datetime.fromisoformat(stamp).timestamp() * 1000)
