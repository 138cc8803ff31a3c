"""OpenAI models: any endpoint that speaks the chat API or the Responses API."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from burnish.domain import Clock
from burnish.models.endpoint.model import EndpointModel
from burnish.models.openai.chat import ChatWire
from burnish.models.openai.responses import ResponsesWire
from burnish.models.openai.vendor import OPENAI
from burnish.models.settings import ModelSettings


class OpenAIModel(EndpointModel):
    """`openai/NAME` at OpenAI, or at whatever compatible endpoint `base_url` names.

    Without the setting, `OPENAI_BASE_URL` counts, as it does for OpenAI's own client.
    """

    def __init__(
        self,
        name: str,
        settings: ModelSettings | None = None,
        *,
        clock: Clock | None = None,
        draw: Callable[[], float] = random.random,
    ) -> None:
        super().__init__(OPENAI, ChatWire, name, settings, clock=clock, draw=draw)


class OpenAIResponsesModel(EndpointModel):
    """`openai/NAME` where the setting `api` is "responses"; a schema is held strictly."""

    def __init__(
        self,
        name: str,
        settings: ModelSettings | None = None,
        *,
        clock: Clock | None = None,
        draw: Callable[[], float] = random.random,
    ) -> None:
        chosen = replace(settings or ModelSettings(), api="responses")
        super().__init__(OPENAI, ResponsesWire, name, chosen, clock=clock, draw=draw)
