"""Asserts scorer: rows that bring their own checks, as promptfoo's test cases do."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from burnish.domain import AgentOutput, Item, Json, Model, Score, Spending
from burnish.evaluation.scorers.assert_checks import (
    RUBRIC,
    AnyCheck,
    BadAssertError,
    Check,
    CheckSet,
    check_output,
    read_asserts,
)
from burnish.evaluation.scorers.comparison import as_text, shown
from burnish.evaluation.scorers.fields import (
    MissingFieldError,
    error_score,
    fingerprint_of,
    read_filled,
    require_text,
)
from burnish.evaluation.scorers.judge import PROMPT_VERSION, LLMJudge, shown_output

_SLACK = 1e-9
_LISTED = 8


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What one assert came to: its share (1 or 0, between them for a set) and what went wrong."""

    share: float
    passed: bool
    problems: tuple[str, ...] = ()
    error: str | None = None
    spending: Spending = field(default_factory=Spending)


class Asserts:
    """The share of the row's own asserts that pass, by their weights.

    The row's `field` holds a list such as [{"type": "contains", "value": "Paris"}], or an object
    with that list as `assert` and a `threshold`: the share that is enough to pass. Without one all
    must pass. The `model` judges asserts of the type llm-rubric; all others need none.
    """

    def __init__(
        self,
        field: str = "assert",
        *,
        model: Model | None = None,
        parameters: Mapping[str, Json] | None = None,
        timeout_seconds: float | None = None,
        name: str = "asserts",
    ) -> None:
        self.name = require_text("asserts", "name", name)
        self.field = require_text("asserts", "field", field)
        self.model = model
        self.fields_needed: tuple[str, ...] = (field,)
        self.instant = model is None
        self._parameters = parameters
        self._timeout = timeout_seconds
        self.fingerprint: str | None = fingerprint_of(
            "asserts",
            1,
            field=field,
            model=None if model is None else [model.fingerprint, PROMPT_VERSION],
            parameters=None if parameters is None else dict(parameters),
        )

    async def score(self, output: AgentOutput, item: Item) -> Score:
        """The weighted share of passed asserts; the reason names those that failed."""
        try:
            checks = self.checks_of(item)
        except MissingFieldError as error:
            return error_score(self.name, str(error))
        except BadAssertError as error:
            return error_score(
                self.name, f"the item's field {self.field!r} cannot be used: {error}"
            )
        if not any(one.weight for one in checks.checks):
            why = f"the item's field {self.field!r} holds no assert that counts"
            return error_score(self.name, why)
        outcome = await self._all(checks, output, item)
        return Score(
            0.0 if outcome.error else outcome.share,
            _reason(outcome, shown_output(output)),
            outcome.passed,
            self.name,
            outcome.error,
            outcome.spending,
        )

    def checks_of(self, item: Item) -> CheckSet:
        """What the item's output is to pass; BadAssertError where that cannot be used."""
        return read_asserts(read_filled(item, self.field))

    def judges_of(self, item: Item) -> Iterator[LLMJudge]:
        """The judges that this item's asserts will ask."""
        try:
            checks = self.checks_of(item)
        except (MissingFieldError, BadAssertError):
            return
        for check in _each(checks):
            if check.type == RUBRIC and self.model is not None:
                yield self._judge(check, self.model)

    async def _all(self, checks: CheckSet, output: AgentOutput, item: Item) -> _Outcome:
        outcomes = await asyncio.gather(*(self._one(one, output, item) for one in checks.checks))
        weights = [one.weight for one in checks.checks]
        total = sum(weights)
        pairs = list(zip(outcomes, weights, strict=True))
        share = sum(one.share * weight for one, weight in pairs) / total if total else 1.0
        passed = all(one.passed for one, weight in pairs if weight)
        if checks.threshold is not None:
            passed = share >= checks.threshold - _SLACK
        return _Outcome(
            share=min(share, 1.0),
            passed=passed,
            problems=tuple(problem for one in outcomes for problem in one.problems),
            error=next((one.error for one, weight in pairs if one.error and weight), None),
            spending=Spending.sum(one.spending for one in outcomes),
        )

    async def _one(self, check: AnyCheck, output: AgentOutput, item: Item) -> _Outcome:
        if isinstance(check, CheckSet):
            found = await self._all(check, output, item)
            reached = check.threshold is not None and found.passed
            return replace(found, share=1.0, problems=()) if reached else found
        if check.type == RUBRIC:
            return await self._judged(check, output, item)
        try:
            problem = check_output(check, output, shown_output(output))
        except BadAssertError as error:
            return _unusable(check, str(error))
        if problem is None:
            return _Outcome(1.0, True)
        return _Outcome(0.0, False, (f"{check.label} ({problem})",))

    async def _judged(self, check: Check, output: AgentOutput, item: Item) -> _Outcome:
        if self.model is None:
            return _unusable(check, "there is no model to judge it: set `model` of the scorer")
        if check.value is None or not as_text(check.value).strip():
            return _unusable(check, "it does not say what to judge by")
        others = {name: value for name, value in item.data.items() if name != self.field}
        score = await self._judge(check, self.model).score(output, replace(item, data=others))
        if score.error is not None:
            return replace(_unusable(check, score.error), spending=score.spending)
        liked = score.passed if score.passed is not None else score.value >= 1.0
        if liked != check.negated:
            return _Outcome(1.0, True, spending=score.spending)
        return _Outcome(0.0, False, (f"{check.label} ({score.reason})",), spending=score.spending)

    def _judge(self, check: Check, model: Model) -> LLMJudge:
        criteria = as_text(check.value) if check.value is not None else ""
        return LLMJudge(
            model,
            criteria.strip() or "-",
            threshold=None if check.threshold is None else min(check.threshold, 1.0),
            parameters=self._parameters,
            timeout_seconds=self._timeout,
        )


def _each(checks: CheckSet) -> Iterator[Check]:
    for one in checks.checks:
        if isinstance(one, CheckSet):
            yield from _each(one)
        else:
            yield one


def _unusable(check: Check, why: str) -> _Outcome:
    return _Outcome(0.0, False, (f"{check.label} ({why})",), f"{check.label}: {why}")


def _reason(outcome: _Outcome, text: str) -> str:
    if not outcome.problems:
        return ""
    listed = "; ".join(outcome.problems[:_LISTED])
    more = len(outcome.problems) - _LISTED
    rest = f"; and {more} more" if more > 0 else ""
    return f"failed: {listed}{rest}; the output is {shown(text)}"
