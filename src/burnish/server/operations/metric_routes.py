"""For whoever operates a server: what it does."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Response

from burnish.server.http.errors import errors
from burnish.server.http.services import Serving

router = APIRouter(tags=["operations"])


@router.get(
    "/metrics",
    response_class=Response,
    responses={
        200: {
            "description": "Prometheus' text format.",
            "content": {"text/plain": {"schema": {"type": "string"}}},
        },
        **errors(),
    },
)
async def metrics(serving: Serving) -> Response:
    """Requests, runs, items, tokens, cost and the queue."""
    statuses, queue = await asyncio.gather(
        serving.workspace.pages.status_counts(), serving.workspace.queue.depth()
    )
    text = serving.metrics.expose(
        statuses=statuses,
        active=0 if serving.executor is None else serving.executor.active,
        queue=queue,
        image_runs=0 if serving.image_executor is None else serving.image_executor.active,
        watchers=serving.hub.watchers + serving.image_hub.watchers,
    )
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")
