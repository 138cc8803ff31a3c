"""A model that answers from a cache what was asked before."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

from burnish.domain import CallCache, Json, Model, ModelRequest, ModelResponse, Usage, exact_hash


class CachedModel:
    """Pays for a request once, in this run or an earlier one.

    Requests of the same content that are under way at the same time share one call. An answer
    from the cache has no usage, because nothing was paid for it now; what it cost and how long it
    took then comes with it. Answers that are drawn at random are cached too: `ModelRequest.repeat`
    tells wanted repeats apart. A `steady` model answers equal requests alike unless it samples, so
    there repeats at temperature 0 are one request.
    """

    def __init__(self, model: Model, cache: CallCache, *, steady: bool = False) -> None:
        self.name = model.name
        self.fingerprint = model.fingerprint
        self.model = model
        self._cache = cache
        self._steady = steady
        self._under_way: dict[str, asyncio.Future[ModelResponse]] = {}

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """The cached answer, the answer somebody is already waiting for, or a new one."""
        if self._steady and not request.parameters.get("temperature"):
            request = replace(request, repeat=0)
        key = call_key(self.fingerprint, request)
        while (flight := self._under_way.get(key)) is not None:
            # Not `await flight`: cancelling this waiter must not cancel the call of another.
            await asyncio.wait([flight])
            if not flight.cancelled():
                return _free(flight.result())
        return await self._lead(key, request)

    async def close(self) -> None:
        """Close the model behind; the cache belongs to whoever opened it."""
        await self.model.close()

    async def _lead(self, key: str, request: ModelRequest) -> ModelResponse:
        flight: asyncio.Future[ModelResponse] = asyncio.get_running_loop().create_future()
        self._under_way[key] = flight
        try:
            response = await self._look_up(key) or await self._pay(key, request)
        except Exception as error:
            flight.set_exception(error)
            flight.exception()  # Read once, so that nobody complains when no one else waits.
            raise
        else:
            flight.set_result(response)
            return response
        finally:
            flight.cancel()  # Only a cancelled call is not done yet; the next waiter leads then.
            del self._under_way[key]

    async def _look_up(self, key: str) -> ModelResponse | None:
        stored = await self._cache.get(key)
        if stored is None or not isinstance(stored.get("text"), str):
            return None
        return _free(ModelResponse.of(stored))

    async def _pay(self, key: str, request: ModelRequest) -> ModelResponse:
        started = time.perf_counter()
        response = await self.model.complete(request)
        latency_ms = (time.perf_counter() - started) * 1000
        await self._cache.put(key, {**response.to_json(), "latency_ms": latency_ms})
        return response


def _free(response: ModelResponse) -> ModelResponse:
    paid = response.usage + response.reused
    return replace(response, usage=Usage(), reused=paid, cached=True)


def call_key(fingerprint: str, request: ModelRequest) -> str:
    """SHA-256 over the model and everything that the answer depends on."""
    asked = request.to_json()
    # 0.0 and 0 have one hash, and without floats it is computed in a tenth of the time.
    asked["parameters"] = {name: _whole(value) for name, value in asked["parameters"].items()}
    return exact_hash([fingerprint, asked])


def _whole(value: Json) -> Json:
    return int(value) if isinstance(value, float) and value.is_integer() else value
