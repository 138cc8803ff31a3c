"""OpenAI client: requests to an endpoint that speaks OpenAI's API, held to our limits."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Mapping
from functools import partial
from typing import Any

import httpx2

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
# Headers by which OpenAI bills an organisation or a project, from the variables of its own clients.
_BILLED = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}


class OpenAIClient:
    """Sends one request at a time; raises BurnishError or TransientError, nothing else.

    Errors of the connection hold the request with its headers, so none of them is let out, not even
    as the cause of ours. Redirects are not followed: the key would go with them.
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
        self._base_url = base_url
        self._key = key
        self._timeout = timeout_seconds
        self._clock = clock
        _quiet_logs()
        self._http = httpx2.AsyncClient(
            headers=_headers(key),
            verify=tls_context(),
            timeout=httpx2.Timeout(
                timeout_seconds, connect=min(_LONGEST_CONNECT_SECONDS, timeout_seconds)
            ),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=100),
            event_hooks={"response": [partial(_limit_body, largest_body)]},
        )

    async def chat(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """The endpoint's JSON answer to one attempt at a chat completion."""
        return await self._attempt(self._asked("chat/completions", json=body))

    async def respond(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """The endpoint's JSON answer to one attempt at a response."""
        return await self._attempt(self._asked("responses", json=body))

    async def draw(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """The endpoint's JSON answer to one attempt at a picture."""
        return await self._attempt(self._asked("images/generations", json=body))

    async def redraw(
        self, body: Mapping[str, Any], picture: tuple[str, bytes, str]
    ) -> Mapping[str, Any]:
        """The same from a picture, given as file name, bytes and media type."""
        return await self._attempt(self._asked("images/edits", data=body, files={"image": picture}))

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _asked(self, path: str, **content: Any) -> Mapping[str, Any]:
        """The answer; one that is streamed is put together, with `ttft_ms`."""
        started = self._clock.monotonic()
        async with self._http.stream("POST", f"{self._base_url}/{path}", **content) as response:
            kind = response.headers.get("content-type", "")
            if not response.is_success:
                await response.aread()
                raise _RefusedError(response)
            if "event-stream" not in kind:
                return parse_body(await response.aread(), kind)
            answer, first = StreamedAnswer(), None
            async for line in response.aiter_lines():
                answer.add(line)
                if first is None and answer.begun:
                    first = (self._clock.monotonic() - started) * 1000
        return {**answer.body(), "ttft_ms": first}

    async def _attempt(self, call: Awaitable[Mapping[str, Any]]) -> Mapping[str, Any]:
        failure: BurnishError | TransientError
        try:
            async with asyncio.timeout(self._timeout):
                return await call
        except _RefusedError as error:
            failure = self._refusal(error.response)
        except (httpx2.HTTPError, BadAnswerError, TimeoutError) as error:
            failure = self._breakdown(error)
        raise failure

    def _refusal(self, response: httpx2.Response) -> BurnishError | TransientError:
        said = _error_of(response.content)
        message = said.get("message")
        return error_of_status(
            response.status_code,
            self._endpoint,
            message=clean_message(message, self._key) if isinstance(message, str) else "",
            code=str(said.get("code") or said.get("type") or ""),
            retry_after=retry_after_seconds(response.headers, self._clock.now()),
        )

    def _breakdown(self, error: Exception) -> TransientError:
        address = self._endpoint.address
        if isinstance(error, BadAnswerError):
            # It may quote the answer's headers, and those may quote ours.
            return error_of_bad_answer(clean_message(str(error), self._key), self._endpoint)
        if isinstance(error, (TimeoutError, httpx2.TimeoutException)):
            reason = f"{address} did not answer within {self._timeout:g} s"
            fix = "raise timeout_seconds, or try again later"
            return TransientError(reason, fix=fix, code="timeout")
        if isinstance(error, httpx2.ConnectError):
            fix = "check base_url, the network and that the server runs"
            return TransientError(f"no connection to {address}", fix=fix)
        return TransientError(f"{address} cut the connection before the answer was complete")


class _RefusedError(Exception):
    """An answer whose status says that there is none."""

    def __init__(self, response: httpx2.Response) -> None:
        super().__init__(response.status_code)
        self.response = response


def _error_of(content: bytes) -> Mapping[str, Any]:
    """What an answer says went wrong; nothing where it is no such JSON."""
    try:
        said = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    inner = said.get("error", said) if isinstance(said, Mapping) else None
    return inner if isinstance(inner, Mapping) else {}


def _headers(key: str) -> dict[str, str]:
    billed = {header: os.environ.get(name, "").strip() for header, name in _BILLED.items()}
    return {
        "Authorization": f"Bearer {key}",
        "Accept": "application/json",
        # Compressed bytes could unpack to any size.
        "Accept-Encoding": "identity",
        "User-Agent": "burnish",
        **{header: value for header, value in billed.items() if value},
    }


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
