"""Where a worker's overrides are: a folder, a Redis server or a bucket."""

from __future__ import annotations

import os
from pathlib import Path

from burnish.app.optimize.runners import place_of
from burnish.app.wiring import STATE_FOLDER
from burnish.overrides import (
    LocalPromptOverridesStore,
    PromptOverridesStore,
    RedisPromptOverridesStore,
    S3PromptOverridesStore,
)

OVERRIDES_VARIABLE = "BURNISH_OVERRIDES"
_REDIS = ("redis", "rediss", "unix")


def overrides_location(folder: Path, given: str | None = None) -> str:
    """The flag, else `BURNISH_OVERRIDES`, else the folder beside the config."""
    named = given or os.environ.get(OVERRIDES_VARIABLE)
    return named or str(folder / STATE_FOLDER / "overrides")


def open_overrides(location: str) -> PromptOverridesStore:
    """The store at a path or URL; the caller closes it."""
    scheme, separator, _ = location.partition("://")
    if not separator:
        return LocalPromptOverridesStore(Path(location).expanduser())
    if scheme in _REDIS:
        return RedisPromptOverridesStore.from_url(location)
    return S3PromptOverridesStore.from_url(location)


def shown(location: str) -> str:
    """The location for people, without user and password."""
    return place_of(location) if "://" in location else location
