"""Fake OpenAI batches: files, batches and chat completions."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs

from burnish.testing.batches.server import (
    BatchServer,
    Document,
    Line,
    RefusedError,
    TakenBatch,
    digest,
    file_in_form,
)

_PAGE = 20


class OpenAIBatchServer(BatchServer):
    """`/v1/files`, `/v1/batches` and `/v1/chat/completions`, as OpenAI has them."""

    base = "/v1"

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.files: dict[str, bytes] = {}

    def route(self, method: str, path: str, query: str, body: bytes) -> Document | bytes:
        """The answer to a request; RefusedError for an error."""
        match (method, *path.split("/")):
            case ("POST", "chat", "completions"):
                request = json.loads(body)
                self.called[digest(request)] += 1
                return self.completed(request)
            case ("POST", "files"):
                return self._keep(file_in_form(body))
            case ("GET", "files", name, "content"):
                return self.files[name]
            case ("POST", "batches"):
                return self._create(json.loads(body))
            case ("GET", "batches"):
                return self._list(parse_qs(query))
            case ("GET", "batches", name):
                batch = self.find(name)
                batch.looks_left -= 1
                return self._told(batch)
            case ("POST", "batches", name, "cancel"):
                batch = self.find(name)
                batch.cancelled = not batch.ended
                return self._told(batch)
        raise RefusedError(404, f"there is no {path}")

    def completed(self, request: Document) -> Document:
        """A chat completion."""
        text = request["messages"][-1]["content"]
        answer = self.answer(text)
        return {
            "id": f"chatcmpl-{digest(request)[:12]}",
            "object": "chat.completion",
            "created": 0,
            "model": request["model"],
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": answer, "refusal": None},
                    "logprobs": None,
                    "finish_reason": "stop",
                }
            ],
            "usage": {
                "prompt_tokens": len(text.split()),
                "completion_tokens": len(answer.split()),
                "total_tokens": len(text.split()) + len(answer.split()),
            },
        }

    def _keep(self, content: bytes) -> Document:
        name = f"file-{len(self.files)}"
        self.files[name] = content
        return {
            "id": name,
            "object": "file",
            "bytes": len(content),
            "created_at": 0,
            "filename": "batch.jsonl",
            "purpose": "batch",
            "status": "processed",
        }

    def _create(self, asked: Document) -> Document:
        if asked.get("completion_window") != "24h" or asked.get("input_file_id") not in self.files:
            raise RefusedError(400, "completion_window is 24h, and the file must be there")
        lines = [json.loads(line) for line in self.files[asked["input_file_id"]].splitlines()]
        if any(one["url"] != asked["endpoint"] or one["method"] != "POST" for one in lines):
            raise RefusedError(400, "each line's url is that of the batch")
        requests = {one["custom_id"]: one["body"] for one in lines}
        if len(requests) < len(lines):
            raise RefusedError(400, "custom ids are not unique")
        told = {name: asked.get(name) for name in ("input_file_id", "endpoint", "metadata")}
        return self._told(self.take(requests, **told))

    def _list(self, query: dict[str, list[str]]) -> Document:
        """Newest first, page by page."""
        names = sorted(self.batches, key=lambda name: -self.batches[name].number)
        after = query.get("after", [""])[0]
        start = names.index(after) + 1 if after in names else 0
        limit = min(int(query.get("limit", ["20"])[0]), _PAGE)
        page = names[start : start + limit]
        return {
            "object": "list",
            "data": [self._told(self.batches[name]) for name in page],
            "first_id": page[0] if page else None,
            "last_id": page[-1] if page else None,
            "has_more": start + limit < len(names),
        }

    def _told(self, batch: TakenBatch) -> Document:
        lines = self.lines(batch) if batch.ended else []
        answered = [line for line in lines if line.answer is not None]
        others = [line for line in lines if line.answer is None]
        status = "in_progress"
        if batch.ended:
            unfinished = any(line.status is None for line in others)
            status = "expired" if unfinished else "completed"
            status = "cancelled" if batch.cancelled else status
        return {
            "id": batch.id,
            "object": "batch",
            "completion_window": "24h",
            "created_at": 0,
            "status": status,
            **batch.told,
            "output_file_id": self._file(batch, "output", answered),
            "error_file_id": self._file(batch, "error", others),
            "request_counts": {
                "total": len(batch.requests),
                "completed": len(answered),
                "failed": len(others),
            },
        }

    def _file(self, batch: TakenBatch, kind: str, lines: list[Line]) -> str | None:
        if not lines:
            return None
        name = f"file-{kind}-{batch.id}"
        told = [json.dumps(_line(line)) for line in lines]
        self.files[name] = ("\n".join(told) + "\n").encode()
        return name


def _line(line: Line) -> Document:
    told: Document = {"id": f"req_{line.name}", "custom_id": line.name, "error": None}
    if line.answer is not None:
        return {**told, "response": {"status_code": 200, "request_id": "r", "body": line.answer}}
    if line.status is not None:
        error = {"error": {"message": f"status {line.status}", "code": None}}
        response = {"status_code": line.status, "request_id": "r", "body": error}
        return {**told, "response": response}
    why = "This request could not be executed before the completion window expired."
    return {**told, "response": None, "error": {"code": "batch_expired", "message": why}}
