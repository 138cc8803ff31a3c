"""Vendor and wire: what is particular to a provider of models, and all that a new one has to bring."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from burnish.domain import Json, ModelRequest, ModelResponse
from burnish.models.endpoint.answers import Answer
from burnish.models.failures import ErrorAnswer
from burnish.models.settings import ModelSettings

if TYPE_CHECKING:
    import httpx2

    from burnish.models.batches.endpoint import BatchEndpoint


class Stream(Protocol):
    """An answer put together from the lines of its stream."""

    @property
    def begun(self) -> bool:
        """Whether any of the answer itself has come."""
        ...

    def add(self, line: str) -> None:
        """One more line; BadAnswerError where it tells of a failure."""
        ...

    def body(self) -> dict[str, Any]:
        """The answer as it would have come as a whole; BadAnswerError when its end is missing."""
        ...


class Wire(Protocol):
    """How text is asked for in a vendor's API. It reaches nobody and knows no key.

    One is made for each model, with the model's name and settings. `api` and `variant` say what answers
    depend on besides the model and the address; `answers` is the noun for messages, and `path` stands
    below the address. What the API can't take (tools, pictures) `body` refuses with a UsageError of the
    code "unsupported_request"; what is no answer `read` refuses with a BadAnswerError.
    """

    api: str
    answers: str
    path: str
    variant: tuple[Json, ...]

    def body(self, request: ModelRequest) -> dict[str, Any]:
        """The request's JSON; the caller's parameters pass through."""
        ...

    def read(self, body: Mapping[str, Any], request: ModelRequest) -> Answer[ModelResponse]:
        """The response with its tokens, without a price."""
        ...

    def stream(self) -> Stream:
        """A new one, for an answer that comes piece by piece."""
        ...

    def outcome(self, error: ErrorAnswer) -> ModelResponse | None:
        """The response that an error stands for, where it is a refusal or a filter; else None."""
        ...

    def learn(self, error: ErrorAnswer, request: ModelRequest) -> bool:
        """Whether an error tells what the model can't do, which no later body asks of it.

        Parameters are learnt elsewhere. What was learnt meanwhile counts too: calls run at once.
        """
        ...


MakeWire = Callable[[str, ModelSettings], Wire]


def bearer(key: str) -> dict[str, str]:
    """The key as most vendors take it."""
    return {"Authorization": f"Bearer {key}"}


def read_error(content: bytes) -> Mapping[str, Any]:
    """What an answer says went wrong, as message, code and param; nothing where it is no such JSON."""
    try:
        said = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    inner = said.get("error", said) if isinstance(said, Mapping) else None
    return inner if isinstance(inner, Mapping) else {}


def _no_usage(_body: Mapping[str, Any]) -> Answer[None] | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Vendor:
    """Who is asked: the provider's name, address and key, and how it tells errors and tokens.

    `address` is its own, and `address_env` a variable that names another. `key_env` is the variable
    that holds the key; it may be missing elsewhere than at the vendor's own address, or everywhere
    where `needs_key` is False.
    `prices` is its name in genai-prices, `speaks` the API in words. `headers` go with every request;
    `sign` may add such as depend on the request. `read_usage` tells what an answer took that could not
    be used. `batches` opens its batch endpoint for a wire, a model and its settings, where it has one.
    """

    provider: str
    address: str
    key_env: str
    address_env: str = ""
    needs_key: bool = True
    prices: str = ""
    speaks: str = "an OpenAI-compatible API"
    headers: Callable[[str], Mapping[str, str]] = bearer
    sign: Callable[[httpx2.Request], None] | None = None
    read_error: Callable[[bytes], Mapping[str, Any]] = read_error
    read_usage: Callable[[Mapping[str, Any]], Answer[None] | None] = _no_usage
    batches: Callable[[Vendor, MakeWire, str, ModelSettings], BatchEndpoint] | None = None
