"""Walks a JSON text of any size, holding no more of it than one value."""

from __future__ import annotations

import codecs
import json
import re
from typing import Any, BinaryIO

from burnish.evaluation.datasets.problems import ProblemKind
from burnish.evaluation.datasets.strict_json import BrokenJson, StrictDecoder, explain

_CHUNK = 1 << 16
_SPACE = re.compile(r"[ \t\r\n]*")
# The decoder reports a value cut off by the buffer's end at most this far before that end: the
# longest literal is "-Infinity". Only a cut string is reported further back, at its start.
_CUT = len("-Infinity") + 1


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
