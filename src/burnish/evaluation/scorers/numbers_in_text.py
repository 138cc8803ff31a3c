"""Numbers as people and models write them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from burnish.domain import Json

# Besides the comma (or the point), what groups thousands and never separates two numbers.
_GROUPS = "_'\u2019\u00a0\u202f\u2009"
_CURRENCY = "$€£¥₹"
_MINUS = ("-", "\u2212")


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it was written: 12% is 12 with `percent`."""

    value: float
    percent: bool = False

    def readings(self, other: Number) -> tuple[float, ...]:
        """What it may mean beside the other one: 12% is 12 or 0.12, unless both are percentages."""
        return (self.value, self.value / 100) if self.percent > other.percent else (self.value,)


class NumberReader:
    """Finds numbers in running text. `decimal` is the decimal sign; its twin groups thousands."""

    def __init__(self, decimal: str) -> None:
        self._decimal = decimal
        self._group = "," if decimal == "." else "."
        self._pattern = _pattern(re.escape(decimal), re.escape(self._group))

    def last(self, text: str) -> Number | None:
        """The last number that a text mentions: answers come after their working."""
        found = None
        for found in self._pattern.finditer(text):  # noqa: B007 - only the last one counts
            pass
        if found is None:
            return None
        digits = found["digits"].replace(self._group, "").replace(self._decimal, ".")
        value = float(digits.translate(dict.fromkeys(map(ord, _GROUPS))))
        if not math.isfinite(value):
            return None
        signed = -value if found["sign"] in _MINUS else value
        return Number(signed, found["percent"] is not None)

    def of(self, value: Json) -> Number | None:
        """A JSON number as it is, or the last number of a text; None for anything else."""
        if isinstance(value, str):
            return self.last(value)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return None
        try:
            return Number(float(value)) if math.isfinite(value) else None
        except OverflowError:
            return None


def _pattern(decimal: str, group: str) -> re.Pattern[str]:
    grouped = rf"\d{{1,3}}(?:[{group}{_GROUPS}]\d{{3}})+(?!\d)"
    digits = rf"(?:(?:{grouped}|\d+)(?:{decimal}\d+)?|{decimal}\d+)(?:[eE][-+]?\d+)?"
    return re.compile(
        # Not inside of a word or a version (CO2, 1.2.3), and no sign in a range (3-5).
        rf"(?<![A-Za-z_\d{decimal}])(?P<sign>(?<![\w)])[-+\u2212])?[{_CURRENCY}]?"
        rf"(?P<digits>{digits})(?P<percent>\s?%|\s?per ?cent\b)?"
    )
