"""Endpoint client: requests to a vendor's API over HTTP, and what is let out of its failures."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, TypeVar

import httpx2

from burnish.domain import BurnishError, Clock
from burnish.models.endpoint.answers import parse_body
from burnish.models.endpoint.vendor import Stream, Vendor
from burnish.models.failures import (
    BadAnswerError,
    Endpoint,
    ErrorAnswer,
    TransientError,
    clean_message,
    error_of_bad_answer,
    error_of_status,
)
from burnish.models.retry import retry_after_seconds
from burnish.support.tls import tls_context

T = TypeVar("T")
LARGEST_BODY = 8 * 1024 * 1024
_VERSION = re.compile(r"v\d\w*")
_LONGEST_CONNECT_SECONDS = 10.0
_HEADERS = {
    "Accept": "application/json",
    # Compressed bytes could unpack to any size.
    "Accept-Encoding": "identity",
    "User-Agent": "burnish",
}


class EndpointClient:
    """Sends one request at a time; raises BurnishError or TransientError, nothing else.

    Errors of the connection hold the request with its headers, so none of them is let out, not even
    as the cause of ours. Redirects are not followed: the key would go with them.
    """

    def __init__(
        self,
        vendor: Vendor,
        endpoint: Endpoint,
        *,
        base_url: str,
        key: str,
        timeout_seconds: float,
        clock: Clock,
        largest_body: int = LARGEST_BODY,
    ) -> None:
        self._vendor = vendor
        self._endpoint = endpoint
        self._base_url = base_url
        self._key = key
        self._timeout = timeout_seconds
        self._clock = clock
        _quiet_logs()
        self._http = httpx2.AsyncClient(
            headers={**_HEADERS, **vendor.headers(key)},
            verify=tls_context(),
            timeout=httpx2.Timeout(
                timeout_seconds, connect=min(_LONGEST_CONNECT_SECONDS, timeout_seconds)
            ),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=100),
            event_hooks={
                "request": [] if vendor.sign is None else [partial(_sign, vendor.sign)],
                "response": [partial(_limit_body, largest_body)],
            },
        )

    async def post(
        self, path: str, *, stream: Callable[[], Stream] | None = None, **content: Any
    ) -> Mapping[str, Any]:
        """The JSON answer to one attempt; `content` is the body as httpx takes it.

        An answer that is streamed is put together, with `ttft_ms`.
        """
        return await self._attempt(self._posted(path, stream, content))

    async def fetch(self, method: str, path: str, **content: Any) -> bytes:
        """The answer to one attempt at any other request, such as one for a file."""
        return await self._attempt(self._fetched(method, path, content))

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _posted(
        self, path: str, stream: Callable[[], Stream] | None, content: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        started = self._clock.monotonic()
        async with self._open("POST", path, content) as response:
            kind = response.headers.get("content-type", "")
            if "event-stream" not in kind or stream is None:
                return parse_body(await response.aread(), kind)
            answer, first = stream(), None
            async for line in response.aiter_lines():
                answer.add(line)
                if first is None and answer.begun:
                    first = (self._clock.monotonic() - started) * 1000
        return {**answer.body(), "ttft_ms": first}

    async def _fetched(self, method: str, path: str, content: Mapping[str, Any]) -> bytes:
        async with self._open(method, path, content) as response:
            return await response.aread()

    @asynccontextmanager
    async def _open(
        self, method: str, path: str, content: Mapping[str, Any]
    ) -> AsyncIterator[httpx2.Response]:
        async with self._http.stream(method, self._url(path), **content) as response:
            if not response.is_success:
                await response.aread()
                raise _RefusedError(response)
            yield response

    def _url(self, path: str) -> str:
        """Below the address, which may be given with the version that the path begins with."""
        version, _, rest = path.partition("/")
        given = _VERSION.fullmatch(version) and self._base_url.endswith(f"/{version}")
        return f"{self._base_url}/{rest if given else path}"

    async def _attempt(self, call: Awaitable[T]) -> T:
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
        said = self._vendor.read_error(response.content)
        words = {name: value for name, value in said.items() if isinstance(value, str)}
        return error_of_status(
            ErrorAnswer(
                status=response.status_code,
                message=clean_message(words.get("message", ""), self._key),
                code=words.get("code") or words.get("type", ""),
                param=words.get("param", ""),
            ),
            self._endpoint,
            retry_after=retry_after_seconds(
                # Some vendors say it in the answer.
                {**_said_delay(words.get("retry_after")), **response.headers},
                self._clock.now(),
            ),
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


def _said_delay(seconds: str | None) -> dict[str, str]:
    return {"retry-after": seconds} if seconds else {}


class _RefusedError(Exception):
    """An answer whose status says that there is none."""

    def __init__(self, response: httpx2.Response) -> None:
        super().__init__(response.status_code)
        self.response = response


async def _sign(sign: Callable[[httpx2.Request], None], request: httpx2.Request) -> None:
    sign(request)


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
