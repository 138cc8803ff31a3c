"""One call of the optimizer model."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from burnish.domain import (
    AgentOutput,
    BurnishError,
    Item,
    Json,
    Model,
    ModelRequest,
    ModelResponse,
    Purpose,
    Round,
    Spending,
)
from burnish.evaluation.refine.question import refine_messages
from burnish.evaluation.scorers import is_systemic

_DETERMINISTIC: Mapping[str, Json] = {"temperature": 0.0}


class RefinerFailedError(Exception):
    """The optimizer gave no output; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """A refined output; what it cost is in it."""

    output: AgentOutput
    latency_ms: float
    cached: bool


class Refiner:
    """Writes outputs anew. `fields` are those of the item that its model may see."""

    def __init__(
        self,
        model: Model,
        *,
        fields: Collection[str] = (),
        parameters: Mapping[str, Json] | None = None,
        timeout_seconds: float | None = None,
    ) -> None:
        self.name = model.name
        self._model = model
        self._fields = tuple(fields)
        self._parameters = dict(_DETERMINISTIC if parameters is None else parameters)
        self._timeout = timeout_seconds

    async def revise(self, latest: Round, item: Item) -> Revision:
        """The output after the latest one. Raises RefinerFailedError, or what fails every item."""
        request = ModelRequest(
            messages=refine_messages(latest, self._shown(item)),
            parameters=self._parameters,
            repeat=latest.repeat,
            timeout_seconds=self._timeout,
        )
        started = time.perf_counter()
        try:
            async with asyncio.timeout(self._timeout):
                response = await self._model.complete(request)
        except TimeoutError:
            raise RefinerFailedError(f"{self.name}: no answer within {self._timeout:g} s") from None
        except Exception as error:  # A model may be anybody's function.
            if is_systemic(error):
                raise
            raise RefinerFailedError(f"{self.name}: {_why(error)}") from error
        elapsed = (time.perf_counter() - started) * 1000
        return _revision(response, elapsed, structured=latest.output.data is not None)

    def _shown(self, item: Item) -> dict[str, Json]:
        return {name: item.data[name] for name in self._fields if name in item.data}


def _revision(response: ModelResponse, elapsed_ms: float, *, structured: bool) -> Revision:
    told = response.cached and response.latency_ms is not None
    output = AgentOutput(
        text=response.text,
        data=_parsed(response.text) if structured else None,
        spending=Spending.on(Purpose.REFINE, response.usage),
        finish_reason=response.finish_reason,
        ttft_ms=response.ttft_ms,
        reused=Spending.on(Purpose.REFINE, response.reused) if response.cached else Spending(),
    )
    latency = response.latency_ms if told and response.latency_ms is not None else elapsed_ms
    return Revision(output=output, latency_ms=latency, cached=response.cached)


def _parsed(text: str) -> Json:
    """Where the agent answers JSON, a refined output is read like its own; else it has no value."""
    try:
        value: Json = json.loads(text)
    except ValueError:
        return None
    return value


def _why(error: Exception) -> str:
    if isinstance(error, BurnishError):
        return f"{error.what}: {error.why}"
    return f"{type(error).__name__}: {error}"
