"""Any endpoint that speaks OpenAI's chat API."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from burnish.domain import (
    Clock,
    ModelRequest,
    ModelResponse,
    SystemClock,
    UsageError,
    canonical_hash,
)
from burnish.models.deadlines import within
from burnish.models.failures import (
    BadAnswerError,
    Endpoint,
    TransientError,
    error_of_bad_answer,
)
from burnish.models.limiter import shared_limits
from burnish.models.openai_wire import read_answer, request_body
from burnish.models.pricing import price_call
from burnish.models.retry import RetryPolicy, call_with_retries
from burnish.models.settings import ModelSettings
from burnish.models.tokens import count_message_tokens

if TYPE_CHECKING:
    from burnish.models.openai_client import OpenAIClient

_OPENAI = "https://api.openai.com/v1"
_DEFAULT_KEY_ENV = "OPENAI_API_KEY"
# The SDK insists on some key; local servers ignore it.
_NO_KEY = "no-key-given"


class OpenAIModel:
    """`openai/NAME` at OpenAI, or at whatever compatible endpoint `base_url` names.

    Without the setting, `OPENAI_BASE_URL` counts, as it does for the SDK. The key is read from the
    environment once and goes nowhere but into the request's header.
    """

    def __init__(
        self,
        name: str,
        settings: ModelSettings | None = None,
        *,
        clock: Clock | None = None,
        draw: Callable[[], float] = random.random,
    ) -> None:
        self.settings = _with_address(settings or ModelSettings())
        self.name = f"openai/{name}"
        self._model = name
        self._clock = clock or SystemClock()
        self._draw = draw
        self._base_url = (self.settings.base_url or _OPENAI).rstrip("/")
        self._key = _read_key(self.name, self._base_url, self.settings)
        given = self._key != _NO_KEY
        self._key_env = (self.settings.api_key_env or _DEFAULT_KEY_ENV) if given else ""
        self._endpoint = Endpoint(self.name, self._base_url, self._key_env)
        self._client: OpenAIClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._policy = RetryPolicy(
            max_attempts=self.settings.max_attempts,
            deadline_seconds=self.settings.deadline_seconds,
        )
        self.fingerprint = f"{self.name}@" + canonical_hash(
            [self.settings.api, self._base_url, self.settings.grammar]
        )

    def __repr__(self) -> str:
        return f"OpenAIModel({self._model!r}, base_url={self._base_url!r})"

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """One answer, after as many attempts as settings and deadline allow."""
        seconds = request.timeout_seconds or self.settings.deadline_seconds
        return await within(seconds, self._complete(request, seconds), who=self.name)

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.close()

    async def _complete(self, request: ModelRequest, seconds: float) -> ModelResponse:
        body = request_body(self._model, request, grammar=self.settings.grammar)
        limits = shared_limits(self._base_url, self._key_env, self.settings, self._clock)
        tokens = self._estimate(request) if limits.limiter.counts_tokens else 0
        client = self._open_client()

        async def attempt(number: int) -> ModelResponse:
            async with limits.limiter.slot(tokens) as permit:
                try:
                    response = self._read(await client.send(body), request)
                except TransientError as error:
                    if error.status == 429:
                        permit.throttled(self._pause_seconds(error, number))
                    raise
                permit.succeeded(response.usage.input_tokens + response.usage.output_tokens)
                return response

        return await call_with_retries(
            attempt,
            what=f"{self.name} cannot be reached",
            policy=replace(self._policy, deadline_seconds=seconds),
            budget=limits.budget,
            clock=self._clock,
            draw=self._draw,
        )

    def _open_client(self) -> OpenAIClient:
        """The client of the running loop: connections cannot move to another one."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            from burnish.models.openai_client import OpenAIClient  # noqa: PLC0415

            self._loop = loop
            self._client = OpenAIClient(
                self._endpoint,
                base_url=self._base_url,
                key=self._key,
                timeout_seconds=self.settings.timeout_seconds,
                clock=self._clock,
            )
        return self._client

    def _read(self, answer: Mapping[str, Any], request: ModelRequest) -> ModelResponse:
        try:
            response = read_answer(answer, self._model, request)
        except BadAnswerError as error:
            raise error_of_bad_answer(str(error), self._endpoint) from error
        base_url = None if self._base_url == _OPENAI else self._base_url
        cost = price_call(self._model, response.usage, settings=self.settings, base_url=base_url)
        return replace(response, usage=replace(response.usage, cost_usd=cost))

    def _estimate(self, request: ModelRequest) -> int:
        """Tokens before the call: the prompt, and as much answer as is allowed."""
        parameters = request.parameters
        longest = parameters.get("max_completion_tokens") or parameters.get("max_tokens")
        allowed = longest if isinstance(longest, int) else 0
        return count_message_tokens(request.messages, self._model) + allowed

    def _pause_seconds(self, error: TransientError, number: int) -> float:
        if error.retry_after is None:
            return self._policy.backoff_seconds(number)
        return min(error.retry_after, self._policy.longest_retry_after_seconds)


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
