"""Endpoint model: a language model over HTTP, made of a vendor and its wire."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from burnish.domain import Clock, ModelRequest, ModelResponse, canonical_hash
from burnish.models.endpoint.access import EndpointAccess, EndpointCaller
from burnish.models.endpoint.answers import Answer, counted_tokens
from burnish.models.endpoint.parameters import accepted, learn_refusal
from burnish.models.endpoint.vendor import MakeWire, Vendor
from burnish.models.failures import RefusedRequestError
from burnish.models.settings import ModelSettings
from burnish.models.tokens import count_message_tokens

if TYPE_CHECKING:
    from burnish.models.batches.endpoint import BatchEndpoint

# So many things a wire learns of a model, at most.
_MOST_LEARNT = 2


class EndpointModel(EndpointCaller):
    """`PROVIDER/NAME` at the vendor, or at whatever endpoint with the same API `base_url` names."""

    def __init__(
        self,
        vendor: Vendor,
        wire: MakeWire,
        name: str,
        settings: ModelSettings | None = None,
        *,
        clock: Clock | None = None,
        draw: Callable[[], float] = random.random,
    ) -> None:
        chosen = settings or ModelSettings()
        self._make_wire = wire
        self._wire = wire(name, chosen)
        super().__init__(
            EndpointAccess(vendor, name, chosen, clock=clock, draw=draw, answers=self._wire.answers)
        )
        self.fingerprint = f"{self.name}@" + canonical_hash(
            [self._wire.api, self._access.base_url, *self._wire.variant]
        )

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """One answer, after as many attempts as settings and deadline allow.

        What the model refuses is left out, from the first refusal on.
        """
        address = self._access.base_url
        for _ in range(len(request.parameters) + _MOST_LEARNT):
            given = accepted(address, self.name, request.parameters)
            try:
                return await self._answer(replace(request, parameters=given))
            except RefusedRequestError as error:
                if not self._wire.learn(error.said, request) and not learn_refusal(
                    address, self.name, error.said, given
                ):
                    raise
        given = accepted(address, self.name, request.parameters)
        return await self._answer(replace(request, parameters=given))

    async def _answer(self, request: ModelRequest) -> ModelResponse:
        """One answer; an error that stands for a refusal or a filter is one."""
        try:
            return await self._ask(request)
        except RefusedRequestError as error:
            outcome = self._wire.outcome(error.said)
            if outcome is None:
                raise
        used = counted_tokens(request, outcome.text, self._model)
        return replace(outcome, usage=self._access.priced(used))

    def open_batches(self) -> BatchEndpoint | None:
        """The vendor's batch endpoint for this model; None where it has none."""
        vendor = self._access.vendor
        if vendor.batches is None:
            return None
        return vendor.batches(vendor, self._make_wire, self._model, self.settings)

    async def _ask(self, request: ModelRequest) -> ModelResponse:
        wire = self._wire
        body = wire.body(request)

        def read(answer: Mapping[str, Any]) -> Answer[ModelResponse]:
            first = answer.get("ttft_ms") if self.settings.stream else None
            found = wire.read(answer, request)
            return replace(found, value=replace(found.value, ttft_ms=first))

        answer = await self._access.call(
            lambda client: client.post(wire.path, stream=wire.stream, json=body),
            read,
            tokens=lambda: token_estimate(request, self._model),
            seconds=request.timeout_seconds,
        )
        return replace(answer.value, usage=answer.usage, latency_ms=answer.latency_ms)


def token_estimate(request: ModelRequest, model: str) -> int:
    """Tokens before the call: the prompt, and as much answer as is allowed."""
    parameters = request.parameters
    names = ("max_completion_tokens", "max_output_tokens", "max_tokens")
    longest = next((parameters[name] for name in names if parameters.get(name)), 0)
    allowed = longest if isinstance(longest, int) else 0
    return count_message_tokens(request.messages, model) + allowed
