"""OpenAI access: one model's key, address, limits, retries and prices at an endpoint."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from burnish.domain import (
    Clock,
    PaidAnswerError,
    SystemClock,
    UnavailableError,
    Usage,
    UsageError,
)
from burnish.models.failures import BadAnswerError, Endpoint, TransientError, error_of_bad_answer
from burnish.models.limiter import shared_limits
from burnish.models.openai.wire import read_response_usage
from burnish.models.pricing import price_call
from burnish.models.retry import call_with_retries, within
from burnish.models.settings import ModelSettings
from burnish.models.traffic import current_traffic
from burnish.support.retry import RetryPolicy

if TYPE_CHECKING:
    from burnish.models.openai.client import OpenAIClient

T = TypeVar("T")
_OPENAI = "https://api.openai.com/v1"
_DEFAULT_KEY_ENV = "OPENAI_API_KEY"
# Sent where no key is given; local servers ignore it.
_NO_KEY = "no-key-given"


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """What was read of an answer, and what it took; `latency_ms` is of the one attempt it came from.

    `image_tokens` are those of the input, `output_image_tokens` those of the output that are pictures.
    """

    value: T
    usage: Usage
    image_tokens: int = 0
    output_image_tokens: int = 0
    latency_ms: float | None = None


class OpenAIAccess:
    """Makes calls on behalf of a model, as often and as fast as its settings allow.

    Without a `base_url` in the settings `OPENAI_BASE_URL` counts, as it does for OpenAI's own client.
    The key is read from the environment once and goes nowhere but into the request's header.
    """

    def __init__(
        self,
        name: str,
        settings: ModelSettings,
        *,
        clock: Clock | None = None,
        draw: Callable[[], float] = random.random,
        answers: str = "a chat completion",
        largest_body: int | None = None,
    ) -> None:
        self.settings = _with_address(settings)
        self.name = f"openai/{name}"
        self.model = name
        self.clock = clock or SystemClock()
        self.draw = draw
        self.base_url = (self.settings.base_url or _OPENAI).rstrip("/")
        self._key = _read_key(self.name, self.base_url, self.settings)
        given = self._key != _NO_KEY
        self._key_env = (self.settings.api_key_env or _DEFAULT_KEY_ENV) if given else ""
        self._endpoint = Endpoint(self.name, self.base_url, self._key_env, answers)
        self._largest_body = largest_body
        self._client: OpenAIClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.policy = RetryPolicy(
            max_attempts=self.settings.max_attempts,
            deadline_seconds=self.settings.deadline_seconds,
        )

    async def call(
        self,
        send: Callable[[OpenAIClient], Awaitable[Mapping[str, Any]]],
        read: Callable[[Mapping[str, Any]], Answer[T]],
        *,
        tokens: Callable[[], int] = lambda: 0,
        seconds: float | None = None,
    ) -> Answer[T]:
        """One answer with its price, after as many attempts as settings and deadline allow.

        `tokens` estimates the call's size, and is asked only where tokens a minute are limited. What
        attempts cost whose answer could not be used is in the usage, also in that of an error.
        """
        longest = seconds or self.settings.deadline_seconds
        wasted: list[Usage] = []
        try:
            work = self._call(send, read, tokens, longest, wasted)
            answer = await within(longest, work, who=self.name)
        except UnavailableError as error:
            if not wasted:
                raise
            failed = error
        else:
            return replace(answer, usage=sum(wasted, answer.usage))
        raise PaidAnswerError.of(failed, sum(wasted, Usage()))

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.close()

    async def _call(
        self,
        send: Callable[[OpenAIClient], Awaitable[Mapping[str, Any]]],
        read: Callable[[Mapping[str, Any]], Answer[T]],
        tokens: Callable[[], int],
        seconds: float,
        wasted: list[Usage],
    ) -> Answer[T]:
        limits = shared_limits(self.base_url, self._key_env, self.settings, self.clock)
        estimate = tokens() if limits.limiter.counts_tokens else 0
        client, traffic = self._open_client(), current_traffic()

        async def attempt(number: int) -> Answer[T]:
            async with limits.limiter.slot(estimate) as permit:
                try:
                    started = self.clock.monotonic()
                    with traffic.call(self.name):
                        told = await send(client)
                    seconds = self.clock.monotonic() - started
                    answer = replace(self._read(told, read, wasted), latency_ms=seconds * 1000)
                except TransientError as error:
                    if error.status == 429:
                        pause = self._pause_seconds(error, number)
                        permit.throttled(pause)
                        traffic.paused(self.name, pause, "it asked for less (429)")
                    raise
                permit.succeeded(answer.usage.input_tokens + answer.usage.output_tokens)
                return answer

        return await call_with_retries(
            attempt,
            what=f"{self.name} cannot be reached",
            policy=replace(self.policy, deadline_seconds=seconds),
            budget=limits.budget,
            clock=self.clock,
            draw=self.draw,
        )

    def _open_client(self) -> OpenAIClient:
        """The client of the running loop: connections cannot move to another one."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            from burnish.models.openai.client import LARGEST_BODY, OpenAIClient  # noqa: PLC0415

            self._loop = loop
            self._client = OpenAIClient(
                self._endpoint,
                base_url=self.base_url,
                key=self._key,
                timeout_seconds=self.settings.timeout_seconds,
                clock=self.clock,
                largest_body=self._largest_body or LARGEST_BODY,
            )
        return self._client

    def _read(
        self,
        body: Mapping[str, Any],
        read: Callable[[Mapping[str, Any]], Answer[T]],
        wasted: list[Usage],
    ) -> Answer[T]:
        try:
            answer = read(body)
        except BadAnswerError as error:
            # What tells its tokens was paid for.
            told = read_response_usage(body)
            wasted += [] if told is None else [self._priced(Answer(None, told))]
            raise error_of_bad_answer(str(error), self._endpoint) from error
        return replace(answer, usage=self._priced(answer))

    def _priced(self, answer: Answer[Any]) -> Usage:
        cost = price_call(
            self.model,
            answer.usage,
            settings=self.settings,
            base_url=None if self.base_url == _OPENAI else self.base_url,
            image_tokens=answer.image_tokens,
            output_image_tokens=answer.output_image_tokens,
        )
        return replace(answer.usage, cost_usd=cost)

    def _pause_seconds(self, error: TransientError, number: int) -> float:
        if error.retry_after is None:
            return self.policy.backoff_seconds(number)
        return min(error.retry_after, self.policy.longest_retry_after_seconds)


class OpenAICaller:
    """Base of what an endpoint does for one model: text, pictures or verdicts."""

    def __init__(self, access: OpenAIAccess) -> None:
        self._access = access
        self._model = access.model
        self.settings = access.settings
        self.name = access.name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._model!r}, base_url={self._access.base_url!r})"

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        await self._access.close()


def _with_address(settings: ModelSettings) -> ModelSettings:
    """The same settings, with the address from the environment where they name none."""
    given = os.environ.get("OPENAI_BASE_URL")
    return replace(settings, base_url=given) if given and settings.base_url is None else settings


def _read_key(name: str, address: str, settings: ModelSettings) -> str:
    variable = _DEFAULT_KEY_ENV if settings.api_key_env is None else settings.api_key_env
    key = os.environ.get(variable, "").strip() if variable else ""
    if not key and settings.api_key_env is None and address != _OPENAI:
        return _NO_KEY
    if not key and variable:
        raise UsageError(
            what=f"{name} cannot be used",
            why=f"the environment variable {variable} is not set",
            fix=f"put your key into {variable}, or set base_url to a server that needs none",
            code="missing_key",
        )
    if not (key.isascii() and key.isprintable()):
        raise UsageError(
            what=f"{name} cannot be used",
            why=f"the key in the environment variable {variable} holds characters that no key has",
            fix=f"copy the key into {variable} again, in one line and without quotes",
            code="bad_key",
        )
    return key or _NO_KEY
