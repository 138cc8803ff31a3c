"""JSON Lines: one object a line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from burnish.evaluation.datasets.problems import ProblemKind, RowProblem
from burnish.evaluation.datasets.rows import RawRow
from burnish.evaluation.datasets.strict_json import BrokenJson, StrictDecoder


def read_json_lines(path: Path) -> Iterator[RawRow | RowProblem]:
    """Rows in order; a broken line is a finding and the next line goes on. A blank line is {}."""
    decoder = StrictDecoder()
    with path.open("rb") as file:
        for line, content in enumerate(file, start=1):
            try:
                text = content.decode("utf-8-sig" if line == 1 else "utf-8").rstrip("\r\n")
                value = decoder.decode(text) if text and not text.isspace() else {}
            except UnicodeDecodeError as error:
                column = len(error.object[: error.start].decode("utf-8")) + 1
                message = "the text is not UTF-8"
                yield RowProblem.at(path, line, column, ProblemKind.NOT_UTF8, message)
                continue
            except BrokenJson as error:
                yield RowProblem.at(path, line, error.column, error.kind, error.message)
                continue
            for key in decoder.take_repeated():
                message = f"the key {key!r} stands twice; the last one counts"
                yield RowProblem.at(path, line, None, ProblemKind.DUPLICATE_KEY, message)
            yield RawRow(line, value)
