"""Redis client by address, for whoever keeps or sends something over Redis or Valkey."""

from __future__ import annotations

from typing import TYPE_CHECKING

from burnish.domain import UsageError

if TYPE_CHECKING:
    from redis.asyncio import Redis


def open_client(url: str, *, what: str) -> Redis:
    """A client for an address; nothing is connected yet. `what` begins the error if there is one."""
    try:
        from redis.asyncio import Redis  # noqa: PLC0415 - an extra
    except ImportError:
        raise UsageError(
            what=what,
            why="the package redis is not installed",
            fix="install burnish[redis]",
            code="missing_dependency",
        ) from None
    try:
        return Redis.from_url(url)
    except ValueError:
        # The address may hold a password, so it is not shown.
        raise UsageError(
            what=what,
            why="the address cannot be understood",
            fix="write it like redis://127.0.0.1:6379/0",
            code="invalid_address",
        ) from None
