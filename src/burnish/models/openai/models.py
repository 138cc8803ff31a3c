"""OpenAI models: any endpoint that speaks the chat API or the Responses API."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from burnish.domain import Clock, ModelRequest, ModelResponse, Usage, canonical_hash
from burnish.models.openai.access import Answer, OpenAIAccess
from burnish.models.openai.wire import (
    read_answer,
    read_response_text,
    read_response_usage,
    request_body,
    responses_body,
)
from burnish.models.settings import ModelSettings
from burnish.models.tokens import count_message_tokens, count_tokens


class OpenAIModel:
    """`openai/NAME` at OpenAI, or at whatever compatible endpoint `base_url` names.

    Without the setting, `OPENAI_BASE_URL` counts, as it does for the SDK.
    """

    def __init__(
        self,
        name: str,
        settings: ModelSettings | None = None,
        *,
        clock: Clock | None = None,
        draw: Callable[[], float] = random.random,
    ) -> None:
        self._access = OpenAIAccess(name, settings or ModelSettings(), clock=clock, draw=draw)
        self.settings = self._access.settings
        self.name = self._access.name
        self._model = name
        self.fingerprint = f"{self.name}@" + canonical_hash(
            [self.settings.api, self._access.base_url, self.settings.grammar]
        )

    def __repr__(self) -> str:
        return f"OpenAIModel({self._model!r}, base_url={self._access.base_url!r})"

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """One answer, after as many attempts as settings and deadline allow."""
        body = request_body(self._model, request, grammar=self.settings.grammar)

        def read(answer: Mapping[str, Any]) -> Answer[ModelResponse]:
            response = read_answer(answer, self._model, request)
            return Answer(response, response.usage)

        answer = await self._access.call(
            lambda client: client.chat(body),
            read,
            tokens=lambda: token_estimate(request, self._model),
            seconds=request.timeout_seconds,
        )
        return replace(answer.value, usage=answer.usage)

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        await self._access.close()


def token_estimate(request: ModelRequest, model: str) -> int:
    """Tokens before the call: the prompt, and as much answer as is allowed."""
    parameters = request.parameters
    names = ("max_completion_tokens", "max_output_tokens", "max_tokens")
    longest = next((parameters[name] for name in names if parameters.get(name)), 0)
    allowed = longest if isinstance(longest, int) else 0
    return count_message_tokens(request.messages, model) + allowed


class OpenAIResponsesModel:
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
        self._access = OpenAIAccess(name, chosen, clock=clock, draw=draw, answers="a response")
        self.settings = self._access.settings
        self.name = self._access.name
        self._model = name
        self.fingerprint = f"{self.name}@" + canonical_hash(
            [self.settings.api, self._access.base_url]
        )

    def __repr__(self) -> str:
        return f"OpenAIResponsesModel({self._model!r}, base_url={self._access.base_url!r})"

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """One answer, after as many attempts as settings and deadline allow."""
        body = responses_body(self._model, request)
        answer = await self._access.call(
            lambda client: client.respond(body),
            lambda given: self._read(given, request),
            tokens=lambda: token_estimate(request, self._model),
            seconds=request.timeout_seconds,
        )
        return replace(answer.value, usage=answer.usage)

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        await self._access.close()

    def _read(self, body: Mapping[str, Any], request: ModelRequest) -> Answer[ModelResponse]:
        text = read_response_text(body)
        usage = read_response_usage(body) or Usage(
            calls=1,
            input_tokens=count_message_tokens(request.messages, self._model),
            output_tokens=count_tokens(text, self._model),
        )
        reason = "length" if body.get("status") == "incomplete" else "stop"
        return Answer(ModelResponse(text=text, finish_reason=reason), usage)
