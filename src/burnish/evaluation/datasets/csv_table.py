"""CSV datasets: a line of column names, then rows of text."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from burnish.domain.wording import counted
from burnish.evaluation.datasets.problems import ProblemKind, RowProblem
from burnish.evaluation.datasets.rows import RawRow

# Python's own bound is 131,072: fewer than a page of logs or a contract has.
LONGEST_CELL = 64_000_000


def read_csv(path: Path) -> Iterator[RawRow | RowProblem]:
    """Rows in order, all cells as text. A row of empty cells is {}.

    Cells are parted by tabs in a file that ends in .tsv, else by commas; by semicolons or tabs where
    the header has no comma. Quoting is checked strictly: otherwise an open quote would swallow the rest
    of the file without a word.
    """
    with path.open("rb") as file:
        lines = _DecodedLines(path, file)
        records = _records(path, lines)
        header: _Header | None = None
        for record in records:
            yield from lines.take_findings()
            if isinstance(record, RowProblem):
                yield record
                continue
            line, cells = record
            if header is None:
                header = _Header(path, cells)
                yield from header.findings
                if any(finding.fatal for finding in header.findings):
                    return
            elif not any(cells):
                yield RawRow(line, {})
            else:
                yield header.row(line, cells)


class _DecodedLines:
    """The file's lines as text; what is not UTF-8 is a finding, and reading goes on."""

    def __init__(self, path: Path, lines: Iterator[bytes]) -> None:
        self.count = 0
        self._path = path
        self._lines = lines
        self._findings: list[RowProblem] = []

    def __iter__(self) -> Iterator[str]:
        for content in self._lines:
            self.count += 1
            try:
                yield content.decode("utf-8-sig" if self.count == 1 else "utf-8")
            except UnicodeDecodeError as error:
                column = len(error.object[: error.start].decode("utf-8")) + 1
                self._findings.append(
                    RowProblem.at(
                        self._path,
                        self.count,
                        column,
                        ProblemKind.NOT_UTF8,
                        "the text is not UTF-8",
                    )
                )
                yield content.decode("utf-8", "replace")

    def take_findings(self) -> list[RowProblem]:
        findings, self._findings = self._findings, []
        return findings


def _records(path: Path, lines: _DecodedLines) -> Iterator[tuple[int, list[str]] | RowProblem]:
    """Each record with the line where it begins; a cell may go over many lines."""
    text = iter(lines)
    first = next(text, None)
    if first is None:
        return
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_CELL))
    reader = csv.reader(_chain(first, text), delimiter=_delimiter(path, first), strict=True)
    while True:
        begin = reader.line_num + 1
        try:
            yield begin, next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield RowProblem.at(path, begin, None, ProblemKind.WRONG_CELLS, _explain(error))


def _chain(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def _delimiter(path: Path, header: str) -> str:
    if path.suffix.lower() == ".tsv":
        return "\t"
    if "," in header:
        return ","
    return next((sign for sign in (";", "\t") if sign in header), ",")


def _explain(error: csv.Error) -> str:
    text = str(error)
    if "unexpected end" in text:
        return "a quote that opens here is never closed"
    if "field limit" in text:
        return f"a quote is never closed, or a cell is longer than {LONGEST_CELL:,} characters"
    if "new-line character" in text:
        return "a line ends in a lone carriage return; save it with Unix or Windows line ends"
    return f"not valid CSV ({text})"


class _Header:
    """The column names, and what is wrong with them."""

    def __init__(self, path: Path, cells: Sequence[str]) -> None:
        self._path = path
        self._names = [cell.strip() for cell in cells]
        self.findings: list[RowProblem] = []
        for position, name in enumerate(self._names, start=1):
            if not name:
                message = f"column {position} has no name and is left out"
                self._find(ProblemKind.UNNAMED_COLUMN, message)
            elif name in self._names[: position - 1]:
                message = f"the column name {name!r} stands twice"
                self._find(ProblemKind.BAD_HEADER, message)
        if not any(self._names):
            self._find(ProblemKind.BAD_HEADER, "the first line names no column")

    def row(self, line: int, cells: Sequence[str]) -> RawRow | RowProblem:
        """The cells by name."""
        if len(cells) != len(self._names):
            message = f"{counted(len(cells), 'cell')} where the header has {len(self._names)}"
            return RowProblem.at(self._path, line, None, ProblemKind.WRONG_CELLS, message)
        named = zip(self._names, cells, strict=True)
        return RawRow(line, {name: cell for name, cell in named if name})

    def _find(self, kind: ProblemKind, message: str) -> None:
        self.findings.append(RowProblem.at(self._path, 1, None, kind, message))
