"""The endpoint that other libraries' optimizers use: one model answers, one reflects, both counted."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import uvicorn

from burnish.domain import Model, ModelRequest, ModelResponse, UsageError
from burnish.server.local_models import create_endpoint

ANSWERS, REFLECTOR = "answers", "reflector"
_MOST_TOKENS = 1_024
_START_SECONDS = 60.0


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How often each model may be asked; the same request again costs nothing."""

    answers: int
    questions: int


@dataclass(kw_only=True)
class Served:
    """Where the endpoint is, and what was asked there."""

    url: str = ""
    limits: Limits
    seen: set[str] = field(default_factory=set)
    asked: int = 0
    refused: Counter[str] = field(default_factory=Counter)

    @property
    def answers(self) -> int:
        """Task calls that were made."""
        return len(self.seen)

    def refusals(self) -> str:
        """In words, for the table; empty when all was within the limits."""
        return ", ".join(f"{count} {name} refused" for name, count in sorted(self.refused.items()))


class AnsweringModel:
    """Answers as the task's agent does: at temperature 0 and with a label, so often and no more."""

    def __init__(self, model: Model, labels: Sequence[str], served: Served) -> None:
        self.name, self.fingerprint = ANSWERS, model.fingerprint
        self._model, self._labels, self._served = model, tuple(labels), served

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """A label."""
        asked = ModelRequest(messages=request.messages, labels=self._labels)
        key = repr(asked.messages)
        if key not in self._served.seen:
            if self._served.answers >= self._served.limits.answers:
                raise _spent(self._served, "task calls", self._served.limits.answers)
            self._served.seen.add(key)
        return await self._model.complete(asked)

    async def close(self) -> None:
        """It belongs to the job."""


class AskedModel:
    """Writes for an optimizer, so often and no more; a request that comes again is drawn again."""

    def __init__(self, model: Model, served: Served) -> None:
        self.name, self.fingerprint = REFLECTOR, model.fingerprint
        self._model, self._served = model, served
        self._times: Counter[str] = Counter()

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """Free text, or JSON where a schema is asked for."""
        if self._served.asked >= self._served.limits.questions:
            raise _spent(self._served, "questions", self._served.limits.questions)
        self._served.asked += 1
        given = request.parameters
        wanted = [
            given[name] for name in ("max_tokens", "max_completion_tokens") if given.get(name)
        ]
        parameters = {"max_tokens": min([_MOST_TOKENS, *map(int, wanted)])}
        if given.get("temperature"):
            parameters["temperature"] = given["temperature"]
        key = repr(request.messages)
        self._times[key] += 1
        return await self._model.complete(
            replace(request, parameters=parameters, repeat=self._times[key] - 1)
        )

    async def close(self) -> None:
        """It belongs to the job."""


def _spent(served: Served, what: str, limit: int) -> UsageError:
    """A 400: clients do not try again."""
    served.refused[what] += 1
    return UsageError(
        what=f"no more {what} are answered",
        why=f"this run may make {limit}",
        fix="end the search with what was found",
        code="limit_reached",
    )


@contextmanager
def serving(
    model: Model, reflector: Model, labels: Sequence[str], limits: Limits
) -> Iterator[Served]:
    """The endpoint on a free port of loopback, for as long as the block lasts."""
    served = Served(limits=limits)
    models: dict[str, Model] = {
        ANSWERS: AnsweringModel(model, labels, served),
        REFLECTOR: AskedModel(reflector, served),
    }
    options = uvicorn.Config(
        create_endpoint(models), host="127.0.0.1", port=0, log_level="warning", lifespan="on"
    )
    server = uvicorn.Server(options)
    thread = threading.Thread(target=server.run, name="endpoint", daemon=True)
    thread.start()
    try:
        end = time.monotonic() + _START_SECONDS
        while not server.started:
            if not thread.is_alive() or time.monotonic() > end:
                raise RuntimeError("the endpoint did not start")
            time.sleep(0.05)
        port = server.servers[0].sockets[0].getsockname()[1]
        served.url = f"http://127.0.0.1:{port}/v1"
        yield served
    finally:
        server.should_exit = True
        thread.join(_START_SECONDS)
