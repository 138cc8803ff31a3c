"""A language model as the scorer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from burnish.domain import (
    AgentOutput,
    BurnishError,
    Item,
    Json,
    Message,
    Model,
    ModelRequest,
    ModelResponse,
    Purpose,
    Score,
    Spending,
    UnavailableError,
    Usage,
    UsageError,
)
from burnish.evaluation.scorers.fields import (
    MissingFieldError,
    bad_setting,
    error_score,
    fingerprint_of,
    read_field,
    require_text,
)
from burnish.evaluation.scorers.judge_prompt import (
    PROMPT_VERSION,
    correction,
    judge_messages,
    system_text,
)
from burnish.evaluation.scorers.systemic import is_systemic
from burnish.evaluation.scorers.verdict import VERDICT_SCHEMA, MalformedVerdictError, Verdict

# How the error of a score begins when the judge's model could not be reached.
JUDGE_UNAVAILABLE = "judge unavailable"

_ATTEMPTS = 2
_DETERMINISTIC: Mapping[str, Json] = {"temperature": 0.0}


class LLMJudge:
    """Scores an output by criteria, from 0 to 1, with a reason.

    The judge sees the item's `fields` (all of them when None) and the output. It passes an output
    itself, or by its score where a `threshold` is given. An answer that is no verdict is asked for
    once more; after that, and when the model cannot be reached, the score is an error.
    """

    instant: ClassVar[bool] = False

    def __init__(
        self,
        model: Model,
        criteria: str | Sequence[str],
        *,
        name: str = "judge",
        threshold: float | None = None,
        fields: Sequence[str] | None = None,
        parameters: Mapping[str, Json] | None = None,
        timeout_seconds: float | None = None,
    ) -> None:
        if threshold is not None and not 0 <= threshold <= 1:
            raise bad_setting("judge", "threshold", f"{threshold} is not between 0 and 1")
        self.name = require_text("judge", "name", name)
        self.criteria = criteria_text(criteria)
        self.threshold = threshold
        self.model = model
        self.fields_needed: tuple[str, ...] = tuple(fields or ())
        self._shows_all = fields is None
        self._system = system_text(self.criteria, threshold)
        self._parameters = dict(_DETERMINISTIC if parameters is None else parameters)
        self._timeout = timeout_seconds
        self.fingerprint: str | None = fingerprint_of(
            "judge",
            PROMPT_VERSION,
            model=model.fingerprint,
            criteria=self.criteria,
            threshold=threshold,
            fields=None if fields is None else list(fields),
            parameters=self._parameters,
        )

    async def score(self, output: AgentOutput, item: Item) -> Score:
        """The judge's verdict on one output."""
        try:
            shown = self._shown_fields(item)
        except MissingFieldError as error:
            return error_score(self.name, str(error))
        messages = judge_messages(self._system, output, shown)
        spent, problem = Usage(), ""
        for attempt in range(_ATTEMPTS):
            try:
                response = await self.model.complete(self._request(messages, attempt))
            except Exception as error:  # A model may be anybody's function.
                if is_systemic(error):
                    raise
                return self._failed(_why(error), spent)
            spent += _paid(response)
            try:
                return self._verdict(Verdict.read(response.text), spent)
            except MalformedVerdictError as error:
                problem = str(error)
            messages = correction(messages, response.text, problem)
        return self._failed(
            f"the judge gave no usable verdict in {_ATTEMPTS} tries: {problem}", spent
        )

    def _shown_fields(self, item: Item) -> Mapping[str, Json]:
        if self._shows_all:
            return item.data
        return {name: read_field(item, name) for name in self.fields_needed}

    def _request(self, messages: tuple[Message, ...], attempt: int) -> ModelRequest:
        return ModelRequest(
            messages=messages,
            parameters=self._parameters,
            schema=VERDICT_SCHEMA,
            repeat=attempt,
            timeout_seconds=self._timeout,
        )

    def _verdict(self, verdict: Verdict, spent: Usage) -> Score:
        passed = verdict.passed if self.threshold is None else verdict.score >= self.threshold
        return Score(
            verdict.score,
            verdict.reason,
            passed,
            self.name,
            spending=Spending.on(Purpose.JUDGE, spent),
        )

    def _failed(self, error: str, spent: Usage) -> Score:
        spending = Spending.on(Purpose.JUDGE, spent)
        return Score(0.0, error, name=self.name, error=error, spending=spending)


def has_criteria(criteria: object) -> bool:
    """Whether there is anything to judge by; without criteria an evaluation is skipped."""
    if isinstance(criteria, str):
        return bool(criteria.strip())
    return isinstance(criteria, (list, tuple)) and any(map(has_criteria, criteria))


def criteria_text(criteria: str | Sequence[str]) -> str:
    """The criteria as one text, several as a list; UsageError when there are none."""
    if not has_criteria(criteria):
        raise UsageError(
            what="the judge cannot judge",
            why="its criteria are missing or empty",
            fix="say in `criteria` what a good output is",
            code="missing_criteria",
        )
    if isinstance(criteria, str):
        return criteria.strip()
    return "\n".join(f"- {one.strip()}" for one in criteria if has_criteria(one))


def _paid(response: ModelResponse) -> Usage:
    return Usage() if response.cached else response.usage


def _why(error: Exception) -> str:
    if isinstance(error, BurnishError):
        start = JUDGE_UNAVAILABLE if isinstance(error, UnavailableError) else "judge failed"
        return f"{start}: {error.what}: {error.why}"
    return f"judge failed: {type(error).__name__}: {error}"
