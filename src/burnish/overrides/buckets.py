"""Opens a bucket by its address."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from burnish.domain import UsageError
from burnish.overrides.object_failures import first_line

if TYPE_CHECKING:
    from obstore.store import ObjectStore


def open_bucket(url: str, settings: Mapping[str, Any]) -> ObjectStore:
    """An object store for an address; nothing is connected yet."""
    try:
        from obstore.exceptions import BaseError  # noqa: PLC0415 - an extra
        from obstore.store import from_url  # noqa: PLC0415
    except ImportError:
        raise UsageError(
            what="overrides cannot be kept in an object store",
            why="the package obstore is not installed",
            fix="install burnish[objectstore]",
            code="missing_dependency",
        ) from None
    plain = str(settings.get("endpoint", "")).startswith("http://")
    given = {
        # Burnish tries again itself, by a clock and a deadline that it knows.
        "retry_config": {"max_retries": 0, "retry_timeout": timedelta(seconds=1)},
        **settings,
        "client_options": {"allow_http": plain, **settings.get("client_options", {})},
    }
    try:
        opened: ObjectStore = from_url(url, **given)
    except (BaseError, ValueError, TypeError) as error:
        raise UsageError(
            what="overrides cannot be kept in the object store",
            why=f"its address or a setting cannot be understood ({first_line(error)})",
            fix="write the address like s3://bucket/folder, and settings as obstore names them",
            code="invalid_address",
        ) from None
    return opened
