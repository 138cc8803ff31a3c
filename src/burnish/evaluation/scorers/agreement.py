"""Agreement scorer: a judge's verdict against the label that people gave the same output."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from burnish.domain import AgentOutput, Item, Json, Score
from burnish.domain.labels import COMMENT
from burnish.evaluation.judging.labels import PASS_FROM, read_label
from burnish.evaluation.scorers.fields import (
    MissingFieldError,
    error_score,
    fingerprint_of,
    read_field,
    require_text,
)


class Agreement:
    """1 where an agent that judges agrees with the item's label, 0 where it does not.

    Labels are pass or fail (also true or false, good or bad, 1 or 0) or scores from 0 to 1, against
    which a verdict counts by its distance. What people said beside the label is part of the reason.
    """

    instant: ClassVar[bool] = True

    def __init__(self, field: str = "label", *, name: str = "agreement") -> None:
        self.name = require_text("agreement", "name", name)
        self.field = require_text("agreement", "field", field)
        self.fields_needed = (self.field,)
        self.fingerprint: str | None = fingerprint_of("agreement", 1, field=field)

    async def score(self, output: AgentOutput, item: Item) -> Score:
        """The verdict is read from the output's data, or from its text."""
        try:
            label = read_label(read_field(item, self.field), pairwise=False)
        except (MissingFieldError, ValueError) as error:
            return error_score(self.name, str(error))
        data: Mapping[str, Json] = output.data if isinstance(output.data, Mapping) else {}
        reason = str(data.get("reason") or "")
        try:
            passed = read_label(data.get("pass", output.text), pairwise=False) >= PASS_FROM
            value = read_label(data.get("score", float(passed)), pairwise=False)
        except ValueError as error:
            return Score(0.0, f"the verdict {error}", passed=False, name=self.name)
        comment = item.data.get(COMMENT)
        said = f' ("{comment}")' if isinstance(comment, str) and comment else ""
        if label in (0, 1):
            right = passed == bool(label)
            return Score(float(right), _words(right, label, said, reason), right, self.name)
        near = 1 - abs(label - value)
        words = f"the label is {label:g}{said}, the verdict {value:g}: {reason}"
        return Score(near, words, (label >= PASS_FROM) == passed, self.name)


def _words(right: bool, label: float, said: str, reason: str) -> str:
    people = "pass" if label else "fail"
    if right:
        return f"people say {people} too{said}"
    return f"people say {people}{said}, the judge says otherwise, because: {reason}"
