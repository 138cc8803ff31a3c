"""Fake Gemini batches: operations, with the answers in them once they are done."""

from __future__ import annotations

import json
import re
from importlib import import_module
from typing import Any
from urllib.parse import parse_qs, urlsplit

from burnish.testing.vendors.batches.server import (
    BatchServer,
    Document,
    Line,
    TakenBatch,
)
from burnish.testing.vendors.gemini import FakeGemini

_PAGE = 20
_CREATE = re.compile(r"/v1beta/(models/[\w.%-]+):batchGenerateContent")
_ONE = re.compile(r"/v1beta/batches/(\w+)(:cancel)?")
_DEADLINE = {"code": 4, "message": "The batch ended before it was done."}
_CODES = {400: 3, 403: 7, 404: 5, 429: 8, 500: 13, 503: 14}


class GeminiBatchServer(BatchServer, FakeGemini):
    """`:batchGenerateContent` and `/v1beta/batches`, besides what the fake Gemini has.

    Lists are not in the order in which batches came.
    """

    def route(self, method: str, path: str, body: Any) -> Document | bytes | None:
        """Batches, which are operations."""
        place = urlsplit(path)
        created, one = _CREATE.fullmatch(place.path), _ONE.fullmatch(place.path)
        if method == "POST" and created is not None:
            return self._told(self._create(created[1], body))
        if method == "GET" and place.path == "/v1beta/batches":
            return self._list(parse_qs(place.query))
        if one is None:
            return None
        batch = self.find(one[1], look=method == "GET")
        if one[2] and method == "POST":
            batch.cancelled = not batch.ended
            return {}
        return self._told(batch)

    def batch_problem(self, asked: Document) -> str:
        """By the types of the SDK, request by request."""
        batch = asked.get("batch", {})
        unknown = {*asked} - {"batch"} | {*batch} - {"displayName", "inputConfig"}
        if unknown or not batch.get("displayName"):
            return (
                f"Unknown name {', '.join(unknown)}" if unknown else "displayName is not specified"
            )
        try:
            inlined = import_module("google.genai.types").InlinedRequest
        except ImportError:
            return ""
        for one in batch["inputConfig"]["requests"]["requests"]:
            if {*one} - {"request", "metadata"}:
                return "a request has other fields than request and metadata"
            problem = self._problem(("google.genai.types", ""), one["request"])
            if problem:
                return problem
            try:
                inlined.model_validate_json(json.dumps({"metadata": one["metadata"]}))
            except ValueError as error:
                return f"Invalid JSON payload: {error}"
        return ""

    def _create(self, model: str, asked: Document) -> TakenBatch:
        self.single = f"/v1beta/{model}:generateContent"
        listed = asked["batch"]["inputConfig"]["requests"]["requests"]
        requests = {one["metadata"]["key"]: one["request"] for one in listed}
        told = {"displayName": asked["batch"]["displayName"], "model": model}
        return self.take(asked, requests, **told)

    def _list(self, query: dict[str, list[str]]) -> Document:
        """The oldest last but one, page by page."""
        found = self.newest()
        found = [*found[1:], *found[:1]]
        start = int(query.get("pageToken", ["0"])[0])
        end = start + min(int(query.get("pageSize", ["20"])[0]), _PAGE)
        more = {"nextPageToken": str(end)} if end < len(found) else {}
        return {"operations": [self._told(batch) for batch in found[start:end]], **more}

    def _told(self, batch: TakenBatch) -> Document:
        lines = self.lines(batch) if batch.ended else []
        # The answers of a batch that expired as a whole cannot be had.
        state = "SUCCEEDED" if any(line.status for line in lines) or not lines else "EXPIRED"
        state = "CANCELLED" if batch.cancelled else state
        answered = sum(line.status == 200 for line in lines)
        stats = {"requestCount": str(len(batch.requests))}
        stats |= {"successfulRequestCount": str(answered)} if answered else {}
        name = f"batches/{batch.id}"
        told: Document = {
            "name": name,
            "metadata": {
                "@type": "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch",
                **batch.told,
                "name": name,
                "createTime": batch.created.isoformat(),
                "batchStats": stats,
                "state": f"BATCH_STATE_{state if batch.ended else 'RUNNING'}",
            },
        }
        if state == "SUCCEEDED" and batch.ended:
            inner = {"inlinedResponses": {"inlinedResponses": [_line(line) for line in lines]}}
            told |= {"done": True, "response": inner}
        return told


def _line(line: Line) -> Document:
    named: Document = {"metadata": {"key": line.name}}
    if line.status == 200:
        return {**named, "response": line.body}
    if line.status is None:
        return {**named, "error": _DEADLINE}
    said = {**line.body["error"], "code": _CODES.get(line.status, 2)}
    said.pop("status", None)
    return {**named, "error": said}
