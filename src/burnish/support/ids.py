"""Ids of stored things: UUIDs of version 7, which sort by when they were made."""

from __future__ import annotations

import secrets
import threading
import time
from uuid import UUID

_lock = threading.Lock()
_last_tick = 0


def new_id() -> str:
    """An id that sorts after every one that this process made before."""
    global _last_tick  # noqa: PLW0603 - what makes two ids of one moment differ in order
    with _lock:
        # Of a millisecond the 4096th parts, as RFC 9562 allows in the twelve bits after the time.
        tick = _last_tick = max(time.time_ns() * 4096 // 1_000_000, _last_tick + 1)
    time_and_version = (tick >> 12) << 16 | 7 << 12 | tick & 0xFFF
    return str(UUID(int=time_and_version << 64 | 2 << 62 | secrets.randbits(62)))
