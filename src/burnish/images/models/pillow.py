"""Pillow comes with an extra; whoever needs it asks here first."""

from __future__ import annotations

from importlib.util import find_spec

from burnish.domain import UsageError


def require_pillow(who: str) -> None:
    """Refuse in words where Pillow is not installed."""
    if find_spec("PIL") is None:
        raise UsageError(
            what=f"{who} cannot be used",
            why="it works with Pillow, which is not installed",
            fix="pip install 'burnish[images]'",
            code="missing_extra",
        )
