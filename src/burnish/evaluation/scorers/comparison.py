"""Comparison of values: when two count as the same, and how a reason shows them."""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from burnish.domain import Json

_SHOWN_CHARACTERS = 200
# Decimal fractions are not exact in binary: 1.1 - 1.0 exceeds 0.1. This forgives that, no more.
_BINARY_SLACK = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRule:
    """What about a text does not matter. Unicode's composed and decomposed forms never do."""

    ignore_case: bool = False
    strip: bool = True

    def fold(self, text: str) -> str:
        """The text with what does not matter taken out."""
        if self.strip:
            text = text.strip()
        if not text.isascii():
            text = unicodedata.normalize("NFC", text)
        return text.casefold() if self.ignore_case else text


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """How far a number may be off: the wider of the two counts."""

    absolute: float = 0.0
    relative: float = 0.0

    def covers(self, got: float, wanted: float) -> bool:
        """Whether the number is near enough to the wanted one."""
        if got == wanted:
            return True
        if (
            isinstance(got, int)
            and isinstance(wanted, int)
            and not (self.absolute or self.relative)
        ):
            return False
        try:
            allowed = max(self.absolute, self.relative * abs(float(wanted)))
            slack = _BINARY_SLACK * max(abs(float(got)), abs(float(wanted)))
            return abs(float(got) - float(wanted)) <= allowed + slack
        except OverflowError:
            return False


def same_value(got: Json, wanted: Json, text: TextRule, tolerance: Tolerance) -> bool:
    """Equal as JSON: true is not 1, 1 is 1.0, and the keys of an object have no order."""
    if isinstance(got, bool) or isinstance(wanted, bool):
        return got is wanted
    if isinstance(got, str) and isinstance(wanted, str):
        return text.fold(got) == text.fold(wanted)
    if isinstance(got, (int, float)) and isinstance(wanted, (int, float)):
        return tolerance.covers(got, wanted)
    if isinstance(got, (list, tuple)) and isinstance(wanted, (list, tuple)):
        pairs = zip(got, wanted, strict=False)
        return len(got) == len(wanted) and all(same_value(a, b, text, tolerance) for a, b in pairs)
    if isinstance(got, Mapping) and isinstance(wanted, Mapping):
        return got.keys() == wanted.keys() and all(
            same_value(inner, wanted[key], text, tolerance) for key, inner in got.items()
        )
    return got is None and wanted is None


def alternatives(expected: Json) -> tuple[Json, ...]:
    """A list in the dataset holds alternatives: one of them is enough."""
    return tuple(expected) if isinstance(expected, (list, tuple)) else (expected,)


def as_text(value: Json) -> str:
    """Text as it is, other values in their JSON form."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def shown(value: Json) -> str:
    """A value as a reason quotes it: short enough to read."""
    if isinstance(value, str):
        cut = value[:_SHOWN_CHARACTERS]
        quoted = json.dumps(cut, ensure_ascii=False)
        return quoted if len(cut) == len(value) else f"{quoted}… ({len(value)} characters)"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
