"""promptfoo's test cases in a table: columns are variables, those with two underscores are special."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from burnish.evaluation.datasets.csv_table import read_csv
from burnish.evaluation.datasets.problems import RowProblem
from burnish.integrations.imports.files import refuse_rows
from burnish.integrations.imports.project import Findings
from burnish.integrations.imports.promptfoo_asserts import expected_text

_EXPECTED = re.compile(r"__expected(\d*)\Z")
_CONFIG = re.compile(r"__config:__expected(\d*):(threshold)\Z")
_METADATA = "__metadata:"
_UNESCAPED_COMMA = re.compile(r"(?<!\\),")


def csv_tests(path: Path, findings: Findings) -> list[tuple[str, dict[str, Any]]]:
    """Each row as a test case, with the line where it stands."""
    problems: list[RowProblem] = []
    tests: list[tuple[str, dict[str, Any]]] = []
    for row in read_csv(path):
        if isinstance(row, RowProblem):
            problems.append(row)
        elif row.value:
            tests.append(
                (f"{path.name}, line {row.line}", _test(row.value, row.line, findings, path))
            )
    refuse_rows(path, problems)
    return tests


def is_special(column: str) -> bool:
    """Whether promptfoo gives the column a meaning of its own."""
    return column.startswith("__")


def _test(row: Mapping[str, str], line: int, findings: Findings, path: Path) -> dict[str, Any]:
    place = f"{path.name}, line {line}"
    test: dict[str, Any] = {"vars": {k: v for k, v in row.items() if not is_special(k)}}
    asserts: dict[str, dict[str, Any]] = {}
    for column, cell in row.items():
        expected = _EXPECTED.match(column)
        if not is_special(column) or not cell.strip():
            continue
        if expected is not None:
            asserts[expected.group(1) or "1"] = expected_text(cell)
        elif column == "__description":
            test["description"] = cell
        elif column == "__threshold":
            test["threshold"] = _number(cell, place, column, findings)
        elif column.startswith(_METADATA):
            name = column.removeprefix(_METADATA)
            parts = [part.strip().replace("\\,", ",") for part in _UNESCAPED_COMMA.split(cell)]
            metadata = test.setdefault("metadata", {})
            metadata[name.removesuffix("[]")] = parts if name.endswith("[]") else cell
        elif column != "__metric" and _CONFIG.match(column) is None:
            findings.leave(path.name, f"the column {column}", "nothing here stands for it")
    _complete(row, asserts, place, findings)
    if asserts:
        test["assert"] = list(asserts.values())
    return test


def _complete(
    row: Mapping[str, str], asserts: dict[str, dict[str, Any]], place: str, findings: Findings
) -> None:
    """What stands in columns of its own for asserts of the row."""
    metric = row.get("__metric", "").strip()
    if metric:
        for one in asserts.values():
            one["metric"] = metric
    for column, cell in row.items():
        config = _CONFIG.match(column)
        if config is not None and cell.strip() and (config.group(1) or "1") in asserts:
            number = _number(cell, place, column, findings)
            asserts[config.group(1) or "1"][config.group(2)] = number


def _number(cell: str, place: str, column: str, findings: Findings) -> float | None:
    try:
        return float(cell)
    except ValueError:
        findings.leave(place, f"{column} {cell[:40]!r}", "it is not a number")
        return None
