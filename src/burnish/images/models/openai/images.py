"""OpenAI image model: pictures over the Images API, fetched where a URL is answered."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from burnish.domain import Clock, PaidAnswerError, UnavailableError, UsageError
from burnish.domain.images.protocols import DrawnImage
from burnish.domain.images.runs import Quality
from burnish.images.models.openai.wire import (
    LARGEST_IMAGE,
    LARGEST_IMAGE_BODY,
    UNAVAILABLE,
    image_body,
    picture_file,
    read_picture,
    with_image_codes,
)
from burnish.models.endpoint.access import EndpointAccess, EndpointCaller
from burnish.models.failures import TransientError, clean_message
from burnish.models.openai.vendor import OPENAI
from burnish.models.outbound_rules import OutboundRules, Resolve, without_query
from burnish.models.retry import RetryBudget, call_with_retries, within
from burnish.models.settings import ModelSettings

if TYPE_CHECKING:
    import httpx2

    from burnish.models.endpoint.client import EndpointClient

# A picture of high quality may take two minutes.
IMAGE_TIMEOUT_SECONDS = 180.0


class OpenAIImageModel(EndpointCaller):
    """`openai/NAME`, such as `openai/gpt-image-1-mini`, at OpenAI or wherever `base_url` names.

    An endpoint that answers with an address instead of bytes is followed to public hosts, to its
    own, and to those that `outbound` lists (None: BURNISH_ALLOWED_URLS).
    """

    def __init__(
        self,
        name: str,
        settings: ModelSettings | None = None,
        *,
        outbound: OutboundRules | None = None,
        resolve: Resolve | None = None,
        clock: Clock | None = None,
        draw: Callable[[], float] = random.random,
    ) -> None:
        access = EndpointAccess(
            OPENAI,
            name,
            settings or ModelSettings(timeout_seconds=IMAGE_TIMEOUT_SECONDS),
            clock=clock,
            draw=draw,
            answers="a picture",
            largest_body=LARGEST_IMAGE_BODY,
        )
        super().__init__(access)
        self.label = f"{self.name} at {access.base_url}"
        listed = OutboundRules.from_environment(os.environ) if outbound is None else outbound
        self._rules = rules_beside(self._access.base_url, listed)
        self._resolve = resolve
        self._fetches = RetryBudget(clock=self._access.clock, ratio=self.settings.retry_budget)

    async def generate(self, prompt: str, *, quality: Quality) -> DrawnImage:
        """A picture of the prompt."""
        body = image_body(self._model, prompt, quality)
        return await with_image_codes(
            self._picture(lambda client: client.post("images/generations", json=body))
        )

    async def edit(self, base: bytes, prompt: str, *, quality: Quality) -> DrawnImage:
        """The base picture, changed as the prompt says."""
        body = image_body(self._model, prompt, quality)
        picture = picture_file(base)
        return await with_image_codes(
            self._picture(
                lambda client: client.post("images/edits", data=body, files={"image": picture})
            )
        )

    async def _picture(
        self, send: Callable[[EndpointClient], Awaitable[Mapping[str, Any]]]
    ) -> DrawnImage:
        answer = await self._access.call(send, read_picture)
        given = answer.value
        try:
            data = given.data or await self._fetched(given.url)
        except UnavailableError as error:
            failed = error
        else:
            return DrawnImage(data=data, usage=answer.usage)
        raise PaidAnswerError.of(failed, answer.usage)

    async def _fetched(self, url: str) -> bytes:
        """Fetching is retried on its own: the picture is drawn and paid for already."""
        access = self._access
        seconds = self.settings.timeout_seconds

        async def attempt(_number: int) -> bytes:
            return await fetch_picture(
                url, rules=self._rules, timeout_seconds=seconds, resolve=self._resolve
            )

        work = call_with_retries(
            attempt,
            what=f"the picture of {self.name} cannot be fetched",
            policy=access.policy,
            budget=self._fetches,
            clock=access.clock,
            draw=access.draw,
        )
        return await within(self.settings.deadline_seconds, work, who=self.name)


def rules_beside(base_url: str, rules: OutboundRules | None) -> OutboundRules:
    """Every public address, what the rules list, and the endpoint itself: its owner chose it."""
    parts = urlsplit(base_url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    host = parts.hostname or ""
    own = OutboundRules.of([f"[{host}]:{port}" if ":" in host else f"{host}:{port}"])
    given = rules or OutboundRules()
    return replace(given, listed=given.listed | own.listed, any_public=True)


async def fetch_picture(
    url: str, *, rules: OutboundRules, timeout_seconds: float, resolve: Resolve | None = None
) -> bytes:
    """The bytes at the address, counted while they come; redirects are not followed."""
    import httpx2  # noqa: PLC0415 - slow to load, and few endpoints answer with addresses

    from burnish.models.outbound_transport import GuardedTransport  # noqa: PLC0415

    client = httpx2.AsyncClient(
        timeout=timeout_seconds,
        headers={"Accept-Encoding": "identity"},
        transport=GuardedTransport(rules, resolve=resolve),
        trust_env=False,
        follow_redirects=False,
    )
    shown = clean_message(without_query(url))
    try:
        async with client, asyncio.timeout(timeout_seconds), client.stream("GET", url) as response:
            return await _read(response, shown)
    except UsageError as error:
        why = f"the endpoint answered with the address {shown}, and {error.why}"
    except (httpx2.TimeoutException, TimeoutError):
        raise TransientError(
            f"{shown} did not answer within {timeout_seconds:g} s", code="timeout"
        ) from None
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise TransientError(f"{shown} cannot be read ({type(error).__name__})") from None
    raise _unusable(why, "let the endpoint answer in base64, or allow that host by name")


async def _read(response: httpx2.Response, shown: str) -> bytes:
    status = response.status_code
    if status >= 500 or status in (408, 429):
        raise TransientError(f"{shown} answered with status {status}", status=status)
    if status != 200:
        raise _unusable(f"{shown} answered with status {status}", "try again later")
    content = bytearray()
    async for chunk in response.aiter_raw():
        content += chunk
        if len(content) > LARGEST_IMAGE:
            limit = LARGEST_IMAGE // 1024**2
            raise _unusable(f"what {shown} answers is larger than {limit} MB", "ask for less")
    return bytes(content)


def _unusable(why: str, fix: str) -> UnavailableError:
    return UnavailableError(
        what="the picture cannot be fetched", why=why, fix=fix, code=UNAVAILABLE
    )
