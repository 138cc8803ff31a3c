"""Endpoint access: one model's key, address, limits, retries and prices."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from burnish.domain import (
    BurnishError,
    Clock,
    PaidAnswerError,
    SystemClock,
    UnavailableError,
    Usage,
    UsageError,
)
from burnish.models.endpoint.answers import Answer
from burnish.models.endpoint.vendor import Vendor
from burnish.models.failures import (
    BadAnswerError,
    Endpoint,
    ErrorAnswer,
    TransientError,
    clean_message,
    error_of_bad_answer,
    error_of_status,
)
from burnish.models.limiter import shared_limits
from burnish.models.pricing import price_call
from burnish.models.retry import call_with_retries, within
from burnish.models.settings import ModelSettings
from burnish.models.traffic import current_traffic
from burnish.support.retry import RetryPolicy

if TYPE_CHECKING:
    from burnish.models.endpoint.client import EndpointClient

T = TypeVar("T")
# Sent where no key is given; local servers ignore it.
_NO_KEY = "no-key-given"


class EndpointAccess:
    """Makes calls on behalf of a model, as often and as fast as its settings allow.

    Without a `base_url` in the settings the vendor's variable counts, as it does for its own client.
    The key is read from the environment, again when it is refused, and goes nowhere but into the
    request's header.
    """

    def __init__(
        self,
        vendor: Vendor,
        name: str,
        settings: ModelSettings,
        *,
        clock: Clock | None = None,
        draw: Callable[[], float] = random.random,
        answers: str = "a chat completion",
        largest_body: int | None = None,
    ) -> None:
        self.vendor = vendor
        self.settings = _with_address(vendor, settings)
        self.name = f"{vendor.provider}/{name}"
        self.model = name
        self.clock = clock or SystemClock()
        self.draw = draw
        self.base_url = (self.settings.base_url or vendor.address).rstrip("/")
        self._key = _read_key(vendor, self.name, self.base_url, self.settings)
        given = self._key != _NO_KEY
        self._key_env = (self.settings.api_key_env or vendor.key_env) if given else ""
        self._endpoint = Endpoint(self.name, self.base_url, self._key_env, answers, vendor.speaks)
        self._largest_body = largest_body
        self._client: EndpointClient | None = None
        self._renewed: list[EndpointClient] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self.policy = RetryPolicy(
            max_attempts=self.settings.max_attempts,
            deadline_seconds=self.settings.deadline_seconds,
        )

    async def call(
        self,
        send: Callable[[EndpointClient], Awaitable[Mapping[str, Any]]],
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
            work = self._by_key(lambda: self._call(send, read, tokens, longest, wasted))
            answer = await within(longest, work, who=self.name)
        except UnavailableError as error:
            if not wasted:
                raise
            failed = error
        else:
            return replace(answer, usage=sum(wasted, answer.usage))
        raise PaidAnswerError.of(failed, sum(wasted, Usage()))

    async def once(self, send: Callable[[EndpointClient], Awaitable[T]]) -> T:
        """One attempt and no other, for what must not be sent twice; TransientError is the caller's."""
        return await self._by_key(lambda: send(self._open_client()))

    def error_of(self, answer: ErrorAnswer) -> BurnishError | TransientError:
        """The error that an answer of the endpoint stands for."""
        clean = clean_message(answer.message, self._key)
        return error_of_status(replace(answer, message=clean), self._endpoint)

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        clients = [*self._renewed, *([] if self._client is None else [self._client])]
        self._renewed, self._client = [], None
        if self._loop is asyncio.get_running_loop():
            for client in clients:
                await client.close()

    async def _by_key(self, work: Callable[[], Awaitable[T]]) -> T:
        """What comes of it; where the key is refused and another has come meanwhile, by that one."""
        used = self._key
        try:
            return await work()
        except UsageError as error:
            if error.code != "bad_key":
                raise
            found = _read_key(self.vendor, self.name, self.base_url, self.settings)
            if found == used:
                raise
        if found != self._key:
            self._key = found
            self._renewed += [] if self._client is None else [self._client]
            self._client = None
        return await work()

    async def _call(
        self,
        send: Callable[[EndpointClient], Awaitable[Mapping[str, Any]]],
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
                    answer = replace(self.read(told, read, wasted), latency_ms=seconds * 1000)
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

    def _open_client(self) -> EndpointClient:
        """The client of the running loop: connections cannot move to another one."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            from burnish.models.endpoint.client import LARGEST_BODY, EndpointClient  # noqa: PLC0415

            self._loop = loop
            self._client = EndpointClient(
                self.vendor,
                self._endpoint,
                base_url=self.base_url,
                key=self._key,
                timeout_seconds=self.settings.timeout_seconds,
                clock=self.clock,
                largest_body=self._largest_body or LARGEST_BODY,
            )
        return self._client

    def read(
        self,
        body: Mapping[str, Any],
        read: Callable[[Mapping[str, Any]], Answer[T]],
        wasted: list[Usage],
    ) -> Answer[T]:
        """What an answer says, with its price; what one cost that cannot be used goes to `wasted`."""
        try:
            answer = read(body)
        except BadAnswerError as error:
            # What tells its tokens was paid for.
            told = self.vendor.read_usage(body)
            wasted += [] if told is None else [self.priced(told)]
            raise error_of_bad_answer(str(error), self._endpoint) from error
        return replace(answer, usage=self.priced(answer))

    def priced(self, answer: Answer[Any]) -> Usage:
        """What an answer took, with its price; None where nobody knows it."""
        cost = price_call(
            self.model,
            answer.usage,
            settings=self.settings,
            base_url=None if self.base_url == self.vendor.address else self.base_url,
            image_tokens=answer.image_tokens,
            output_image_tokens=answer.output_image_tokens,
            cache_write_tokens=answer.cache_write_tokens,
            provider=self.vendor.prices or self.vendor.provider,
        )
        return replace(answer.usage, cost_usd=cost)

    def _pause_seconds(self, error: TransientError, number: int) -> float:
        if error.retry_after is None:
            return self.policy.backoff_seconds(number)
        return min(error.retry_after, self.policy.longest_retry_after_seconds)


class EndpointCaller:
    """Base of what an endpoint does for one model: text, pictures or verdicts."""

    def __init__(self, access: EndpointAccess) -> None:
        self._access = access
        self._model = access.model
        self.settings = access.settings
        self.name = access.name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._model!r}, base_url={self._access.base_url!r})"

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        await self._access.close()


def _with_address(vendor: Vendor, settings: ModelSettings) -> ModelSettings:
    """The same settings, with the address from the environment where they name none."""
    given = os.environ.get(vendor.address_env) if vendor.address_env else None
    return replace(settings, base_url=given) if given and settings.base_url is None else settings


def _read_key(vendor: Vendor, name: str, address: str, settings: ModelSettings) -> str:
    variable = vendor.key_env if settings.api_key_env is None else settings.api_key_env
    key = os.environ.get(variable, "").strip() if variable else ""
    needed = settings.api_key_env is not None or (vendor.needs_key and address == vendor.address)
    if not key and variable and needed:
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
