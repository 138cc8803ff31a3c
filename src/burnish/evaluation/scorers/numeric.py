"""Numeric scorer: answers that are numbers, as people and models write them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from burnish.domain import AgentOutput, Json, Score
from burnish.evaluation.scorers.comparison import Tolerance, alternatives, shown
from burnish.evaluation.scorers.fields import (
    DEFAULT_FIELD,
    FieldComparison,
    bad_setting,
    error_score,
    fingerprint_of,
)

# Besides the comma (or the point), what groups thousands and never separates two numbers.
_GROUPS = "_'\u2019\u00a0\u202f\u2009"
_CURRENCY = "$€£¥₹"
_MINUS = ("-", "\u2212")


class NumericTolerance(FieldComparison):
    """1 when the last number of the output is near enough to the item's field, else 0.

    Near enough is within `absolute` or within `relative` times the expected number. 12% agrees
    with 12 and with 0.12. A list in the field holds alternatives.
    """

    def __init__(
        self,
        field: str = DEFAULT_FIELD,
        *,
        absolute: float = 0.0,
        relative: float = 0.0,
        decimal: str = ".",
        name: str = "numeric",
    ) -> None:
        super().__init__("numeric", field, name)
        if decimal not in (".", ","):
            raise bad_setting("numeric", "decimal", f"{decimal!r} is neither '.' nor ','")
        self._tolerance = tolerance_of("numeric", absolute, relative)
        self._reader = NumberReader(decimal)
        self.fingerprint = fingerprint_of(
            "numeric", 1, field=field, absolute=absolute, relative=relative, decimal=decimal
        )

    def _compare(self, output: AgentOutput, expected: Json) -> Score:
        wanted = [self._reader.of(one) for one in alternatives(expected)]
        if not wanted or None in wanted:
            why = f"the item's field {self.field!r} holds no number: {shown(expected)}"
            return error_score(self.name, why)
        got = self._reader.of(output.data) or self._reader.last(output.text)
        if got is None:
            reason = f"expected {shown(expected)}, found no number in {shown(output.text)}"
            return Score(0.0, reason, name=self.name)
        if any(one is not None and self._near(got, one) for one in wanted):
            return self._right
        written = f"{got.value:g}%" if got.percent else f"{got.value:g}"
        return Score(0.0, f"expected {shown(expected)}, got {written}", name=self.name)

    def _near(self, got: Number, wanted: Number) -> bool:
        return any(
            self._tolerance.covers(one, other)
            for one in got.readings(wanted)
            for other in wanted.readings(got)
        )


def tolerance_of(scorer: str, absolute: float, relative: float) -> Tolerance:
    """The tolerance, or an error when it cannot be one."""
    for setting, value in (("absolute", absolute), ("relative", relative)):
        if isinstance(value, bool) or not 0 <= value < float("inf"):
            raise bad_setting(scorer, setting, f"{value!r} is not a finite number from 0 up")
    return Tolerance(absolute=absolute, relative=relative)


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
