"""Deadlines: streams have none, and nothing else passes for a stream."""

import asyncio

import pytest

from burnish.server.http.limits import Limits


async def asked(method, path):
    """The status of a request that takes a moment where none is allowed."""
    sent = []

    async def app(scope, receive, send):
        await asyncio.sleep(0)
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": method, "path": path, "headers": []}
    await Limits(app, max_body_bytes=10, seconds=0)(scope, receive, send)
    return sent[0]["status"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/private/optimizations/x/events", 200),
        ("POST", "/v1/private/agents/events", 503),
        ("GET", "/v1/private/agents", 503),
    ],
)
async def test_only_streams_may_last(method, path, status):
    assert await asked(method, path) == status
