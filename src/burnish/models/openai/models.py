"""OpenAI models: any endpoint that speaks the chat API or the Responses API."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from burnish.domain import Clock, ModelRequest, ModelResponse, Usage, canonical_hash
from burnish.models.openai.access import Answer, OpenAIAccess, OpenAICaller
from burnish.models.openai.wire import (
    read_answer,
    read_response_text,
    read_response_usage,
    request_body,
    responses_body,
)
from burnish.models.settings import ModelSettings
from burnish.models.tokens import count_message_tokens, count_tokens

if TYPE_CHECKING:
    from burnish.models.openai.client import OpenAIClient


class _TextModel(OpenAICaller):
    """What both APIs share: one answer to a request, with its price."""

    async def _complete(
        self,
        request: ModelRequest,
        send: Callable[[OpenAIClient], Awaitable[Mapping[str, Any]]],
        read: Callable[[Mapping[str, Any]], Answer[ModelResponse]],
    ) -> ModelResponse:
        answer = await self._access.call(
            send,
            read,
            tokens=lambda: token_estimate(request, self._model),
            seconds=request.timeout_seconds,
        )
        return replace(answer.value, usage=answer.usage, latency_ms=answer.latency_ms)


class OpenAIModel(_TextModel):
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
        super().__init__(OpenAIAccess(name, settings or ModelSettings(), clock=clock, draw=draw))
        self.fingerprint = f"{self.name}@" + canonical_hash(
            [self.settings.api, self._access.base_url, self.settings.grammar]
        )

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """One answer, after as many attempts as settings and deadline allow."""
        body = request_body(self._model, request, grammar=self.settings.grammar)
        if self.settings.stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}

        def read(answer: Mapping[str, Any]) -> Answer[ModelResponse]:
            response = read_answer(answer, self._model, request)
            first = answer.get("ttft_ms") if self.settings.stream else None
            return Answer(replace(response, ttft_ms=first), response.usage)

        return await self._complete(request, lambda client: client.chat(body), read)


class OpenAIResponsesModel(_TextModel):
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
        super().__init__(OpenAIAccess(name, chosen, clock=clock, draw=draw, answers="a response"))
        self.fingerprint = f"{self.name}@" + canonical_hash(
            [self.settings.api, self._access.base_url]
        )

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """One answer, after as many attempts as settings and deadline allow."""
        body = responses_body(self._model, request)

        def read(answer: Mapping[str, Any]) -> Answer[ModelResponse]:
            text = read_response_text(answer)
            usage = read_response_usage(answer) or Usage(
                calls=1,
                input_tokens=count_message_tokens(request.messages, self._model),
                output_tokens=count_tokens(text, self._model),
            )
            reason = "length" if answer.get("status") == "incomplete" else "stop"
            return Answer(ModelResponse(text=text, finish_reason=reason), usage)

        return await self._complete(request, lambda client: client.respond(body), read)


def token_estimate(request: ModelRequest, model: str) -> int:
    """Tokens before the call: the prompt, and as much answer as is allowed."""
    parameters = request.parameters
    names = ("max_completion_tokens", "max_output_tokens", "max_tokens")
    longest = next((parameters[name] for name in names if parameters.get(name)), 0)
    allowed = longest if isinstance(longest, int) else 0
    return count_message_tokens(request.messages, model) + allowed
