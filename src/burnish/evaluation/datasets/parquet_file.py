"""Parquet, read in batches through pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

from burnish.domain import UsageError
from burnish.evaluation.datasets.problems import RowProblem
from burnish.evaluation.datasets.rows import RawRow

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
