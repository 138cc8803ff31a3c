"""JSON as the standard has it: no NaN, no infinities, repeated keys noticed."""

from __future__ import annotations

import json
import re
from typing import Any

from burnish.evaluation.datasets.problems import ProblemKind

# Strings are matched first, so that a NaN inside one is passed over.
_CONSTANT = re.compile(r'"(?:[^"\\]|\\.)*"|(NaN|-?Infinity)')


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
