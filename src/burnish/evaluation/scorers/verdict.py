"""A judge's answer: what is asked for and what is accepted."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from burnish.domain import Json
from burnish.evaluation.scorers.json_output import NotJsonError, parse_json

VERDICT_SCHEMA: Mapping[str, Json] = {
    "type": "object",
    "properties": {
        "score": {"type": "number", "minimum": 0, "maximum": 1},
        "reason": {"type": "string"},
        "pass": {"type": "boolean"},
    },
    "required": ["score", "reason", "pass"],
    "additionalProperties": False,
}

_THINKING = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_SCORE_KEY = re.compile(r"\bscore[\"']?\s*:")


class MalformedVerdictError(ValueError):
    """The answer is not a verdict; the message says why, for the judge to read."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge decided. `passed` is None when it did not say."""

    score: float
    reason: str
    passed: bool | None

    @classmethod
    def read(cls, text: str) -> Verdict:
        """The verdict in an answer; broken JSON is repaired, a wrong value never.

        A score of 7 may be of 10 or of 100, so it is refused rather than rescaled. A missing
        reason is refused because the answer was cut before it, maybe within the score.
        """
        try:
            value = _parsed(_THINKING.sub("", text))
        except NotJsonError as error:
            raise MalformedVerdictError(f"it is not JSON: {error}") from error
        if not isinstance(value, Mapping):
            raise MalformedVerdictError("it is not one JSON object")
        return cls(_score(value), _reason(value), _passed(value))


def _parsed(text: str) -> Json:
    try:
        return parse_json(text)
    except NotJsonError:
        if len(_SCORE_KEY.findall(text)) > 1:
            # A repair would have to choose, and one of them may be quoted from the output.
            raise MalformedVerdictError("it holds more than one score") from None
        return parse_json(text, repair=True)


def _score(value: Mapping[str, Any]) -> float:
    if "score" not in value:
        raise MalformedVerdictError('it has no "score"')
    given = value["score"]
    try:
        number = math.nan if isinstance(given, bool) else float(given)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 0 <= number <= 1:
        raise MalformedVerdictError(f'"score" is {given!r:.100}, not a number from 0 to 1')
    return number


def _reason(value: Mapping[str, Any]) -> str:
    reason = value.get("reason")
    if not isinstance(reason, str):
        raise MalformedVerdictError('"reason" is missing or not text')
    return reason.strip()


def _passed(value: Mapping[str, Any]) -> bool | None:
    passed = value.get("pass")
    if passed is not None and not isinstance(passed, bool):
        raise MalformedVerdictError(f'"pass" is {passed!r:.100}, not true or false')
    return passed
