"""Stored datasets as pages show them, and where regression cases came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from burnish.domain.items import Item


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetRow:
    """One row. `origin` tells which run a regression case came from; others have none."""

    position: int
    item: Item
    origin: Mapping[str, Any] | None = None
