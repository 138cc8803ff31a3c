"""JSON datasets: JSON Lines, or a document with one list of objects, of any size."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from burnish.evaluation.datasets.problems import ProblemKind, RowProblem
from burnish.evaluation.datasets.rows import RawRow

# Strings are matched first, so that a NaN inside one is passed over.
_CONSTANT = re.compile(r'"(?:[^"\\]|\\.)*"|(NaN|-?Infinity)')
_CHUNK = 1 << 16
_SPACE = re.compile(r"[ \t\r\n]*")
# The decoder reports a value cut off by the buffer's end at most this far before that end: the
# longest literal is "-Infinity". Only a cut string is reported further back, at its start.
_CUT = len("-Infinity") + 1


class BrokenJson(Exception):  # noqa: N818 - it never leaves this package
    """Text that is not JSON; line and column count from 1 within the text that was given."""

    def __init__(self, kind: ProblemKind, message: str, line: int, column: int | None) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.line = line
        self.column = column


class StrictDecoder:
    """Decodes values and remembers which keys stood twice in one object (the last one wins)."""

    def __init__(self) -> None:
        self._repeated: list[str] = []
        self.scanner = json.JSONDecoder(
            object_pairs_hook=self._object, parse_constant=self._refuse_constant
        )

    def decode(self, text: str) -> Any:
        """The one value in the text, or BrokenJson."""
        try:
            return self.scanner.decode(text)
        except (ValueError, RecursionError) as error:
            raise explain(error, text) from error

    def take_repeated(self) -> list[str]:
        """Repeated keys since the last call."""
        repeated, self._repeated = self._repeated, []
        return repeated

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) != len(pairs):
            names = [name for name, _ in pairs]
            self._repeated.extend(name for name in result if names.count(name) > 1)
        return result

    @staticmethod
    def _refuse_constant(name: str) -> Any:
        raise ValueError(f"{name} is not a JSON number")


def explain(error: ValueError | RecursionError, text: str) -> BrokenJson:
    """Any failure of the decoder as BrokenJson."""
    if isinstance(error, json.JSONDecodeError):
        said = error.msg.removesuffix(" starting at").removesuffix(" at")
        message = f"not valid JSON ({said[:1].lower()}{said[1:]})"
        return BrokenJson(ProblemKind.BROKEN_JSON, message, error.lineno, error.colno)
    if isinstance(error, RecursionError):
        return BrokenJson(ProblemKind.NOT_JSON, "lists or objects nest too deeply", 1, None)
    found = next((hit for hit in _CONSTANT.finditer(text) if hit[1]), None)
    if found is None:
        return BrokenJson(ProblemKind.NOT_JSON, "a number has too many digits", 1, None)
    line_start = text.rfind("\n", 0, found.start()) + 1
    line = text.count("\n", 0, found.start()) + 1
    return BrokenJson(ProblemKind.NOT_JSON, str(error), line, found.start() - line_start + 1)


class JsonCursor:
    """A place in a JSON text. BrokenJson tells line and column in the whole text."""

    def __init__(self, file: BinaryIO) -> None:
        self.line = 1
        self.column = 1
        self.decoder = StrictDecoder()
        self._file = file
        self._decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        self._text = ""
        self._at = 0
        self._ended = False

    def peek(self) -> str:
        """The next character that is no space; "" at the end."""
        while True:
            match = _SPACE.match(self._text, self._at)
            self._advance(match.end() if match else self._at)
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._fill(_CHUNK):
                return ""

    def take(self, expected: str) -> bool:
        """Step over the expected character if it is next."""
        if self.peek() != expected:
            return False
        self._advance(self._at + 1)
        return True

    def require(self, expected: str) -> None:
        """Step over the expected character, or fail."""
        if not self.take(expected):
            raise self.broken(f"not valid JSON (expecting {expected!r})")

    def value(self) -> Any:
        """Step over the next value of any kind and return it."""
        self.peek()
        size = _CHUNK
        while True:
            try:
                value, end = self.decoder.scanner.raw_decode(self._text, self._at)
            except (ValueError, RecursionError) as error:
                if self._may_be_cut(error) and self._fill(size):
                    size *= 2  # so that a value of many chunks is not scanned once for each
                    self.decoder.take_repeated()
                    continue
                raise self._placed(error) from error
            # A number at the buffer's end may go on beyond it.
            if end < len(self._text) or not self._fill(size):
                self._advance(end)
                return value
            self.decoder.take_repeated()

    def broken(self, message: str) -> BrokenJson:
        """A failure at the current place."""
        return BrokenJson(ProblemKind.BROKEN_JSON, message, self.line, self.column)

    def _may_be_cut(self, error: ValueError | RecursionError) -> bool:
        if self._ended or not isinstance(error, json.JSONDecodeError):
            return False
        return error.pos >= len(self._text) - _CUT or error.msg.startswith("Unterminated string")

    def _placed(self, error: ValueError | RecursionError) -> BrokenJson:
        if isinstance(error, json.JSONDecodeError):
            self._advance(error.pos)
            return self.broken(explain(error, "").message)
        local = explain(error, self._text[self._at :])
        column = local.column
        if column is not None and local.line == 1:
            column += self.column - 1
        return BrokenJson(local.kind, local.message, self.line + local.line - 1, column)

    def _advance(self, to: int) -> None:
        newlines = self._text.count("\n", self._at, to)
        if newlines:
            self.line += newlines
            self.column = to - self._text.rfind("\n", self._at, to)
        else:
            self.column += to - self._at
        self._at = to

    def _fill(self, size: int) -> bool:
        """Read on, dropping what was walked over. False at the end of the file."""
        if self._ended:
            return False
        content = self._file.read(size)
        self._ended = not content
        try:
            more = self._decode(content, self._ended)
        except UnicodeDecodeError as error:
            self._text += bytes(error.object[: error.start]).decode("utf-8")
            self._advance(len(self._text))
            raise BrokenJson(
                ProblemKind.NOT_UTF8, "the text is not UTF-8", self.line, self.column
            ) from error
        if more:
            self._text = self._text[self._at :] + more
            self._at = 0
        return bool(more) or not self._ended


def read_json_document(path: Path) -> Iterator[RawRow | RowProblem]:
    """Rows in order. What follows a broken place cannot be trusted, so reading ends there."""
    with path.open("rb") as file:
        cursor = JsonCursor(file)
        try:
            for row in _rows(cursor):
                for key in cursor.decoder.take_repeated():
                    message = f"the key {key!r} stands twice; the last one counts"
                    yield RowProblem.at(path, row.line, None, ProblemKind.DUPLICATE_KEY, message)
                yield row
        except BrokenJson as broken:
            yield RowProblem.at(path, broken.line, broken.column, broken.kind, broken.message)


def _rows(cursor: JsonCursor) -> Iterator[RawRow]:
    start = cursor.peek()
    if start == "[":
        yield from _elements(cursor)
    elif start == "{":
        yield from _only_list(cursor)
    elif start:
        raise cursor.broken("the document is neither a list of rows nor an object that holds one")
    if cursor.peek():
        raise cursor.broken("text follows after the end (is it JSON Lines? name it .jsonl)")


def _elements(cursor: JsonCursor) -> Iterator[RawRow]:
    cursor.require("[")
    if cursor.take("]"):
        return
    while True:
        cursor.peek()
        line = cursor.line
        yield RawRow(line, cursor.value())
        if cursor.take("]"):
            return
        cursor.require(",")


def _only_list(cursor: JsonCursor) -> Iterator[RawRow]:
    """The rows of the one list of objects; other values, lists of texts too, are passed over."""
    found: str | None = None
    empty = False
    cursor.require("{")
    while not cursor.take("}"):
        name = _key(cursor)
        if cursor.peek() != "[":
            cursor.value()
        else:
            here = cursor.broken(f"both {found!r} and {name!r} are lists of rows; keep one")
            rows = _elements(cursor)
            first = next(rows, None)
            if first is not None and isinstance(first.value, dict):
                if found is not None:
                    raise here
                found = name
                yield first
                yield from rows
            else:
                empty = empty or first is None
                for _ in rows:
                    pass
        if cursor.peek() != "}":
            cursor.require(",")
    if found is None and not empty:
        raise cursor.broken("the object holds no list of rows")


def _key(cursor: JsonCursor) -> str:
    if cursor.peek() != '"':
        raise cursor.broken("not valid JSON (expecting a key in double quotes)")
    name = str(cursor.value())
    cursor.require(":")
    return name


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
