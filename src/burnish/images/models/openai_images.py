"""Pictures from any endpoint that speaks OpenAI's images API."""

from __future__ import annotations

import os
import random
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from burnish.domain import Clock
from burnish.domain.image_parts import DrawnImage
from burnish.domain.images import Quality
from burnish.images.models.image_wire import (
    LARGEST_IMAGE_BODY,
    image_body,
    picture_file,
    read_picture,
)
from burnish.images.models.openai_failures import with_image_codes
from burnish.images.models.picture_fetch import fetch_picture, rules_beside
from burnish.models.openai.access import OpenAIAccess
from burnish.models.outbound_rules import OutboundRules, Resolve
from burnish.models.retry import RetryBudget, call_with_retries, within
from burnish.models.settings import ModelSettings

if TYPE_CHECKING:
    from burnish.models.openai.client import OpenAIClient

# A picture of high quality may take two minutes.
IMAGE_TIMEOUT_SECONDS = 180.0


class OpenAIImageModel:
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
        self._access = OpenAIAccess(
            name,
            settings or ModelSettings(timeout_seconds=IMAGE_TIMEOUT_SECONDS),
            clock=clock,
            draw=draw,
            answers="a picture",
            largest_body=LARGEST_IMAGE_BODY,
        )
        self.settings = self._access.settings
        self.name = self._access.name
        self.label = f"{self.name} at {self._access.base_url}"
        self._model = name
        listed = OutboundRules.from_environment(os.environ) if outbound is None else outbound
        self._rules = rules_beside(self._access.base_url, listed)
        self._resolve = resolve
        self._fetches = RetryBudget(clock=self._access.clock, ratio=self.settings.retry_budget)

    def __repr__(self) -> str:
        return f"OpenAIImageModel({self._model!r}, base_url={self._access.base_url!r})"

    async def generate(self, prompt: str, *, quality: Quality) -> DrawnImage:
        """A picture of the prompt."""
        body = image_body(self._model, prompt, quality)
        return await with_image_codes(self._picture(lambda client: client.draw(body)))

    async def edit(self, base: bytes, prompt: str, *, quality: Quality) -> DrawnImage:
        """The base picture, changed as the prompt says."""
        body = image_body(self._model, prompt, quality)
        picture = picture_file(base)
        return await with_image_codes(self._picture(lambda client: client.redraw(body, picture)))

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        await self._access.close()

    async def _picture(
        self, send: Callable[[OpenAIClient], Awaitable[Mapping[str, Any]]]
    ) -> DrawnImage:
        answer = await self._access.call(send, read_picture)
        given = answer.value
        data = given.data or await self._fetched(given.url)
        return DrawnImage(data=data, usage=answer.usage)

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
