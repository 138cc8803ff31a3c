"""Pages of lists: some of many, and where the next one begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T]):
    """Some of many. `next` is where the following page begins; None after the last."""

    items: Sequence[T]
    next: tuple[Any, ...] | None = None
