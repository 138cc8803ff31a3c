"""Kinds of foreign files: which tool a file is of, and what reads it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Any

from burnish.domain import UsageError
from burnish.evaluation.datasets.rows import RawRow
from burnish.evaluation.datasets.sources import FileRows
from burnish.integrations.imports.files import YAML, read_document
from burnish.integrations.imports.project import ForeignProject
from burnish.integrations.imports.promptfoo.cases import is_special
from burnish.integrations.imports.promptfoo.config import CONFIG_KEYS, read_promptfoo
from burnish.integrations.imports.samples import read_inspect, read_openai_evals

_LOOKED_AT = 20
_NAMED = 8
# What stands in a clone for a large file that Git LFS has not fetched.
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_DATA = (".jsonl", ".ndjson", ".json", ".csv")


class Kind(StrEnum):
    """The tools whose files can be read."""

    PROMPTFOO = "promptfoo"
    INSPECT = "inspect"
    OPENAI_EVALS = "openai-evals"


_READERS: Mapping[Kind, Callable[[Path], ForeignProject]] = {
    Kind.PROMPTFOO: read_promptfoo,
    Kind.INSPECT: read_inspect,
    Kind.OPENAI_EVALS: read_openai_evals,
}


def read_foreign(path: Path, kind: Kind) -> ForeignProject:
    """All that the file holds; UsageError when it cannot be used."""
    _require_file(path)
    if kind is not Kind.PROMPTFOO and path.suffix.lower() not in _DATA:
        raise _unknown(path, f"{path.suffix or 'a name without an ending'} holds no samples")
    return _READERS[kind](path)


def guess_kind(path: Path) -> Kind:
    """The tool that a file is of, by its content; UsageError when that does not show."""
    _require_file(path)
    suffix = path.suffix.lower()
    if suffix in YAML:
        return Kind.PROMPTFOO
    if suffix not in _DATA:
        raise _unknown(path, f"{suffix or 'a name without an ending'} is not a known kind of file")
    if suffix == ".json":
        document = read_document(path)
        if isinstance(document, Mapping) and any(key in document for key in CONFIG_KEYS):
            return Kind.PROMPTFOO
    rows = [row.value for row in islice(FileRows(path).read(), _LOOKED_AT) if type(row) is RawRow]
    for row in rows:
        found = _of_row(row)
        if found is not None:
            return found
    raise _unknown(path, _why_no_shape(rows))


def _why_no_shape(rows: list[Any]) -> str:
    first = next((row for row in rows if isinstance(row, Mapping) and row), {})
    names = ", ".join(str(name)[:40] for name in list(first)[:_NAMED])
    has = f"its rows have {names}" if names else "it has no rows that are objects"
    return (
        f"{has}; Inspect's have input and target, those of OpenAI's evals input and ideal, "
        "promptfoo's vars, assert or columns such as __expected"
    )


def _of_row(row: Any) -> Kind | None:
    if not isinstance(row, Mapping):
        return None
    if "ideal" in row and "input" in row:
        return Kind.OPENAI_EVALS
    if any(is_special(str(key)) for key in row) or "vars" in row or "assert" in row:
        return Kind.PROMPTFOO
    return Kind.INSPECT if "input" in row else None


def _require_file(path: Path) -> None:
    try:
        there = path.is_file()
    except (OSError, ValueError):
        there = False
    if not there:
        raise UsageError(
            what=f"{path} cannot be imported",
            why="there is no such file",
            fix="check the path",
            code="file_not_found",
        )
    if _is_pointer(path):
        raise UsageError(
            what=f"{path} cannot be imported",
            why="it is a pointer of Git LFS, not the file itself",
            fix=f"fetch it where you cloned it: git lfs pull --include {path.name}",
            code="lfs_pointer",
        )


def _is_pointer(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_LFS_POINTER)) == _LFS_POINTER
    except OSError:
        return False  # Whoever reads it next says why it cannot be read.


def _unknown(path: Path, why: str) -> UsageError:
    return UsageError(
        what=f"{path} cannot be imported",
        why=why,
        fix=f"rename its columns, or say what it is with --from {'|'.join(Kind)}; "
        "a dataset of your own needs no import",
        code="unknown_format",
    )
