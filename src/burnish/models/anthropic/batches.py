"""Anthropic batches: message batches, which are told apart by the names of their requests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from burnish.domain import BatchRecord, UsageError
from burnish.models.batches.endpoint import (
    BatchAnswer,
    BatchLook,
    Body,
    UndecidedError,
    position_of,
)
from burnish.models.batches.over_http import EXPIRED, HttpBatches, documents, id_of
from burnish.models.failures import TransientError

_PATH = "v1/messages/batches"
_PAGE = 100
# Clocks differ by less; what is older than a batch of ours cannot be it.
_SKEW = timedelta(hours=1)
_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "overloaded_error": 529,
}


class AnthropicBatches(HttpBatches):
    """Batches at `/v1/messages/batches`. They have no metadata to keep our id in.

    The names of requests hold it instead, which the vendor tells once a batch has ended: until then a
    batch of as many requests may be the one that is looked for.
    """

    async def prepare(self, batch: BatchRecord, bodies: Mapping[str, Body]) -> Any:
        """All requests go with the batch itself."""
        return [{"custom_id": name, "params": body} for name, body in bodies.items()]

    async def submit(self, batch: BatchRecord, prepared: Any) -> str:
        """The vendor's id, after one attempt."""
        asked = {"requests": prepared}
        try:
            told = await self._access.once(lambda client: client.post(_PATH, json=asked))
        except UsageError as error:
            raise self._without_batches(error) from None
        return id_of(told)

    async def find(self, batch: BatchRecord) -> str | None:
        """The newest first, until they are older than ours can be."""
        oldest, after, undecided = batch.created_at - _SKEW, "", False
        while True:
            more = {"after_id": after} if after else {}
            page = await self._document("GET", _PATH, params={"limit": _PAGE, **more})
            listed = [one for one in page.get("data") or () if isinstance(one, Mapping)]
            for one in listed:
                if _created(one, oldest) < oldest:
                    continue
                if one.get("processing_status") != "ended":
                    undecided = undecided or _total(one) == batch.requests
                elif await self._is_ours(batch, id_of(one)):
                    return id_of(one)
            past = any(_created(one, oldest) < oldest for one in listed)
            if past or not listed or not page.get("has_more"):
                break
            after = id_of(listed[-1])
        if undecided:
            raise UndecidedError
        return None

    async def look(self, vendor_id: str) -> BatchLook:
        """Where it stands."""
        told = await self._known(f"{_PATH}/{vendor_id}")
        counts = told.get("request_counts")
        done = counts.get("succeeded") if isinstance(counts, Mapping) else 0
        return BatchLook(
            ended=told.get("processing_status") == "ended",
            answered=done if isinstance(done, int) else 0,
            document=told,
        )

    async def answers(self, look: BatchLook) -> AsyncIterator[BatchAnswer]:
        """All lines of the results."""
        path = f"{_PATH}/{id_of(look.document)}/results"
        for line in documents(await self._fetch("GET", path)):
            yield self._answer(line)

    async def cancel(self, vendor_id: str) -> None:
        """Stop it; what was answered by then is paid."""
        await self._document("POST", f"{_PATH}/{vendor_id}/cancel")

    async def _is_ours(self, batch: BatchRecord, vendor_id: str) -> bool:
        lines = documents(await self._fetch("GET", f"{_PATH}/{vendor_id}/results"))
        return any(
            position_of(batch.id, str(line.get("custom_id") or "")) is not None for line in lines
        )

    def _answer(self, line: Mapping[str, Any]) -> BatchAnswer:
        name, result = str(line.get("custom_id") or ""), line.get("result")
        told: Mapping[str, Any] = result if isinstance(result, Mapping) else {}
        message = told.get("message")
        if told.get("type") == "succeeded" and isinstance(message, Mapping):
            return BatchAnswer(name, message)
        if told.get("type") != "errored":
            return BatchAnswer(name, error=TransientError(EXPIRED))
        outer = told.get("error")
        inner = outer.get("error", outer) if isinstance(outer, Mapping) else None
        said: Mapping[str, Any] = inner if isinstance(inner, Mapping) else {}
        status = _STATUSES.get(str(said.get("type")), 500)
        return BatchAnswer(name, error=self._failed(status, said.get("message"), said.get("type")))


def _total(told: Mapping[str, Any]) -> int:
    counts = told.get("request_counts")
    given = counts.values() if isinstance(counts, Mapping) else ()
    return sum(one for one in given if isinstance(one, int))


def _created(told: Mapping[str, Any], otherwise: datetime) -> datetime:
    try:
        moment = datetime.fromisoformat(str(told.get("created_at")))
    except ValueError:
        return otherwise
    return moment if moment.tzinfo is not None else otherwise
