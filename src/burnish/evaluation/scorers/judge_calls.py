"""Calls of a judge's model: asked for a verdict, once more where the answer is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from burnish.domain import (
    BurnishError,
    Json,
    Message,
    Model,
    ModelRequest,
    Purpose,
    Score,
    Spending,
    UnavailableError,
    Usage,
    paid_in,
)
from burnish.evaluation.scorers.scorer_set import is_systemic

# How the error of a score begins when the judge's model could not be reached.
JUDGE_UNAVAILABLE = "judge unavailable"
_CORRECTION = """\
That answer cannot be used: {problem}. Answer again with one JSON object and nothing else: \
{form}"""
_QUOTED_ANSWER_CHARACTERS = 2_000
_ATTEMPTS = 2
_DETERMINISTIC: Mapping[str, Json] = {"temperature": 0.0}
VerdictT = TypeVar("VerdictT")


class MalformedVerdictError(ValueError):
    """The answer is not a verdict; the message says why, for the judge to read."""


class JudgeCalls:
    """Asks a model for verdicts of one form. Parameters that are not given are ours: temperature 0."""

    def __init__(
        self,
        model: Model,
        schema: Mapping[str, Json],
        form: str,
        parameters: Mapping[str, Json] | None,
        timeout_seconds: float | None,
    ) -> None:
        self._model = model
        self._schema = schema
        self._form = form
        self._timeout = timeout_seconds
        self.parameters = dict(_DETERMINISTIC if parameters is None else parameters)

    async def verdict(
        self, messages: tuple[Message, ...], read: Callable[[str], VerdictT], *, repeat: int = 0
    ) -> tuple[VerdictT | str, Usage]:
        """The verdict that is read from the answer, or in words why there is none; and what was paid.

        `read` raises MalformedVerdictError; a verdict is never text. Another `repeat` asks anew what a
        cache would answer.
        """
        spent, problem = Usage(), ""
        for attempt in range(_ATTEMPTS):
            try:
                again = repeat * _ATTEMPTS + attempt
                response = await self._model.complete(self._request(messages, again))
            except Exception as error:  # A model may be anybody's function.
                if is_systemic(error):
                    raise
                return _why(error), spent + paid_in(error)
            spent += response.usage
            if response.refused:
                return f"the judge gave no verdict: {response.finish_reason}", spent
            try:
                return read(response.text), spent
            except MalformedVerdictError as error:
                problem = str(error)
            messages = self._corrected(messages, response.text, problem)
        return f"the judge gave no usable verdict in {_ATTEMPTS} tries: {problem}", spent

    def _request(self, messages: tuple[Message, ...], repeat: int) -> ModelRequest:
        return ModelRequest(
            messages=messages,
            parameters=self.parameters,
            schema=self._schema,
            repeat=repeat,
            timeout_seconds=self._timeout,
        )

    def _corrected(
        self, messages: tuple[Message, ...], answer: str, problem: str
    ) -> tuple[Message, ...]:
        """The request again, with the answer that was no verdict and what is wrong with it."""
        return (
            *messages,
            Message("assistant", answer[:_QUOTED_ANSWER_CHARACTERS] or "(empty)"),
            Message("user", _CORRECTION.format(problem=problem, form=self._form)),
        )


def failed_score(name: str, error: str, spent: Usage) -> Score:
    """The score of an output that got no verdict."""
    spending = Spending.on(Purpose.JUDGE, spent)
    return Score(0.0, error, name=name, error=error, spending=spending)


def _why(error: Exception) -> str:
    if isinstance(error, BurnishError):
        start = JUDGE_UNAVAILABLE if isinstance(error, UnavailableError) else "judge failed"
        return f"{start}: {error.what}: {error.why}"
    return f"judge failed: {type(error).__name__}: {error}"
