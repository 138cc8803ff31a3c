"""Text scorers: exact match and similarity."""

from __future__ import annotations

from burnish.domain import AgentOutput, Json, Score
from burnish.evaluation.scorers.comparison import (
    TextRule,
    Tolerance,
    alternatives,
    as_text,
    same_value,
    shown,
)
from burnish.evaluation.scorers.fields import (
    DEFAULT_FIELD,
    FieldComparison,
    bad_setting,
    fingerprint_of,
)
from burnish.evaluation.scorers.json_values import NotJsonError, json_of

_EXACT = Tolerance()


class ExactMatch(FieldComparison):
    """1 when the output is the item's field, else 0.

    A number, true, false or an object in the field is compared by value with the output read as
    JSON, so 3, 3.0 and "3" agree. A list holds alternatives, or is the whole answer.
    """

    def __init__(
        self,
        field: str = DEFAULT_FIELD,
        *,
        ignore_case: bool = False,
        strip: bool = True,
        name: str = "exact_match",
    ) -> None:
        super().__init__("exact_match", field, name)
        self._rule = TextRule(ignore_case=ignore_case, strip=strip)
        self.fingerprint = fingerprint_of(
            "exact_match", 1, field=field, ignore_case=ignore_case, strip=strip
        )

    def _compare(self, output: AgentOutput, expected: Json) -> Score:
        if self._is(output, expected):
            return self._right
        reason = f"expected {shown(expected)}, got {shown(output.text)}"
        return Score(0.0, reason, name=self.name)

    def _is(self, output: AgentOutput, expected: Json) -> bool:
        fold = self._rule.fold
        if isinstance(expected, str):
            return fold(output.text) == fold(expected)
        if isinstance(expected, bool):
            return output.data is expected or fold(output.text).casefold() == as_text(expected)
        if isinstance(expected, list) and any(self._is(output, one) for one in expected):
            return True
        try:
            return same_value(json_of(output), expected, self._rule, _EXACT)
        except NotJsonError:
            return False


class Similarity(FieldComparison):
    """How alike the output and the item's field are, from 0 to 1 (normalised Indel distance).

    With a list in the field the most alike one counts. `threshold` lets the scorer decide itself
    what passes; otherwise the suite does.
    """

    def __init__(
        self,
        field: str = DEFAULT_FIELD,
        *,
        ignore_case: bool = False,
        strip: bool = True,
        threshold: float | None = None,
        name: str = "similarity",
    ) -> None:
        super().__init__("similarity", field, name)
        if threshold is not None and not 0 <= threshold <= 1:
            raise bad_setting("similarity", "threshold", f"{threshold} is not between 0 and 1")
        self._rule = TextRule(ignore_case=ignore_case, strip=strip)
        self._threshold = threshold
        self.fingerprint = fingerprint_of(
            "similarity",
            1,
            field=field,
            ignore_case=ignore_case,
            strip=strip,
            threshold=threshold,
        )

    def _compare(self, output: AgentOutput, expected: Json) -> Score:
        from rapidfuzz import fuzz  # noqa: PLC0415 - only those who compare this way load it

        got = self._rule.fold(output.text)
        wanted = [self._rule.fold(as_text(one)) for one in alternatives(expected)]
        best = max((fuzz.ratio(got, one) / 100 for one in wanted), default=0.0)
        passed = None if self._threshold is None else best >= self._threshold
        reason = "" if best == 1.0 else f"expected {shown(expected)}, got {shown(output.text)}"
        return Score(best, reason, passed, self.name)
