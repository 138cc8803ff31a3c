"""Fake Anthropic batches: message batches and their results."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

from burnish.testing.vendors.anthropic import FakeAnthropic
from burnish.testing.vendors.batches.server import (
    BatchServer,
    Document,
    Line,
    RefusedError,
    TakenBatch,
)

_PAGE = 20
_KINDS = {200: "succeeded", None: "expired"}


class AnthropicBatchServer(BatchServer, FakeAnthropic):
    """`/v1/messages/batches`, besides what the fake Anthropic has."""

    single = "/v1/messages"
    created_by = ("anthropic.types.messages.batch_create_params", "BatchCreateParams")

    def route(self, method: str, path: str, body: Any) -> Document | bytes | None:
        """Batches and their results."""
        place = urlsplit(path)
        match (method, *place.path.removeprefix("/v1/messages").strip("/").split("/")):
            case ("POST", "batches"):
                requests = {one["custom_id"]: one["params"] for one in body["requests"]}
                if len(requests) < len(body["requests"]):
                    raise RefusedError(400, "custom ids are not unique")
                return self._told(self.take(body, requests))
            case ("GET", "batches"):
                return self._list(parse_qs(place.query))
            case ("GET", "batches", name):
                return self._told(self.find(name, look=True))
            case ("GET", "batches", name, "results"):
                lines = [json.dumps(_line(line)) for line in self.lines(self.find(name))]
                return ("\n".join(lines) + "\n").encode()
            case ("POST", "batches", name, "cancel"):
                batch = self.find(name)
                batch.cancelled = not batch.ended
                return self._told(batch)
        return None

    def _list(self, query: dict[str, list[str]]) -> Document:
        """Newest first, page by page."""
        found = self.newest()
        names = [batch.id for batch in found]
        after = query.get("after_id", [""])[0]
        start = names.index(after) + 1 if after in names else 0
        limit = min(int(query.get("limit", ["20"])[0]), _PAGE)
        page = found[start : start + limit]
        for batch in page:  # Whoever waits for its results has no other way to look.
            batch.looks_left -= 1
        return {
            "data": [self._told(batch) for batch in page],
            "first_id": page[0].id if page else None,
            "last_id": page[-1].id if page else None,
            "has_more": start + limit < len(names),
        }

    def _told(self, batch: TakenBatch) -> Document:
        lines = self.lines(batch) if batch.ended else []
        kinds = [_KINDS.get(line.status, "errored") for line in lines]
        counts = {kind: kinds.count(kind) for kind in ("succeeded", "errored", "expired")}
        waiting = 0 if batch.ended else len(batch.requests)
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if batch.ended else "in_progress",
            "request_counts": {**counts, "processing": waiting, "canceled": 0},
            "created_at": batch.created.isoformat(),
            "results_url": f"/v1/messages/batches/{batch.id}/results" if batch.ended else None,
        }


def _line(line: Line) -> Document:
    kind = _KINDS.get(line.status, "errored")
    more = {"succeeded": {"message": line.body}, "errored": {"error": line.body}}.get(kind, {})
    return {"custom_id": line.name, "result": {"type": kind, **more}}
