"""Scripted model: its answers, delays and failures are written down beforehand."""

from __future__ import annotations

import inspect
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from burnish.domain import (
    Clock,
    ModelRequest,
    ModelResponse,
    SystemClock,
    Usage,
    UsageError,
    canonical_hash,
    exact_hash,
)
from burnish.models.callable_model import lasting_fingerprint
from burnish.models.failures import Endpoint, ErrorAnswer, TransientError, error_of_status
from burnish.models.retry import RetryBudget, call_with_retries, within
from burnish.support.retry import RetryPolicy

Said = str | ModelResponse
AnswerFunction = Callable[[ModelRequest], Said] | Callable[[ModelRequest], Awaitable[Said]]
Answers = AnswerFunction | Mapping[str, Said] | Sequence[Said]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRule:
    """Which attempts fail, and how.

    The first `attempts` attempts (None: all) of a `share` of the requests fail with an HTTP
    `status`; 0 stands for a lost connection. Which requests, depends on their content.
    """

    status: int = 429
    attempts: int | None = 1
    share: float = 1.0
    retry_after: float | None = None


class ScriptedModel:
    """Answers without a model, the same for equal requests whatever the order of calls.

    `answer` is a function of the request, a mapping from the last user message, or a sequence of
    which each request draws one; each answer is a text, or a ModelResponse where it calls tools or ends
    otherwise. Latency is a number of seconds or a range to draw from. Failures
    are retried as for a real endpoint. Tokens are counted by `count`, words unless told, and
    priced by `price` in USD per million (input, output).
    """

    def __init__(
        self,
        answer: Answers,
        *,
        name: str = "scripted/test",
        latency_seconds: float | tuple[float, float] = 0.0,
        errors: Sequence[ErrorRule] = (),
        count: Callable[[str], int] | None = None,
        price: tuple[float, float] = (0.0, 0.0),
        policy: RetryPolicy | None = None,
        clock: Clock | None = None,
        seed: int = 0,
    ) -> None:
        if not callable(answer) and not answer:
            raise UsageError(
                what=f"the script of {name} cannot be used",
                why="it holds no answer",
                fix="give at least one",
                code="not_scripted",
            )
        self.name = name
        self.calls = 0
        self.attempts = 0
        self.fingerprint = f"{name}@{canonical_hash([_identity(answer), seed])}"
        self._answer = answer
        self._latency = latency_seconds
        self._errors = tuple(errors)
        self._count = count or _words
        self._price = price
        self._policy = policy or RetryPolicy()
        self._clock = clock or SystemClock()
        self._seed = seed
        # A script fails on purpose, so its retries are bounded by the policy alone.
        self._budget = RetryBudget(clock=self._clock, capacity=math.inf)

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """The scripted answer, after its delay and its failures."""
        self.calls += 1
        return await within(request.timeout_seconds, self._complete(request), who=self.name)

    async def close(self) -> None:
        """Nothing is held."""

    async def _complete(self, request: ModelRequest) -> ModelResponse:
        async def attempt(number: int) -> ModelResponse:
            self.attempts += 1
            seconds = self._delay(request)
            if seconds > 0:
                await self._clock.sleep(seconds)
            self._fail(request, number)
            said = await self._said(request)
            response = ModelResponse(text=said) if isinstance(said, str) else said
            known = response.usage.input_tokens or response.usage.output_tokens
            usage = response.usage if known else self._usage(request, response)
            return replace(response, usage=usage)

        return await call_with_retries(
            attempt,
            what=f"{self.name} cannot be reached",
            policy=self._policy,
            budget=self._budget,
            clock=self._clock,
            draw=lambda: self._draw("jitter", request),
        )

    async def _said(self, request: ModelRequest) -> Said:
        if callable(self._answer):
            given = self._answer(request)
            return await given if inspect.isawaitable(given) else given
        if isinstance(self._answer, Mapping):
            asked = last_user_message(request)
            if asked not in self._answer:
                raise UsageError(
                    what=f"{self.name} has no answer to this request",
                    why="the last user message is not in its script",
                    fix="add the message to the script",
                    code="not_scripted",
                )
            return self._answer[asked]
        return self._answer[int(self._draw("answer", request) * len(self._answer))]

    def _fail(self, request: ModelRequest, number: int) -> None:
        for index, rule in enumerate(self._errors):
            late = rule.attempts is not None and number > rule.attempts
            if late or self._draw(f"error {index}", request) >= rule.share:
                continue
            if rule.status == 0:
                raise TransientError("the connection was lost")
            endpoint = Endpoint(self.name, self.name, "")
            answer = ErrorAnswer(status=rule.status)
            raise error_of_status(answer, endpoint, retry_after=rule.retry_after)

    def _delay(self, request: ModelRequest) -> float:
        if isinstance(self._latency, tuple):
            shortest, longest = self._latency
            return shortest + (longest - shortest) * self._draw("latency", request)
        return self._latency

    def _usage(self, request: ModelRequest, response: ModelResponse) -> Usage:
        read = sum(self._count(message.content) for message in request.messages)
        written = self._count(response.text) + sum(
            self._count(f"{call.name} {call.arguments}") for call in response.tool_calls
        )
        cost = (read * self._price[0] + written * self._price[1]) / 1_000_000
        return Usage(calls=1, input_tokens=read, output_tokens=written, cost_usd=cost)

    def _draw(self, purpose: str, request: ModelRequest) -> float:
        """Between 0 and 1, by content and seed alone: the order of calls has no part in it."""
        digest = exact_hash([self._seed, purpose, request.to_json()])
        return int(digest[:13], 16) / 16**13


def last_user_message(request: ModelRequest) -> str:
    """What the user said last; empty when nobody did."""
    said = [message.content for message in request.messages if message.role == "user"]
    return said[-1] if said else ""


def _words(text: str) -> int:
    return len(text.split())


def _identity(answer: Answers) -> object:
    if callable(answer):
        return lasting_fingerprint(answer)
    if isinstance(answer, Mapping):
        return {asked: _plain(said) for asked, said in answer.items()}
    return [_plain(said) for said in answer]


def _plain(said: Said) -> object:
    return said if isinstance(said, str) else said.to_json()
