"""OpenAI's SDK, held to our limits. Import it late: the SDK is slow to load."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any, Protocol

import httpx2
import openai

from burnish.domain import BurnishError, Clock
from burnish.models.failures import (
    BadAnswerError,
    Endpoint,
    TransientError,
    clean_message,
    error_of_bad_answer,
    error_of_status,
)
from burnish.models.openai.wire import StreamedAnswer, parse_body
from burnish.models.retry import retry_after_seconds
from burnish.support.tls import tls_context

LARGEST_BODY = 8 * 1024 * 1024
_LONGEST_CONNECT_SECONDS = 10.0


class _RawAnswer(Protocol):
    """What the SDK gives where it is told to read nothing itself."""

    @property
    def http_response(self) -> httpx2.Response: ...


class OpenAIClient:
    """Sends one request at a time; raises BurnishError or TransientError, nothing else.

    The SDK's own errors hold the request with its headers, so none of them is let out, not even
    as the cause of ours.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        base_url: str,
        key: str,
        timeout_seconds: float,
        clock: Clock,
        largest_body: int = LARGEST_BODY,
    ) -> None:
        self._endpoint = endpoint
        self._key = key
        self._timeout = timeout_seconds
        self._clock = clock
        _quiet_logs()
        # The SDK follows redirects by default, with the key in its hand; a client of ours doesn't.
        http = httpx2.AsyncClient(
            verify=tls_context(),
            timeout=httpx2.Timeout(
                timeout_seconds, connect=min(_LONGEST_CONNECT_SECONDS, timeout_seconds)
            ),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=100),
            event_hooks={"response": [partial(_limit_body, largest_body)]},
        )
        self._sdk = openai.AsyncOpenAI(
            api_key=key,
            base_url=base_url,
            max_retries=0,
            http_client=http,
            # Compressed bytes could unpack to any size.
            default_headers={"Accept-Encoding": "identity"},
        )

    async def chat(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """The endpoint's JSON answer to one attempt at a chat completion."""
        # All parameters travel as extra_body, so any that the endpoint knows may be given.
        completions = self._sdk.chat.completions
        asked: dict[str, Any] = {
            "model": body["model"],
            "messages": body["messages"],
            "extra_body": _without(body, "model", "messages"),
        }
        if body.get("stream"):
            return await self._attempt(
                self._streamed(completions.with_streaming_response.create(**asked))
            )
        return await self._attempt(_whole(completions.with_raw_response.create(**asked)))

    async def respond(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """The endpoint's JSON answer to one attempt at a response."""
        responses = self._sdk.responses.with_raw_response
        return await self._attempt(
            _whole(
                responses.create(
                    model=body["model"],
                    input=body["input"],
                    extra_body=_without(body, "model", "input"),
                )
            )
        )

    async def draw(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """The endpoint's JSON answer to one attempt at a picture."""
        images = self._sdk.images.with_raw_response
        return await self._attempt(
            _whole(images.generate(prompt=body["prompt"], extra_body=_without(body, "prompt")))
        )

    async def redraw(
        self, body: Mapping[str, Any], picture: tuple[str, bytes, str]
    ) -> Mapping[str, Any]:
        """The same from a picture, given as file name, bytes and media type."""
        images = self._sdk.images.with_raw_response
        return await self._attempt(
            _whole(
                images.edit(
                    image=picture, prompt=body["prompt"], extra_body=_without(body, "prompt")
                )
            )
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._sdk.close()

    async def _streamed(self, call: AbstractAsyncContextManager[Any]) -> Mapping[str, Any]:
        """The answer put together, with `ttft_ms`; one that came as a whole all the same as it is."""
        started = self._clock.monotonic()
        async with call as response:
            kind = response.headers.get("content-type", "")
            if "event-stream" not in kind:
                return parse_body(await response.read(), kind)
            answer, first = StreamedAnswer(), None
            async for line in response.iter_lines():
                answer.add(line)
                if first is None and answer.begun:
                    first = (self._clock.monotonic() - started) * 1000
        return {**answer.body(), "ttft_ms": first}

    async def _attempt(self, call: Awaitable[Mapping[str, Any]]) -> Mapping[str, Any]:
        failure: BurnishError | TransientError
        try:
            async with asyncio.timeout(self._timeout):
                return await call
        except openai.APIStatusError as error:
            failure = self._refusal(error)
        except (openai.OpenAIError, httpx2.HTTPError, BadAnswerError, TimeoutError) as error:
            failure = self._breakdown(error)
        raise failure

    def _refusal(self, error: openai.APIStatusError) -> BurnishError | TransientError:
        body = error.body
        said = body.get("message") if isinstance(body, Mapping) else None
        return error_of_status(
            error.status_code,
            self._endpoint,
            message=clean_message(said, self._key) if isinstance(said, str) else "",
            code=str(error.code or error.type or ""),
            retry_after=retry_after_seconds(error.response.headers, self._clock.now()),
        )

    def _breakdown(self, error: Exception) -> TransientError:
        address = self._endpoint.address
        if isinstance(error, BadAnswerError):
            # It may quote the answer's headers, and those may quote ours.
            return error_of_bad_answer(clean_message(str(error), self._key), self._endpoint)
        if isinstance(error, (TimeoutError, openai.APITimeoutError)):
            reason = f"{address} did not answer within {self._timeout:g} s"
            fix = "raise timeout_seconds, or try again later"
            return TransientError(reason, fix=fix, code="timeout")
        if isinstance(error.__cause__, httpx2.ConnectError):
            fix = "check base_url, the network and that the server runs"
            return TransientError(f"no connection to {address}", fix=fix)
        return TransientError(f"{address} cut the connection before the answer was complete")


async def _whole(call: Awaitable[_RawAnswer]) -> Mapping[str, Any]:
    response = (await call).http_response
    return parse_body(response.content, response.headers.get("content-type", ""))


def _without(body: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name not in names}


async def _limit_body(limit: int, response: httpx2.Response) -> None:
    declared = response.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > limit:
        raise _too_large(limit)
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise BadAnswerError("it is compressed, which was not asked for")
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    response.stream = _CountedStream(response.stream, limit)


class _CountedStream(httpx2.AsyncByteStream):
    """Stops reading at the limit instead of after it."""

    def __init__(self, stream: httpx2.AsyncByteStream, limit: int) -> None:
        self._stream = stream
        self._limit = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        seen = 0
        async for chunk in self._stream:
            seen += len(chunk)
            if seen > self._limit:
                raise _too_large(self._limit)
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


def _too_large(limit: int) -> BadAnswerError:
    return BadAnswerError(f"it is larger than {limit // 1024**2} MB")


def _quiet_logs() -> None:
    """Keep response headers, which this library logs when debugging, out of all logs."""
    logger = logging.getLogger("httpcore2")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.INFO)
