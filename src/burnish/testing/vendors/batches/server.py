"""Fake batches: what the fake batch endpoints of all vendors share, with their faults."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from burnish.testing.vendors.sdk_types import type_problem
from burnish.testing.vendors.server import SeenRequest, respond
from burnish.testing.vendors.vendor import FakeVendor

Document = dict[str, Any]
_Fault = Callable[[int, int], bool]


def _never(_batch: int, _place: int) -> bool:
    return False


@dataclass(slots=True, kw_only=True)
class BatchFaults:
    """What goes wrong. Numbers count from 0: batches as they are taken, submits as they come.

    `looks` is how often a batch is looked at until it has ended. By batch and place in it, a request
    that is `expired` is not done and costs nothing, one that is `errored` fails with that status, one
    that is `dropped` gets no line at all, and one that is `repeated` two. Submits in `cut` are taken
    without an answer, those in `refused` are answered with that status and not taken.
    """

    looks: int = 1
    expired: _Fault = _never
    dropped: _Fault = _never
    repeated: _Fault = _never
    errored: Callable[[int, int], int | None] = lambda _batch, _place: None
    cut: frozenset[int] = frozenset()
    refused: Mapping[int, int] = field(default_factory=dict)


@dataclass(slots=True)
class TakenBatch:
    """A batch that was taken: its requests by name, and how often it is looked at until it ends."""

    id: str
    number: int
    requests: dict[str, Document]
    looks_left: int
    told: Document
    created: datetime = field(default_factory=lambda: datetime.now(UTC))
    cancelled: bool = False

    @property
    def ended(self) -> bool:
        """Whether it was looked at often enough, or cancelled."""
        return self.cancelled or self.looks_left <= 0


@dataclass(frozen=True, slots=True)
class Line:
    """What came of one request: its answer or its error by the status; without either it expired."""

    name: str
    status: int | None = None
    body: Document = field(default_factory=dict)


class RefusedError(Exception):
    """A request that is answered with an error."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


class CutError(Exception):
    """A request that is done, and answered by nobody."""


class BatchServer(FakeVendor):
    """A fake vendor that takes batches too; each of their requests is answered as a single one is.

    `paid` counts by request how often it was answered in a batch, `called` how often by itself.
    """

    # The path of single requests, whose bodies are those of a batch.
    single = ""
    # The SDK's type of what is sent to make a batch.
    created_by: tuple[str, str] = ("", "")

    def __init__(self, *arguments: Any, faults: BatchFaults | None = None, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.faults = faults or BatchFaults()
        self.paid: Counter[str] = Counter()
        self.called: Counter[str] = Counter()
        self.batches: dict[str, TakenBatch] = {}
        self.submits = 0
        self._lines: dict[str, list[Line]] = {}

    def route(self, method: str, path: str, body: Any) -> Document | bytes | None:
        """The answer to a request of batches; None for any other, RefusedError for an error."""
        raise NotImplementedError

    async def answer(self, request: SeenRequest, writer: asyncio.StreamWriter) -> None:
        """The move of every request for which none is planned."""
        status, told = 200, None
        try:
            if self.keys and self.key(request.headers) not in self.keys:
                raise RefusedError(401, "this key is not valid")
            told = self.route(request.method, request.path, request.body)
        except CutError:
            writer.close()
            return
        except RefusedError as error:
            status, told = error.status, self.error(error.status, error.message, "", "")
        if told is None:
            self.called[digest(request.body)] += 1
            await super().answer(request, writer)
            return
        content = told if isinstance(told, bytes) else json.dumps(told).encode()
        kind = "application/octet-stream" if isinstance(told, bytes) else "application/json"
        await respond(writer, status, content, content_type=kind)

    def take(self, asked: Document, requests: dict[str, Document], **told: Any) -> TakenBatch:
        """A new batch; its faults may refuse it, or cut the connection once it is taken."""
        number, self.submits = self.submits, self.submits + 1
        if status := self.faults.refused.get(number):
            raise RefusedError(status, "not now")
        problem = self.batch_problem(asked)
        if problem:
            raise RefusedError(400, problem)
        place = len(self.batches)
        batch = TakenBatch(f"batch_{place}", place, requests, self.faults.looks, told)
        self.batches[batch.id] = batch
        if number in self.faults.cut:
            raise CutError
        return batch

    def batch_problem(self, asked: Document) -> str:
        """What the SDK's types say against a batch; nothing where the SDK is not installed."""
        return type_problem(self.created_by, asked)

    def find(self, batch_id: str, *, look: bool = False) -> TakenBatch:
        """A batch by its id, which may be looked at once more by that."""
        if batch_id not in self.batches:
            raise RefusedError(404, f"there is no batch {batch_id}")
        batch = self.batches[batch_id]
        batch.looks_left -= look
        return batch

    def newest(self) -> list[TakenBatch]:
        """All of them, as lists tell them."""
        return sorted(self.batches.values(), key=lambda batch: -batch.number)

    def lines(self, batch: TakenBatch) -> list[Line]:
        """What came of a batch; it is worked out, and paid for, once."""
        if batch.id not in self._lines:
            self._lines[batch.id] = [*self._work(batch)]
        return self._lines[batch.id]

    def _work(self, batch: TakenBatch) -> Iterator[Line]:
        faults = self.faults
        for place, (name, body) in enumerate(batch.requests.items()):
            status = faults.errored(batch.number, place)
            if batch.cancelled or faults.expired(batch.number, place):
                yield Line(name)
            elif status is not None:
                yield Line(name, status, self.error(status, "as ordered", "", ""))
            elif not faults.dropped(batch.number, place):
                line = self._answered(name, SeenRequest(self.single, {}, body))
                yield line
                if faults.repeated(batch.number, place):
                    yield line

    def _answered(self, name: str, request: SeenRequest) -> Line:
        given = self.parameters(request)
        refused = next((one for one in self.refused if one in given), None)
        if refused is not None:
            message = f"Unsupported parameter: '{refused}' is not supported with this model."
            return Line(name, 400, self.error(400, message, "unsupported_parameter", refused))
        self.paid[digest(request.body)] += 1
        script = self.script
        response = script(request) if callable(script) else script
        return Line(name, 200, self.encode(request, response))


def digest(body: Any) -> str:
    """What tells one request from another."""
    return hashlib.sha256(json.dumps(body, sort_keys=True, default=str).encode()).hexdigest()
