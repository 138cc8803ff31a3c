"""Gemini batches: requests in one call, a long-running operation, and the answers within it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

from burnish.domain import BatchRecord, BurnishError, UsageError
from burnish.models.batches.endpoint import BatchAnswer, BatchLook, Body, custom_id
from burnish.models.batches.over_http import EXPIRED, HttpBatches, id_of
from burnish.models.failures import TransientError, clean_message

_PAGE = 50
_KEY = "key"
_ENDED = ("SUCCEEDED", "PARTIALLY_SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED")
# What Google's codes are over HTTP; those of 20 and more are such already.
_STATUSES = {1: 503, 3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 9: 400, 11: 400, 14: 503, 16: 401}
_LEAST_STATUS = 100


class GeminiBatches(HttpBatches):
    """Batches at `models/NAME:batchGenerateContent`, with our id of a batch as its display name."""

    # Requests and answers stand in the calls themselves, of which none may have more than 20 MB.
    most_bytes = 18 * 1024**2
    # Google gives up a batch after two days.
    window_seconds = 3 * 86_400.0

    async def prepare(self, batch: BatchRecord, bodies: Mapping[str, Body]) -> Any:
        """All requests go with the batch itself."""
        return [{"request": body, "metadata": {_KEY: name}} for name, body in bodies.items()]

    async def submit(self, batch: BatchRecord, prepared: Any) -> str:
        """The vendor's id, after one attempt."""
        path = f"{self._wire.path.rpartition(':')[0]}:batchGenerateContent"
        source = {"requests": {"requests": prepared}}
        asked = {"batch": {"displayName": batch.id, "inputConfig": source}}
        try:
            told = await self._access.once(lambda client: client.post(path, json=asked))
        except UsageError as error:
            raise self._without_batches(error) from None
        return id_of(told, "name")

    async def find(self, batch: BatchRecord) -> str | None:
        """Through the whole list: Google does not say in which order it is."""
        token = ""
        while True:
            more = {"pageToken": token} if token else {}
            page = await self._document("GET", "batches", params={"pageSize": _PAGE, **more})
            for one in page.get("operations") or ():
                if _metadata(one).get("displayName") == batch.id:
                    return id_of(one, "name")
            token = str(page.get("nextPageToken") or "")
            if not token:
                return None

    async def look(self, vendor_id: str) -> BatchLook:
        """Where it stands."""
        told = await self._known(vendor_id)
        metadata = _metadata(told)
        state = str(metadata.get("state") or "").rpartition("STATE_")[2]
        error = told.get("error")
        return BatchLook(
            ended=told.get("done") is True or state in _ENDED,
            answered=_count(metadata.get("batchStats"), "successfulRequestCount"),
            document=told,
            failure=self._refusal(error)
            if isinstance(error, Mapping) and state == "FAILED"
            else TransientError(EXPIRED),
        )

    async def answers(self, look: BatchLook) -> AsyncIterator[BatchAnswer]:
        """All that stand in its account, by their names; else by their order, where all are there."""
        listed = _inlined(look.document)
        names = [_name(one) for one in listed]
        metadata = _metadata(look.document)
        whole = len(listed) == _count(metadata.get("batchStats"), "requestCount")
        if whole and not any(names):
            ours = str(metadata.get("displayName"))
            names = [custom_id(ours, place) for place in range(len(listed))]
        for name, one in zip(names, listed, strict=True):
            yield self._answer(name, one)

    async def cancel(self, vendor_id: str) -> None:
        """Stop it; what was answered by then is paid."""
        await self._document("POST", f"{vendor_id}:cancel", json={})

    def _answer(self, name: str, line: Mapping[str, Any]) -> BatchAnswer:
        body, error = line.get("response"), line.get("error")
        if isinstance(body, Mapping):
            return BatchAnswer(name, body)
        if not isinstance(error, Mapping):
            return BatchAnswer(name, error=TransientError(EXPIRED))
        told = self._access.vendor.read_error(json.dumps({"error": error}).encode())
        status = _status_of(error)
        return BatchAnswer(name, error=self._failed(status, told.get("message"), told.get("code")))

    def _refusal(self, error: Mapping[str, Any]) -> BurnishError | TransientError:
        """Why no request of a batch was even tried."""
        status = _status_of(error)
        message = clean_message(str(error.get("message") or "it does not say why"))
        if status == 429 or status >= 500:
            return TransientError(f"the batch failed: {message}", status=status)
        return UsageError(
            what=f"{self._access.name} refused a batch",
            why=f"{self._access.base_url} said: {message}",
            fix="leave batch out, or correct what it names",
            code="batch_refused",
        )


def _metadata(told: Any) -> Mapping[str, Any]:
    found = told.get("metadata") if isinstance(told, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _inlined(told: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The answers of a batch, which stand in its result, or in its account beside the state."""
    for place in (told.get("response"), _metadata(told).get("output")):
        outer = place.get("inlinedResponses") if isinstance(place, Mapping) else None
        inner = outer.get("inlinedResponses") if isinstance(outer, Mapping) else None
        if isinstance(inner, list):
            return [one for one in inner if isinstance(one, Mapping)]
    return []


def _name(line: Mapping[str, Any]) -> str:
    return str(_metadata(line).get(_KEY) or "")


def _count(stats: Any, name: str) -> int:
    """A number, which Google writes as text; it leaves out a 0."""
    told = str(stats.get(name)) if isinstance(stats, Mapping) else ""
    return int(told) if told.isdecimal() else 0


def _status_of(error: Mapping[str, Any]) -> int:
    code = error.get("code")
    number = code if isinstance(code, int) else 13
    return number if number >= _LEAST_STATUS else _STATUSES.get(number, 500)
