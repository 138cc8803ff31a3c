"""The scorer for answers that are numbers."""

from __future__ import annotations

from burnish.domain import AgentOutput, Json, Score
from burnish.evaluation.scorers.comparison import Tolerance, alternatives, shown
from burnish.evaluation.scorers.fields import (
    DEFAULT_FIELD,
    FieldComparison,
    bad_setting,
    error_score,
    fingerprint_of,
)
from burnish.evaluation.scorers.numbers_in_text import Number, NumberReader


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
