"""Fetches a picture from an address that an endpoint named, and from nowhere else."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from burnish.domain import UnavailableError, UsageError
from burnish.images.models.image_wire import LARGEST_IMAGE
from burnish.images.models.openai_failures import UNAVAILABLE
from burnish.models.failures import TransientError, clean_message
from burnish.models.outbound_rules import OutboundRules, Resolve, without_query

if TYPE_CHECKING:
    import httpx2


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
