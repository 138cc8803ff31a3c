"""Any endpoint that speaks OpenAI's chat API."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from burnish.domain import Clock, ModelRequest, ModelResponse, canonical_hash
from burnish.models.openai.access import Answer, OpenAIAccess
from burnish.models.openai.chat_wire import read_answer, request_body
from burnish.models.settings import ModelSettings
from burnish.models.tokens import count_message_tokens


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
