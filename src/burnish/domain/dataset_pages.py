"""Stored datasets as pages show them, and where regression cases came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from burnish.domain.items import Item
from burnish.domain.read_models import Page
from burnish.domain.repositories import DatasetRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetRow:
    """One row. `origin` tells which run a regression case came from; others have none."""

    position: int
    item: Item
    origin: Mapping[str, Any] | None = None


class DatasetPages(Protocol):
    """Reads parts of datasets, in time that grows with the part and not with the whole."""

    async def datasets(
        self,
        *,
        name: str | None = None,
        text: str | None = None,
        limit: int = 50,
        after: Sequence[Any] | None = None,
    ) -> Page[DatasetRecord]:
        """The newest first; with `text`, those that have it in their name."""
        ...

    async def rows(
        self,
        dataset_id: str,
        *,
        text: str | None = None,
        limit: int = 50,
        after: Sequence[Any] | None = None,
    ) -> Page[DatasetRow]:
        """In order; UsageError `not_found` when there is no such dataset.

        With `text`, those that have it in their id or anywhere in their JSON, in any case.
        """
        ...

    async def find_rows(self, dataset_id: str, item_ids: Sequence[str]) -> dict[str, DatasetRow]:
        """Rows by item id; those that are not there are left out."""
        ...

    async def matching(self, dataset_id: str, text: str) -> set[str]:
        """The ids of all rows that have a text, as `rows` looks for it."""
        ...

    async def origins(self, dataset_id: str) -> dict[str, Mapping[str, Any]]:
        """Where rows came from, by item id."""
        ...

    async def add_origins(self, dataset_id: str, origins: Mapping[str, Mapping[str, Any]]) -> None:
        """Note where rows came from; what is noted already stays."""
        ...
