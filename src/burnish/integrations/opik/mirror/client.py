"""Client of an Opik server: compressed, tried again with growing waits, and never for ever."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from burnish.domain import Clock, SystemClock, UnavailableError, UsageError
from burnish.domain.opik import MirrorTarget
from burnish.support.retry import RetryPolicy, retry
from burnish.support.tls import tls_context

if TYPE_CHECKING:
    import httpx2

_SECONDS = 15.0
_WORTH_PACKING = 1_000
_AGAIN = (408, 425, 429, 500, 502, 503, 504)
_MOST_BYTES = 4_000_000
PATIENT = RetryPolicy(max_attempts=4, longest_wait_seconds=10.0, longest_retry_after_seconds=30.0)


class _PassingError(Exception):
    """What went wrong and may go right another time; `retry_after` is the server's own wish."""

    def __init__(self, problem: str, retry_after: float | None = None) -> None:
        super().__init__(problem)
        self.retry_after = retry_after


class MirrorClient:
    """Calls of one target. UnavailableError when it cannot be reached, UsageError when it refuses."""

    def __init__(
        self,
        target: MirrorTarget,
        *,
        policy: RetryPolicy = PATIENT,
        clock: Clock | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self.target = target
        self._policy = policy
        self._clock = clock or SystemClock()
        self._transport = transport
        self._http: httpx2.AsyncClient | None = None

    async def __aenter__(self) -> Self:
        import httpx2  # noqa: PLC0415 - only who mirrors waits for it

        headers = {"Comet-Workspace": self.target.workspace, "Content-Type": "application/json"}
        if key := os.environ.get(self.target.api_key_env):
            headers["Authorization"] = key
        # No redirect is followed: the key is for this address alone.
        self._http = httpx2.AsyncClient(
            headers=headers,
            timeout=_SECONDS,
            follow_redirects=False,
            transport=self._transport,
            verify=tls_context(),
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._http is not None
        await self._http.aclose()

    async def send(self, method: str, path: str, body: dict[str, Any]) -> None:
        """One request, until it is answered or has failed often enough."""
        content, headers = await asyncio.to_thread(_packed, body)

        def give_up(problem: Exception, _why: str) -> UnavailableError:
            return UnavailableError(
                what=f"the Opik server at {self.target.url} was not told",
                why=str(problem),
                fix="nothing is lost: `burnish mirror flush` sends it once the server is there",
                code="mirror_unavailable",
            )

        await retry(
            lambda _: self._once(method, path, content, headers),
            policy=replace(self._policy, deadline_seconds=None),
            passing=lambda error: isinstance(error, _PassingError),
            clock=self._clock,
            retry_after=lambda error: getattr(error, "retry_after", None),
            give_up=give_up,
        )

    async def send_list(
        self, method: str, path: str, name: str, values: Sequence[dict[str, Any]], **beside: Any
    ) -> None:
        """Many values, in requests that are not too large."""
        for part in await asyncio.to_thread(lambda: list(_parts(values))):
            await self.send(method, path, {**beside, name: part})

    async def _once(self, method: str, path: str, content: bytes, headers: dict[str, str]) -> None:
        """One request; _PassingError if it may go right another time."""
        import httpx2  # noqa: PLC0415

        assert self._http is not None
        url = f"{self.target.url}/v1/private/{path}"
        try:
            answer = await self._http.request(method, url, content=content, headers=headers)
        except httpx2.HTTPError as error:
            raise _PassingError(f"{type(error).__name__}: {error}") from None
        if answer.is_success:
            return
        problem = f"{method} {path} was answered with {answer.status_code}"
        if answer.status_code in _AGAIN:
            after = answer.headers.get("retry-after", "")
            raise _PassingError(problem, float(after) if after.isdecimal() else None)
        raise UsageError(
            what=f"the Opik server at {self.target.url} refuses what it was told",
            why=f"{problem}: {_told(answer.text)}",
            fix="check url, workspace and key in [mirror], then `burnish mirror flush`",
            code="mirror_refused",
        )


def _packed(body: dict[str, Any]) -> tuple[bytes, dict[str, str]]:
    raw = json.dumps(body).encode()
    if len(raw) < _WORTH_PACKING:
        return raw, {}
    return gzip.compress(raw, 5), {"Content-Encoding": "gzip"}


def _parts(values: Sequence[dict[str, Any]], most: int = 500) -> list[list[dict[str, Any]]]:
    found: list[list[dict[str, Any]]] = []
    size = _MOST_BYTES
    for one in values:
        own = len(json.dumps(one))
        if not found or size + own > _MOST_BYTES or len(found[-1]) >= most:
            found.append([])
            size = 0
        found[-1].append(one)
        size += own
    return found


def _told(text: str) -> str:
    return " ".join(text[:300].split())
