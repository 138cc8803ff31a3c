"""OpenAI batches: a file of requests, a batch of it, and the files that come of that."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from typing import Any

from burnish.domain import BatchRecord, BurnishError, UsageError
from burnish.models.batches.endpoint import BatchAnswer, BatchLook, Body
from burnish.models.batches.over_http import EXPIRED, HttpBatches, documents, id_of
from burnish.models.failures import TransientError, clean_message

_ENDED = ("completed", "expired", "cancelled", "failed")
# Our id of a batch, in its metadata.
_OURS = "burnish_batch"
_PAGE = 100
# Clocks differ by less; what is older than a batch of ours cannot be it.
_SKEW = timedelta(hours=1)
# Too much waits at the vendor already: there is room again when that is done.
_PASSING = ("token_limit_exceeded", "rate_limit_exceeded")


class OpenAIBatches(HttpBatches):
    """Batches at `/v1/batches`, of chat completions or of responses."""

    submit_seconds = 60.0

    async def prepare(self, batch: BatchRecord, bodies: Mapping[str, Body]) -> str:
        """The id of the file that holds the requests; it costs nothing, and ends after 30 days."""
        url = f"/v1/{self._wire.path}"
        lines = [
            json.dumps({"custom_id": name, "method": "POST", "url": url, "body": body})
            for name, body in bodies.items()
        ]
        content = "\n".join(lines).encode() + b"\n"
        try:
            told = await self._document(
                "POST",
                "files",
                files={"file": (f"{batch.id}.jsonl", content, "application/jsonl")},
                data={"purpose": "batch"},
            )
        except UsageError as error:
            raise self._without_batches(error) from None
        return id_of(told)

    async def submit(self, batch: BatchRecord, prepared: str) -> str:
        """The vendor's id, after one attempt."""
        asked = {
            "input_file_id": prepared,
            "endpoint": f"/v1/{self._wire.path}",
            "completion_window": "24h",
            "metadata": {_OURS: batch.id},
        }
        try:
            told = await self._access.once(lambda client: client.post("batches", json=asked))
        except UsageError as error:
            raise self._without_batches(error) from None
        return id_of(told)

    async def find(self, batch: BatchRecord) -> str | None:
        """The newest first, until they are older than ours can be."""
        oldest = (batch.created_at - _SKEW).timestamp()
        after = ""
        while True:
            more = {"after": after} if after else {}
            page = await self._document("GET", "batches", params={"limit": _PAGE, **more})
            listed = [one for one in page.get("data") or () if isinstance(one, Mapping)]
            for one in listed:
                metadata = one.get("metadata")
                if isinstance(metadata, Mapping) and metadata.get(_OURS) == batch.id:
                    return id_of(one)
            past = any(_created(one) < oldest for one in listed)
            if past or not listed or not page.get("has_more"):
                return None
            after = id_of(listed[-1])

    async def look(self, vendor_id: str) -> BatchLook:
        """Where it stands."""
        told = await self._known(f"batches/{vendor_id}")
        counts = told.get("request_counts")
        done = counts.get("completed") if isinstance(counts, Mapping) else 0
        status = told.get("status")
        return BatchLook(
            ended=status in _ENDED,
            answered=done if isinstance(done, int) else 0,
            document=told,
            failure=self._refusal(told) if status == "failed" else TransientError(EXPIRED),
        )

    async def answers(self, look: BatchLook) -> AsyncIterator[BatchAnswer]:
        """Those of both files: of what was answered, and of what was not."""
        for kind in ("output_file_id", "error_file_id"):
            name = look.document.get(kind)
            if isinstance(name, str) and name:
                for line in documents(await self._fetch("GET", f"files/{name}/content")):
                    yield self._answer(line)

    async def cancel(self, vendor_id: str) -> None:
        """Stop it; what was answered by then is paid."""
        await self._document("POST", f"batches/{vendor_id}/cancel")

    def _answer(self, line: Mapping[str, Any]) -> BatchAnswer:
        name, response = str(line.get("custom_id") or ""), line.get("response")
        if not isinstance(response, Mapping):
            return BatchAnswer(name, error=TransientError(EXPIRED))
        status, body = response.get("status_code"), response.get("body")
        if status == 200 and isinstance(body, Mapping):
            return BatchAnswer(name, body)
        said = body.get("error") if isinstance(body, Mapping) else None
        error = said if isinstance(said, Mapping) else {}
        code = error.get("code") or error.get("type")
        return BatchAnswer(
            name,
            error=self._failed(
                status if isinstance(status, int) and status != 200 else 500,
                error.get("message"),
                code,
            ),
        )

    def _refusal(self, told: Mapping[str, Any]) -> BurnishError | TransientError:
        """Why no request of a batch was even tried."""
        listed = told.get("errors")
        data = listed.get("data") if isinstance(listed, Mapping) else None
        first = data[0] if isinstance(data, list) and data else {}
        said = first if isinstance(first, Mapping) else {}
        message = clean_message(str(said.get("message") or "it does not say why"))
        if said.get("code") in _PASSING:
            return TransientError(
                f"the batch was refused: {message}",
                fix="wait until batches before it are done, or send fewer requests",
                status=429,
            )
        return UsageError(
            what=f"{self._access.name} refused a batch",
            why=f"{self._access.base_url} said: {message}",
            fix="leave batch out, or correct what it names",
            code="batch_refused",
        )


def _created(told: Mapping[str, Any]) -> float:
    moment = told.get("created_at")
    return float(moment) if isinstance(moment, (int, float)) else float("inf")
