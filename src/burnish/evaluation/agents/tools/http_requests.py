"""Tools that are HTTP requests: arguments go into path, query, headers or a JSON body."""

from __future__ import annotations

import asyncio
import math
import random
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from burnish.domain import Json, SystemClock, UsageError, canonical_hash
from burnish.evaluation.agents.http_agent import read_limited
from burnish.evaluation.agents.tools.tool import ToolFailure, filled, fit_name, result_text
from burnish.models.failures import TransientError, clean_message
from burnish.models.outbound_rules import without_query
from burnish.models.retry import RetryBudget, call_with_retries, retry_after_seconds
from burnish.support.retry import RetryPolicy
from burnish.support.tls import tls_context

if TYPE_CHECKING:
    import httpx2

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
IDEMPOTENCY_HEADER = "Idempotency-Key"
_WITH_BODY = ("POST", "PUT", "PATCH")
# What may be sent again although the first request may have arrived.
_REPEATABLE = ("GET", "PUT", "DELETE", "HEAD", "OPTIONS")
_IN_PATH = re.compile(r"\{([^{}]+)\}")
_TRANSIENT = frozenset({408, 429, 502, 503, 504})
_POLICY = RetryPolicy(max_attempts=4, deadline_seconds=60.0)


class HttpTool:
    """Sends one request a call. A refusal by the server is told to the model.

    `places` says where a parameter goes (path, query, header, cookie, body); others go where the
    method has them. The code behind the url cannot be seen, so results are reused only under a given
    `version`. A header may name a variable: `Bearer ${SHOP_KEY}`.
    """

    def __init__(
        self,
        *,
        name: str,
        description: str,
        parameters: Mapping[str, Json],
        url: str,
        method: str = "GET",
        places: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        timeout_seconds: float = 60.0,
        version: str | None = None,
    ) -> None:
        self.name = fit_name(name)
        self.description = description
        self.parameters = parameters
        self._method = _checked_method(method, name)
        self._url = _checked_url(url, name)
        self._places = dict(places or {})
        self._headers = dict(headers or {})
        self._timeout = timeout_seconds
        self._clock = SystemClock()
        self._budget = RetryBudget(clock=self._clock, capacity=math.inf)
        self._client: httpx2.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        known = ["http-tool/1", self._method, url, self._places, self._headers, version]
        self.fingerprint = canonical_hash(known) if version else None

    async def call(self, arguments: Mapping[str, Json], *, idempotency_key: str) -> str:
        """What the server answered, as text."""
        request = self._request(arguments, idempotency_key)

        async def attempt(_number: int) -> str:
            return await self._send(request)

        return await call_with_retries(
            attempt,
            what=f"the tool {self.name!r} at {without_query(self._url)} cannot be reached",
            policy=_POLICY,
            budget=self._budget,
            clock=self._clock,
            draw=random.random,
        )

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.aclose()

    def _request(self, arguments: Mapping[str, Json], key: str) -> dict[str, Any]:
        parts: dict[str, dict[str, Json]] = {"path": {}, "query": {}, "header": {}, "body": {}}
        cookies: dict[str, Json] = {}
        whole: list[Json] = []
        in_path = set(_IN_PATH.findall(self._url))
        for name, value in arguments.items():
            usual = "body" if self._method in _WITH_BODY else "query"
            place = self._places.get(name, "path" if name in in_path else usual)
            if place == "whole body":
                whole.append(value)
            elif place == "cookie":
                cookies[name] = value
            else:
                parts[place][name] = value
        given = {**self._headers, IDEMPOTENCY_HEADER: key}
        headers = {name: filled(value, self.name) for name, value in given.items()}
        headers |= {name: _word(value) for name, value in parts["header"].items()}
        if cookies:
            headers["Cookie"] = "; ".join(f"{one}={_word(value)}" for one, value in cookies.items())
        body: Json = whole[0] if whole else parts["body"] or None
        return {
            "method": self._method,
            "url": _IN_PATH.sub(lambda found: self._path_word(found[1], arguments), self._url),
            "params": {name: _query(value) for name, value in parts["query"].items()} or None,
            "headers": headers,
            **({} if body is None else {"json": body}),
        }

    def _path_word(self, name: str, arguments: Mapping[str, Json]) -> str:
        if name not in arguments:
            raise ToolFailure(f"the argument {name!r} is missing")
        return quote(_word(arguments[name]), safe="")

    async def _send(self, request: Mapping[str, Any]) -> str:
        import httpx2  # noqa: PLC0415 - slow to load, and only these tools need it

        again = self._method in _REPEATABLE
        try:
            async with self._open_client().stream(**request) as response:
                content = await read_limited(response)
        except httpx2.ConnectError:
            raise TransientError("nothing answers there", fix="start the service") from None
        except httpx2.TimeoutException:
            raise _lost(f"no answer within {self._timeout:g} s", again=again) from None
        except httpx2.HTTPError as error:
            why = f"the connection failed ({type(error).__name__})"
            raise _lost(why, again=again) from None
        text = content.decode("utf-8", "replace")
        if response.status_code < 300:
            return result_text(text or "done")
        if response.status_code in _TRANSIENT and again:
            wait = retry_after_seconds(response.headers, self._clock.now())
            raise TransientError(
                f"it answered with status {response.status_code}: {clean_message(text[:2000])}",
                status=response.status_code,
                retry_after=wait,
            )
        raise ToolFailure(f"status {response.status_code}: {result_text(text)}")

    def _open_client(self) -> httpx2.AsyncClient:
        import httpx2  # noqa: PLC0415

        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self._loop = loop
            self._client = httpx2.AsyncClient(
                timeout=self._timeout,
                headers={"Accept-Encoding": "identity"},
                verify=tls_context(),
                follow_redirects=False,
            )
        return self._client


def _lost(why: str, *, again: bool) -> Exception:
    """What has perhaps arrived is not sent twice: the model is told that nobody knows."""
    return TransientError(why) if again else ToolFailure(f"{why}; it may have been done")


def _checked_method(method: str, name: str) -> str:
    if method.upper() not in METHODS:
        raise UsageError(
            what=f"the tool {name!r} cannot be used",
            why=f"{method!r} is no HTTP method",
            fix=f"write one of {', '.join(METHODS)}",
            code="invalid_tool",
        )
    return method.upper()


def _checked_url(url: str, name: str) -> str:
    parts = urlsplit(url)
    why = None
    if parts.scheme not in ("http", "https") or not parts.netloc:
        why = "its url is no http or https address"
    elif "@" in parts.netloc:
        why = "its url holds a user or a password, which would be stored with every run"
    if why is not None:
        raise UsageError(
            what=f"the tool {name!r} cannot be used",
            why=why,
            fix='write url = "http://127.0.0.1:9000/orders/{order_id}", or give base_url',
            code="invalid_tool",
        )
    return url


def _word(value: Json) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ",".join(map(_word, value))
    return value if isinstance(value, str) else result_text(value)


def _query(value: Json) -> Any:
    return [_word(one) for one in value] if isinstance(value, list) else _word(value)
