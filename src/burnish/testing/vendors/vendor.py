"""Fake vendor: what all of them share, from the check of key and request to answers in pieces."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from burnish.domain import ModelResponse
from burnish.testing.vendors.sdk_types import type_problem
from burnish.testing.vendors.server import LoopbackServer, Move, SeenRequest, respond

Script = ModelResponse | Callable[[SeenRequest], ModelResponse]
_CHARACTERS_PER_TOKEN = 4


class FakeVendor(LoopbackServer):
    """Answers as its `script` says, in the vendor's form, and refuses what the vendor would refuse.

    Requests are checked against the types of the vendor's SDK where that is installed. `keys` are
    those that are accepted, any where there are none; a test may change them. `refused` are parameters
    that the model doesn't take, with the name to use instead where there is one. What a prompt shares
    with an earlier one comes from the cache, as the vendor counts it. Planned moves come first.
    """

    # Parameters that the API takes though the SDK's types don't have them.
    beyond_types: tuple[str, ...] = ()

    def __init__(
        self,
        script: Script | None = None,
        *,
        keys: Iterable[str] = (),
        refused: Mapping[str, str] | None = None,
        latency_seconds: float = 0.0,
    ) -> None:
        super().__init__(otherwise=self.answer)
        self.script = script or ModelResponse(text="fine")
        self.keys = set(keys)
        self.refused = dict(refused or {})
        self.latency_seconds = latency_seconds
        self.prompts: set[str] = set()

    async def answer(self, request: SeenRequest, writer: asyncio.StreamWriter) -> None:
        """The move of every request for which none is planned."""
        await self._play(request, writer, cut_short=False)

    async def cut_stream(self, request: SeenRequest, writer: asyncio.StreamWriter) -> None:
        """A move: the same without the last pieces of the stream."""
        await self._play(request, writer, cut_short=True)

    def failing(
        self,
        status: int,
        message: str = "as ordered",
        code: str = "",
        param: str = "",
        **headers: str,
    ) -> Move:
        """A move: an error in the vendor's form."""

        async def move(_request: SeenRequest, writer: asyncio.StreamWriter) -> None:
            told = self.error(status, message, code, param)
            await respond(writer, status, json.dumps(told).encode(), **headers)

        return move

    # What a vendor says.

    def filtering(self) -> Move:
        """A move: the prompt is stopped by a filter."""
        raise NotImplementedError

    def key(self, headers: Mapping[str, str]) -> str:
        """The key of a request."""
        return headers.get("authorization", "").removeprefix("Bearer ")

    def kind(self, request: SeenRequest) -> tuple[str, str] | None:
        """The SDK's type of the request's body, as module and name; None for an unknown path."""
        raise NotImplementedError

    def encode(self, request: SeenRequest, response: ModelResponse) -> dict[str, Any]:
        """A response as the vendor's JSON."""
        raise NotImplementedError

    def pieces(self, request: SeenRequest, body: Mapping[str, Any]) -> list[str]:
        """The same as the lines of a stream, of which the last make its end."""
        raise NotImplementedError

    def parameters(self, request: SeenRequest) -> Mapping[str, Any]:
        """Where the model's parameters stand in a request."""
        body: Mapping[str, Any] = request.body
        return body

    def streams(self, request: SeenRequest) -> bool:
        """Whether the answer is asked for in pieces."""
        return bool(request.body.get("stream"))

    def error(self, status: int, message: str, code: str, param: str) -> dict[str, Any]:
        """An error as the vendor's JSON."""
        raise NotImplementedError

    def unsupported(self, name: str, instead: str) -> Move:
        """The refusal of a parameter."""
        use = f" Use '{instead}' instead." if instead else ""
        message = f"Unsupported parameter: '{name}' is not supported with this model.{use}"
        return self.failing(400, message, "unsupported_parameter", name)

    async def _play(
        self, request: SeenRequest, writer: asyncio.StreamWriter, *, cut_short: bool
    ) -> None:
        refusal = self._refusal(request)
        if refusal is not None:
            await refusal(request, writer)
            return
        if self.latency_seconds:
            await asyncio.sleep(self.latency_seconds)
        given = self.script
        response = given if isinstance(given, ModelResponse) else given(request)
        body = self.encode(request, response)
        if not self.streams(request):
            await respond(writer, 200, json.dumps(body).encode())
            return
        lines = self.pieces(request, body)
        sent = "".join(f"{line}\n" for line in (lines[: len(lines) // 2] if cut_short else lines))
        await respond(writer, 200, sent.encode(), content_type="text/event-stream")

    def _refusal(self, request: SeenRequest) -> Move | None:
        if self.keys and self.key(request.headers) not in self.keys:
            return self.failing(401, "this key is not valid", "invalid_api_key")
        kind = self.kind(request)
        if kind is None:
            return self.failing(404, f"there is nothing at {request.path}", "not_found_error")
        for name, instead in self.refused.items():
            if name in self.parameters(request):
                return self.unsupported(name, instead)
        problem = self._problem(kind, request.body)
        return self.failing(400, problem, "invalid_request_error") if problem else None

    def _problem(self, kind: tuple[str, str], body: Any) -> str:
        """What the SDK's types say against a request; nothing where the SDK is not installed."""
        if not isinstance(body, dict):
            return "the body is no object"
        checked = {name: body[name] for name in body if name not in self.beyond_types}
        return type_problem(kind, checked)


def token_estimate(value: Any) -> int:
    """Tokens of anything that is sent, roughly."""
    return max(
        1, len(value if isinstance(value, str) else json.dumps(value)) // _CHARACTERS_PER_TOKEN
    )
