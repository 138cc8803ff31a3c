"""Failpoints around each write, where a test may end the process. Only tests set `on_reach`."""

from __future__ import annotations

from collections.abc import Callable

on_reach: Callable[[str], None] | None = None


def reach(work: Callable[..., object], when: str) -> None:
    """Pass the place before or after a write, named after the method that writes."""
    if on_reach is not None:
        method = getattr(work, "__qualname__", repr(work)).split(".<locals>")[0]
        on_reach(f"{method}:{when}")
