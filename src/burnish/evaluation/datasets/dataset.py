"""Dataset: a re-iterable stream of items."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from burnish.domain import ConflictError, Item, UsageError
from burnish.evaluation.datasets.index import DatasetIndex, build_index
from burnish.evaluation.datasets.pictures import PictureFolder, PictureRows
from burnish.evaluation.datasets.problems import empty_dataset, unusable_rows
from burnish.evaluation.datasets.rows import RawRow, take_apart
from burnish.evaluation.datasets.sources import FileRows, MemoryRows, RowSource

# How many rows are handed out between two looks at whether the file has changed.
_LOOK_EVERY = 256


class Dataset:
    """Rows as items, streamed from their source on every pass.

    An item's id is the row's `id` (text or integer), else the first 16 digits of its content's
    hash. `id` and `split` are not part of an item's data: see `Row` for the whole rule. The index
    is made once and again when the file's size or time changes; a file that changes while it is
    read is a ConflictError.
    """

    def __init__(self, source: RowSource, *, name: str) -> None:
        self.name = name
        self._source = source
        self._index: DatasetIndex | None = None
        self._indexed: object = None

    @classmethod
    def of(
        cls,
        source: Iterable[Any] | str | os.PathLike[str] | Dataset,
        *,
        name: str | None = None,
    ) -> Dataset:
        """From rows, from a path (.jsonl, .ndjson, .json, .csv, .parquet) or from a dataset."""
        if isinstance(source, Dataset):
            return source if name in (None, source.name) else source.renamed(str(name))
        if isinstance(source, (str, os.PathLike)):
            path = Path(source).expanduser()
            return cls(FileRows(path), name=name or path.stem)
        return cls(MemoryRows(source), name=name or "dataset")

    def with_pictures(self, pictures: PictureFolder) -> Dataset:
        """The same rows, with the content of their pictures as a part of each."""
        return Dataset(PictureRows(self._source, pictures), name=self.name)

    def renamed(self, name: str) -> Dataset:
        """The same rows under another name."""
        other = Dataset(self._source, name=name)
        other._index, other._indexed = self._index, self._indexed
        return other

    def inspect(self) -> DatasetIndex:
        """The index with all findings, fatal ones too: nothing is raised for bad rows."""
        signature = self._source.signature()
        if self._index is None or self._indexed != signature:
            index = build_index(self._source)
            self._require_unchanged(signature)
            self._index, self._indexed = index, signature
        return self._index

    def index(self) -> DatasetIndex:
        """The index of a dataset that can be used; UsageError when rows are bad or missing."""
        index = self.inspect()
        if index.problems:
            raise unusable_rows(index.source, index.problems, index.counts)
        if not index.count:
            raise empty_dataset(index.source, len(index.skipped))
        return index

    def items(self) -> Iterator[Item]:
        """All items in the rows' order, checked by the index first."""
        index = self.index()
        signature = self._indexed
        position = 0
        for row in self._source.read():
            if not isinstance(row, RawRow) or row.line in index.skipped:
                continue
            if position == index.count:
                position += 1
                break
            if position % _LOOK_EVERY == 0:
                self._require_unchanged(signature)
            yield _item(index, position, row)
            position += 1
        self._require_unchanged(signature)
        if position != index.count:
            raise UsageError(
                what=f"{index.source} cannot be used as a dataset",
                why="a second pass gave another number of rows than the first",
                fix="give rows that are the same on every pass, such as a list",
                code="dataset_changed",
            )

    def _require_unchanged(self, signature: object) -> None:
        if self._source.signature() != signature:
            raise ConflictError(
                what=f"{self._source.label} changed while it was read",
                why="its size or time is not what it was at the start",
                fix="start again once nothing writes to it",
                code="dataset_changed",
            )


def _item(index: DatasetIndex, position: int, row: RawRow) -> Item:
    parts = take_apart(row.value)
    item = Item(id=index.ids[position], data=parts.data, split=parts.split)
    # Hashing is the slowest part of a pass, and the index has done it already.
    vars(item)["hash"] = index.item_hash(position)
    return item
