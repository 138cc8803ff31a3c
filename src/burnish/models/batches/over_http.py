"""Batch endpoint over HTTP: what the batches of all vendors share."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from burnish.domain import BurnishError, ModelRequest, ModelResponse, Usage, UsageError
from burnish.models.batches.endpoint import BatchAnswer, Body, UnknownBatchError
from burnish.models.endpoint.access import EndpointAccess
from burnish.models.endpoint.answers import Answer, parse_body
from burnish.models.endpoint.parameters import accepted, learn_refusal
from burnish.models.endpoint.vendor import MakeWire, Vendor
from burnish.models.failures import ErrorAnswer, RefusedRequestError, TransientError
from burnish.models.settings import ModelSettings
from burnish.models.tokens import count_message_tokens

if TYPE_CHECKING:
    from burnish.models.endpoint.client import EndpointClient

T = TypeVar("T")
# Batches are files of many requests; one that is larger than this was not asked for by us.
_LARGEST_FILE = 1024**3
_TRANSFER_SECONDS = 600.0
EXPIRED = "the batch ended before the request was answered"


class HttpBatches:
    """Base of a vendor's batches: reads and asks as the vendor's single calls do, by its wire."""

    most_requests = 50_000
    most_bytes = 100 * 1024**2
    submit_seconds = _TRANSFER_SECONDS
    # Two days: most vendors give up a batch after one.
    window_seconds = 2 * 86_400.0

    def __init__(
        self,
        vendor: Vendor,
        wire: MakeWire,
        name: str,
        settings: ModelSettings,
    ) -> None:
        seconds = max(settings.timeout_seconds, _TRANSFER_SECONDS)
        self._wire = wire(name, settings)
        self._access = EndpointAccess(
            vendor,
            name,
            replace(settings, timeout_seconds=seconds, deadline_seconds=3 * seconds),
            answers="a batch",
            largest_body=_LARGEST_FILE,
        )

    def body(self, request: ModelRequest) -> Body:
        """The request as a single call would send it, without parameters that the model refuses."""
        given = accepted(self._access.base_url, self._access.name, request.parameters)
        return self._wire.body(replace(request, parameters=given))

    def read(
        self, answer: BatchAnswer, request: ModelRequest, wasted: list[Usage]
    ) -> ModelResponse:
        """The answer as of a single call; its error where it has one."""
        if isinstance(answer.error, RefusedRequestError):
            outcome = self._wire.outcome(answer.error.said)
            if outcome is None and self._learns(answer.error, request):
                raise TransientError(f"{answer.error.why}; it is asked otherwise", status=400)
            if outcome is not None:
                read = count_message_tokens(request.messages, self._access.model)
                told: Answer[None] = Answer(None, Usage(calls=1, input_tokens=read))
                return replace(outcome, usage=self._access.priced(told))
        if answer.error is not None:
            raise answer.error
        assert answer.body is not None
        found = self._access.read(answer.body, lambda body: self._wire.read(body, request), wasted)
        return replace(found.value, usage=found.usage)

    def _learns(self, error: RefusedRequestError, request: ModelRequest) -> bool:
        """Whether a next batch would ask otherwise."""
        if self._wire.learn(error.said, request):
            return True
        address, name = self._access.base_url, self._access.name
        return learn_refusal(address, name, error.said, request.parameters)

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        await self._access.close()

    async def _fetch(self, method: str, path: str, **content: Any) -> bytes:
        """An answer to what may be asked as often as it takes."""
        return await self._ask(lambda body: body, method, path, content)

    async def _document(self, method: str, path: str, **content: Any) -> Mapping[str, Any]:
        """The same, of JSON."""
        return await self._ask(lambda body: parse_body(body, ""), method, path, content)

    async def _ask(
        self, read: Callable[[bytes], T], method: str, path: str, content: Mapping[str, Any]
    ) -> T:
        async def send(client: EndpointClient) -> Mapping[str, Any]:
            return {"content": await client.fetch(method, path, **content)}

        answer = await self._access.call(send, lambda told: Answer(read(told["content"]), Usage()))
        return answer.value

    async def _known(self, path: str) -> Mapping[str, Any]:
        """The vendor's account of a batch; UnknownBatchError where it has none."""
        try:
            return await self._document("GET", path)
        except UsageError as error:
            if error.code == "unknown_model":  # A status of 404.
                raise UnknownBatchError from error
            raise

    def _without_batches(self, error: UsageError) -> UsageError:
        """The error where an address answers 404 to the very first call of a batch."""
        if error.code != "unknown_model":
            return error
        return UsageError(
            what=f"{self._access.name} cannot be asked in batches",
            why=f"{self._access.base_url} has no batch endpoint, or none for this model (status 404)",
            fix="leave batch out for this model",
            code="no_batches",
        )

    def _failed(
        self, status: int, message: Any = "", code: Any = ""
    ) -> BurnishError | TransientError:
        """The error of one request, as the same status of a single call would be."""
        said = message if isinstance(message, str) else ""
        word = code if isinstance(code, str) else ""
        return self._access.error_of(ErrorAnswer(status=status, message=said, code=word))


def id_of(told: Mapping[str, Any], name: str = "id") -> str:
    """The vendor's name of a thing; TransientError where the answer has none."""
    found = told.get(name)
    if not isinstance(found, str) or not found:
        raise TransientError(f"the endpoint answered without an {name}")
    return found


def documents(content: bytes) -> Iterator[Mapping[str, Any]]:
    """The objects of a file of lines; a line that is none is passed over, as if it were missing."""
    for line in content.splitlines():
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, Mapping):
            yield value
