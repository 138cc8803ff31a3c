"""Fake OpenAI batches: files, batches of them, and the files that come of those."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

from burnish.testing.vendors.batches.server import (
    BatchServer,
    Document,
    Line,
    RefusedError,
    TakenBatch,
)
from burnish.testing.vendors.openai import FakeOpenAI

_PAGE = 20
_EXPIRED = {"code": "batch_expired", "message": "It was not done within the completion window."}


class OpenAIBatchServer(BatchServer, FakeOpenAI):
    """`/v1/files` and `/v1/batches`, besides what the fake OpenAI has."""

    single = "/v1/chat/completions"
    created_by = ("openai.types.batch_create_params", "BatchCreateParams")

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.files: dict[str, bytes] = {}

    def route(self, method: str, path: str, body: Any) -> Document | bytes | None:
        """Files and batches."""
        place = urlsplit(path)
        match (method, *place.path.removeprefix("/v1/").split("/")):
            case ("POST", "files"):
                return self._keep(body)
            case ("GET", "files", name, "content"):
                return self.files[name]
            case ("POST", "batches"):
                return self._told(self._create(body))
            case ("GET", "batches"):
                return self._list(parse_qs(place.query))
            case ("GET", "batches", name):
                return self._told(self.find(name, look=True))
            case ("POST", "batches", name, "cancel"):
                batch = self.find(name)
                batch.cancelled = not batch.ended
                return self._told(batch)
        return None

    def _keep(self, form: bytes) -> Document:
        name = f"file-{len(self.files)}"
        self.files[name] = content = _file_in(form)
        told = {"object": "file", "filename": "batch.jsonl", "purpose": "batch", "created_at": 0}
        return {"id": name, "bytes": len(content), "status": "processed", **told}

    def _create(self, asked: Document) -> TakenBatch:
        if asked.get("completion_window") != "24h" or asked.get("input_file_id") not in self.files:
            raise RefusedError(400, "completion_window is 24h, and the file must be there")
        lines = [json.loads(line) for line in self.files[asked["input_file_id"]].splitlines()]
        if any(one["url"] != asked["endpoint"] or one["method"] != "POST" for one in lines):
            raise RefusedError(400, "each line's url is that of the batch")
        requests = {one["custom_id"]: one["body"] for one in lines}
        if len(requests) < len(lines):
            raise RefusedError(400, "custom ids are not unique")
        self.single = asked["endpoint"]
        return self.take(asked, requests, **asked)

    def _list(self, query: dict[str, list[str]]) -> Document:
        """Newest first, page by page."""
        found = self.newest()
        names = [batch.id for batch in found]
        after = query.get("after", [""])[0]
        start = names.index(after) + 1 if after in names else 0
        limit = min(int(query.get("limit", ["20"])[0]), _PAGE)
        page = [self._told(batch) for batch in found[start : start + limit]]
        return {"object": "list", "data": page, "has_more": start + limit < len(names)}

    def _told(self, batch: TakenBatch) -> Document:
        lines = self.lines(batch) if batch.ended else []
        answered = [line for line in lines if line.status == 200]
        others = [line for line in lines if line.status != 200]
        status = "in_progress"
        if batch.ended:
            status = "expired" if any(line.status is None for line in others) else "completed"
            status = "cancelled" if batch.cancelled else status
        counts = {
            "total": len(batch.requests),
            "completed": len(answered),
            "failed": len(others),
        }
        return {
            **batch.told,
            "id": batch.id,
            "object": "batch",
            "created_at": int(batch.created.timestamp()),
            "status": status,
            "output_file_id": self._file(batch, "output", answered),
            "error_file_id": self._file(batch, "error", others),
            "request_counts": counts,
        }

    def _file(self, batch: TakenBatch, kind: str, lines: list[Line]) -> str | None:
        if not lines:
            return None
        name = f"file-{kind}-{batch.id}"
        if name not in self.files:
            told = [json.dumps(_line(line)) for line in lines]
            self.files[name] = ("\n".join(told) + "\n").encode()
        return name


def _line(line: Line) -> Document:
    response = None
    if line.status is not None:
        response = {"status_code": line.status, "request_id": "r", "body": line.body}
    error = _EXPIRED if response is None else None
    return {"id": "b", "custom_id": line.name, "response": response, "error": error}


def _file_in(form: bytes) -> bytes:
    """The file of a form, as httpx and OpenAI's own client send it."""
    mark = form.split(b"\r\n", 1)[0]
    for part in form.split(mark):
        head, _, content = part.partition(b"\r\n\r\n")
        if re.search(rb'name="file"', head):
            return content.removesuffix(b"\r\n")
    raise RefusedError(400, "the form has no file")
