"""Row problems: what is wrong with rows, where it stands, and the one error that says so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from burnish.domain import UsageError
from burnish.domain.wording import counted

_LISTED = 10
_KEPT = 100


class ProblemKind(StrEnum):
    """What can be wrong with a row. Only some kinds make the dataset unusable."""

    BROKEN_JSON = "broken_json"
    NOT_UTF8 = "not_utf8"
    NOT_OBJECT = "not_object"
    NOT_JSON = "not_json"
    WRONG_CELLS = "wrong_cells"
    BAD_HEADER = "bad_header"
    BAD_ID = "bad_id"
    DUPLICATE_ID = "duplicate_id"
    WRONG_SHAPE = "wrong_shape"
    BAD_PICTURE = "bad_picture"
    EMPTY_ROW = "empty_row"
    DUPLICATE_ROW = "duplicate_row"
    SAME_CONTENT = "same_content"
    DUPLICATE_KEY = "duplicate_key"
    UNNAMED_COLUMN = "unnamed_column"

    @property
    def fatal(self) -> bool:
        """Whether a dataset with such a row is refused; otherwise the row is only reported."""
        return self not in _WARNINGS


_WARNINGS = frozenset(
    {
        ProblemKind.EMPTY_ROW,
        ProblemKind.DUPLICATE_ROW,
        ProblemKind.SAME_CONTENT,
        ProblemKind.DUPLICATE_KEY,
        ProblemKind.UNNAMED_COLUMN,
    }
)

_FIXES: Mapping[ProblemKind, str] = {
    ProblemKind.BROKEN_JSON: "correct it there; .jsonl is one object a line, .json one list",
    ProblemKind.NOT_UTF8: "save the file as UTF-8",
    ProblemKind.NOT_OBJECT: 'make each row an object such as {"text": "…", "label": "…"}',
    ProblemKind.NOT_JSON: "use text, finite numbers, true, false, null, lists and objects",
    ProblemKind.WRONG_CELLS: "quote cells that hold commas, quotes or line breaks",
    ProblemKind.BAD_HEADER: "give each column a name of its own in the first line",
    ProblemKind.BAD_ID: "use a short text or an integer as id, or leave it out",
    ProblemKind.DUPLICATE_ID: "give each row its own id, or leave ids out",
    ProblemKind.WRONG_SHAPE: "correct it there, or say what the file is with --from",
    ProblemKind.BAD_PICTURE: "name a PNG, JPEG, GIF or WebP file in the dataset's folder or below",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RowProblem:
    """One finding. `line` counts from 1: lines of text files, rows of lists and Parquet files."""

    file: str
    line: int
    column: int | None
    kind: ProblemKind
    message: str
    unit: str = "line"

    @classmethod
    def at(
        cls, path: Path, line: int, column: int | None, kind: ProblemKind, message: str
    ) -> RowProblem:
        """A finding in a text file."""
        return cls(file=str(path), line=line, column=column, kind=kind, message=message)

    @property
    def fatal(self) -> bool:
        """Whether the dataset cannot be used because of it."""
        return self.kind.fatal

    @property
    def place(self) -> str:
        """Line and column in words."""
        column = f", column {self.column}" if self.column is not None else ""
        return f"{self.unit} {self.line}{column}"

    def __str__(self) -> str:
        return f"{self.file}, {self.place}: {self.message}"


class ProblemLog:
    """Counts every finding and keeps the first ones, so a file of rubbish fits in memory."""

    def __init__(self) -> None:
        self.counts: Counter[ProblemKind] = Counter()
        self.problems: list[RowProblem] = []
        self.warnings: list[RowProblem] = []

    def add(self, problem: RowProblem) -> None:
        """Count it, and keep it if it is among the first."""
        self.counts[problem.kind] += 1
        kept = self.problems if problem.fatal else self.warnings
        if len(kept) < _KEPT:
            kept.append(problem)


def unusable_rows(
    source: str, problems: Sequence[RowProblem], counts: Mapping[ProblemKind, int]
) -> UsageError:
    """The error for a dataset with fatal problems: the first ones named, all of them counted."""
    first, *others = problems[:_LISTED]
    total = sum(count for kind, count in counts.items() if kind.fatal)
    why = str(first)
    if others:
        listed = "; ".join(f"{problem.place}: {problem.message}" for problem in others)
        unlisted = total - len(others) - 1
        why += f"; also {listed}" + (f"; and {unlisted} more" if unlisted else "")
    duplicates_only = counts.get(ProblemKind.DUPLICATE_ID, 0) == total
    return UsageError(
        what=f"{counted(total, 'row')} of {source} cannot be used",
        why=why,
        fix=_FIXES[first.kind],
        code="duplicate_id" if duplicates_only else "broken_row",
    )


def empty_dataset(source: str, skipped: int) -> UsageError:
    """The error for a dataset without a single usable row."""
    why = f"it has no row but {counted(skipped, 'empty one')}" if skipped else "it has no rows"
    return UsageError(
        what=f"the dataset {source} is empty",
        why=why,
        fix="add rows, or name another file",
        code="empty_dataset",
    )
