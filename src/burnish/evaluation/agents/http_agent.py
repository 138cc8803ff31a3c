"""HTTP agent: the configuration and the item are posted as JSON to a URL."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from burnish.domain import (
    AgentOutput,
    Configuration,
    Item,
    SystemClock,
    UsageError,
    canonical_hash,
    current_experiment,
)
from burnish.evaluation.agents.answers import read_answer
from burnish.models.failures import TransientError, clean_message
from burnish.models.limiter import shared_limits
from burnish.models.outbound_rules import OutboundRules, without_query
from burnish.models.retry import call_with_retries, retry_after_seconds
from burnish.models.settings import ModelSettings
from burnish.support.retry import RetryPolicy
from burnish.support.tls import tls_context

if TYPE_CHECKING:
    import httpx2

LARGEST_ANSWER = 8 * 1024 * 1024
_TRANSIENT = frozenset({408, 409, 429})


class HttpAgent:
    """Posts `{"configuration", "item", "repeat"}` and reads `{"output", "trace", "usage"}` or text.

    Where the item has pictures, `"pictures"` holds them by column, each with `media_type` and `data`.
    The service's code cannot be seen from here, so results are cached only under a given `version`.
    With `outbound`, the rules for a url of a request, no address is called that they refuse.
    """

    def __init__(
        self,
        *,
        name: str,
        configuration: Configuration,
        url: str,
        version: str | None = None,
        max_concurrency: int = 16,
        timeout_seconds: float | None = 120.0,
        outbound: OutboundRules | None = None,
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise UsageError(
                what=f"the agent {name!r} cannot be reached",
                why=f"{url!r} is not an http or https address",
                fix='write url = "http://127.0.0.1:9000/run"',
                code="invalid_agent",
            )
        if outbound is not None:
            outbound.require_listed(url)
        self.name = name
        self.configuration = configuration
        self._url = url
        self._outbound = outbound
        self._timeout = timeout_seconds or 120.0
        self._settings = ModelSettings(max_concurrency=max_concurrency)
        self._clock = SystemClock()
        self._client: httpx2.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.fingerprint = canonical_hash(["http-agent/1", url, version]) if version else None

    async def run(self, configuration: Configuration, item: Item, *, repeat: int) -> AgentOutput:
        """One answer of the service, after retries of what is transient."""
        body: dict[str, Any] = {
            "configuration": configuration.to_json(),
            "item": {**item.row, "id": item.id},
            "repeat": repeat,
        }
        if item.pictures:
            body["pictures"] = {
                column: [{"media_type": one.media_type, "data": one.data} for one in many]
                for column, many in item.pictures.items()
            }
        experiment = current_experiment()
        if experiment is not None:
            body["experiment"] = experiment.to_json()
        limits = shared_limits(self._url, "", self._settings, self._clock)

        async def attempt(number: int) -> AgentOutput:
            async with limits.limiter.slot() as permit:
                try:
                    output = await self._post(body)
                except TransientError as error:
                    if error.status == 429:
                        permit.throttled(error.retry_after or 0.5 * number)
                    raise
                permit.succeeded(0)
                return output

        return await call_with_retries(
            attempt,
            what=f"the agent at {without_query(self._url)} cannot be reached",
            policy=RetryPolicy(deadline_seconds=self._timeout),
            budget=limits.budget,
            clock=self._clock,
            draw=random.random,
        )

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.aclose()

    async def _post(self, body: Mapping[str, Any]) -> AgentOutput:
        import httpx2  # noqa: PLC0415 - slow to load, and only this agent needs it

        try:
            async with self._open_client().stream("POST", self._url, json=body) as response:
                content = await read_limited(response)
                self._check_status(response, content)
                return _read_output(content, response.headers.get("content-type", ""))
        except httpx2.TimeoutException:
            raise TransientError(f"no answer within {self._timeout:g} s") from None
        except httpx2.HTTPError as error:
            raise TransientError(
                f"the connection failed ({type(error).__name__})",
                fix="check the url and that the service runs",
            ) from None

    def _check_status(self, response: httpx2.Response, content: bytes) -> None:
        status = response.status_code
        if status < 300:
            return
        said = clean_message(content[:2000].decode("utf-8", "replace"))
        if status in _TRANSIENT or status >= 500:
            raise TransientError(
                f"it answered with status {status}: {said}",
                status=status,
                retry_after=retry_after_seconds(response.headers, self._clock.now()),
            )
        raise UsageError(
            what=f"the agent at {without_query(self._url)} refused the request",
            why=f"it answered with status {status}: {said}",
            fix='check the url, and that the service takes the row as "item" beside '
            '"configuration" and "repeat" (docs/guide.md has one)',
            code="bad_key" if status in (401, 403) else "request_refused",
        )

    def _open_client(self) -> httpx2.AsyncClient:
        import httpx2  # noqa: PLC0415

        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self._loop = loop
            self._client = httpx2.AsyncClient(
                timeout=self._timeout,
                headers={"Accept-Encoding": "identity"},
                transport=_guarded(self._outbound),
                verify=tls_context(),
                # Neither proxies nor stored passwords of this machine for a url of a request.
                trust_env=self._outbound is None,
                follow_redirects=False,
            )
        return self._client


def _guarded(rules: OutboundRules | None) -> httpx2.AsyncBaseTransport | None:
    if rules is None:
        return None
    from burnish.models.outbound_transport import GuardedTransport  # noqa: PLC0415 - loads httpx2

    return GuardedTransport(rules)


async def read_limited(response: httpx2.Response) -> bytes:
    """The whole of an answer; UsageError once it is larger than any should be."""
    content = bytearray()
    async for chunk in response.aiter_raw():
        content += chunk
        if len(content) > LARGEST_ANSWER:
            raise UsageError(
                what="the agent's answer cannot be used",
                why=f"it is larger than {LARGEST_ANSWER // 1024**2} MB",
                fix="return a shorter output, and put large data elsewhere",
                code="answer_too_large",
            )
    return bytes(content)


def _read_output(content: bytes, content_type: str) -> AgentOutput:
    text = content.decode("utf-8", "replace")
    if "json" not in content_type:
        return AgentOutput(text=text)
    try:
        return read_answer(text)
    except ValueError:
        raise TransientError("it answered with broken JSON") from None
