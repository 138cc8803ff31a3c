"""Where a worker's overrides are: a folder, a Redis server or a bucket."""

from __future__ import annotations

import os
from pathlib import Path

from burnish.app.optimize.runners import place_of
from burnish.app.wiring import STATE_FOLDER

OVERRIDES_VARIABLE = "BURNISH_OVERRIDES"


def overrides_location(folder: Path, given: str | None = None) -> str:
    """The flag, else `BURNISH_OVERRIDES`, else the folder beside the config."""
    named = given or os.environ.get(OVERRIDES_VARIABLE)
    return named or str(folder / STATE_FOLDER / "overrides")


def shown(location: str) -> str:
    """The location for people, without user and password."""
    return place_of(location) if "://" in location else location
