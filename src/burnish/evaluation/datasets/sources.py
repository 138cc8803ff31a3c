"""Sources of dataset rows: something in memory, or a file by its kind."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any, Protocol

from burnish.domain import UsageError, require_json
from burnish.evaluation.datasets.csv_table import read_csv
from burnish.evaluation.datasets.json_files import read_json_document, read_json_lines
from burnish.evaluation.datasets.problems import ProblemKind, RowProblem
from burnish.evaluation.datasets.rows import RawRow, Reader

_BATCH = 256


def read_parquet(path: Path) -> Iterator[RawRow | RowProblem]:
    """Rows in order. Dates become ISO text and decimals numbers; a row of nulls is {}."""
    try:
        from pyarrow import ArrowException  # noqa: PLC0415 - heavy, and optional
        from pyarrow.parquet import ParquetFile  # noqa: PLC0415
    except ImportError as error:
        raise UsageError(
            what=f"{path} cannot be read",
            why="Parquet files need pyarrow, which is not installed",
            fix="pip install 'burnish[parquet]'",
            code="missing_extra",
        ) from error
    try:
        line = 0
        with ParquetFile(path, pre_buffer=False) as file:
            for batch in file.iter_batches(batch_size=_BATCH, use_threads=False):
                for row in batch.to_pylist():
                    line += 1
                    filled = any(cell is not None for cell in row.values())
                    yield RawRow(line, _plain(row) if filled else {})
    except (ArrowException, OSError) as error:
        raise UsageError(
            what=f"{path} cannot be read",
            why=f"it is not a sound Parquet file ({str(error).splitlines()[0]})",
            fix="write it again, or check that it was copied whole",
            code="broken_file",
        ) from error


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, Decimal) and value.is_finite():
        return int(value) if value == value.to_integral_value() else float(value)
    return value


READERS: Mapping[str, Reader] = {
    ".jsonl": read_json_lines,
    ".ndjson": read_json_lines,
    ".json": read_json_document,
    ".csv": read_csv,
    ".tsv": read_csv,
    ".parquet": read_parquet,
}


class RowSource(Protocol):
    """Rows that can be read any number of times, in the same order.

    `unit` says what a row's number counts. `signature` changes when the rows may have.
    """

    label: str
    unit: str

    def read(self) -> Iterator[RawRow | RowProblem]:
        """All rows from the first on."""
        ...

    def signature(self) -> object:
        """Equal as long as the rows are the same."""
        ...


class MemoryRows:
    """Rows that the caller holds. One-shot iterators are drained, since rows are read twice."""

    def __init__(self, rows: Iterable[Any]) -> None:
        if isinstance(rows, (Mapping, bytes)) or hasattr(rows, "to_dict"):
            raise UsageError(
                what="the dataset cannot be used",
                why=f"a {type(rows).__name__} is not a list of rows",
                fix='give a list of objects, such as frame.to_dict("records"), or a path',
                code="invalid_dataset",
            )
        one_shot = iter(rows) is rows
        self._rows = tuple(rows) if one_shot or isinstance(rows, list) else rows
        self.label = "the given rows"
        self.unit = "row"

    def read(self) -> Iterator[RawRow | RowProblem]:
        """Rows as plain JSON values; anything else is a finding."""
        for number, row in enumerate(self._rows, start=1):
            try:
                yield RawRow(number, require_json(row))
            except UsageError as error:
                where = error.what.removeprefix("the value at ").removesuffix(" cannot be stored")
                yield self._refused(number, f"{error.why} (at {where})")
            except RecursionError:
                yield self._refused(number, "lists or objects nest too deeply")

    def signature(self) -> object:
        """The rows are taken as they were given."""
        return None

    def _refused(self, number: int, message: str) -> RowProblem:
        return RowProblem(
            file=self.label,
            line=number,
            column=None,
            kind=ProblemKind.NOT_JSON,
            message=message,
            unit=self.unit,
        )


class FileRows:
    """Rows of a file, read anew each time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._reader = _reader_of(path)
        self.label = str(path)
        self.unit = "row" if path.suffix.lower() == ".parquet" else "line"

    def read(self) -> Iterator[RawRow | RowProblem]:
        """Rows in the file's order."""
        try:
            yield from self._reader(self._path)
        except OSError as error:
            raise _unreadable(self._path, error.strerror or str(error)) from error

    def signature(self) -> object:
        """Size and time of the last change."""
        try:
            status = self._path.stat()
        except FileNotFoundError as error:
            raise _missing(self._path) from error
        except OSError as error:
            raise _unreadable(self._path, error.strerror or str(error)) from error
        if not self._path.is_file():
            raise _unreadable(self._path, "it is not a file")
        return status.st_size, status.st_mtime_ns


def _reader_of(path: Path) -> Reader:
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        if path.is_dir():
            raise _unreadable(path, "it is a folder", "name a file in it")
        raise UsageError(
            what=f"the dataset {path} cannot be read",
            why=f"{path.suffix or 'a name without an ending'} is not a known kind of file",
            fix=f"use one of {', '.join(READERS)}",
            code="unknown_format",
        )
    return reader


def _unreadable(
    path: Path, why: str, fix: str = "check the path and its permissions"
) -> UsageError:
    return UsageError(
        what=f"the dataset {path} cannot be read",
        why=why,
        fix=fix,
        code="unreadable_file",
    )


def _missing(path: Path) -> UsageError:
    folder = path.parent
    if not folder.is_dir():
        why = f"there is no folder {folder}"
        near: list[str] = []
    else:
        why = f"there is no such file in {folder.resolve()}"
        names = {file.name.lower(): file.name for file in folder.iterdir() if file.is_file()}
        found = difflib.get_close_matches(path.name.lower(), names, n=3, cutoff=0.6)
        near = [names[name] for name in found]
    if "://" in str(path) or str(path).startswith(("http:", "https:")):
        why, near = "datasets are read from files, not from addresses", []
    return UsageError(
        what=f"the dataset {path} was not found",
        why=why,
        fix=f"did you mean {' or '.join(near)}?" if near else "check the path",
        code="file_not_found",
    )
