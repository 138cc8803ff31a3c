"""Opik routes of traces, their spans and their scores."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request
from pydantic import Field

from burnish.domain.opik import OpikScore
from burnish.server.opik.datasets import Id, Name
from burnish.server.opik.requests import Body, Ingest, Kept, read_body

router = APIRouter(prefix="/v1/private")
_MOST_AT_ONCE = 5_000
Identity = Annotated[str, Path(min_length=1, max_length=100)]


class SentTrace(Kept):
    """A trace, begun or ended."""

    id: Id


class SentSpan(Kept):
    """A span of a trace."""

    id: Id
    trace_id: Id


class ChangedTrace(Kept):
    """What is new about a trace that the path names."""


class ChangedSpan(Kept):
    """What is new about a span that the path names."""

    trace_id: Id


class SentTraces(Body):
    """A batch."""

    traces: list[SentTrace] = Field(max_length=_MOST_AT_ONCE)


class SentSpans(Body):
    """A batch."""

    spans: list[SentSpan] = Field(max_length=_MOST_AT_ONCE)


class SentScore(Kept):
    """A score; its `id` is the trace's."""

    id: Id
    name: Name
    value: float | None = None


class SentScores(Body):
    """A batch."""

    scores: list[SentScore] = Field(max_length=_MOST_AT_ONCE)


@router.post("/traces/batch", status_code=204)
async def put_traces(request: Request, ingest: Ingest) -> None:
    """Keep traces."""
    sent = await read_body(request, SentTraces)
    await ingest.put_traces([one.document() for one in sent.traces])


@router.post("/traces", status_code=201)
async def put_trace(request: Request, ingest: Ingest) -> None:
    """Keep one."""
    await ingest.put_traces([(await read_body(request, SentTrace)).document()])


@router.patch("/traces/{trace_id}", status_code=204)
async def change_trace(request: Request, ingest: Ingest, trace_id: Identity) -> None:
    """Keep what is new about one."""
    sent = await read_body(request, ChangedTrace)
    await ingest.put_traces([{**sent.document(), "id": trace_id}])


@router.post("/spans/batch", status_code=204)
async def put_spans(request: Request, ingest: Ingest) -> None:
    """Keep spans."""
    sent = await read_body(request, SentSpans)
    await ingest.put_spans([one.document() for one in sent.spans])


@router.post("/spans", status_code=201)
async def put_span(request: Request, ingest: Ingest) -> None:
    """Keep one."""
    await ingest.put_spans([(await read_body(request, SentSpan)).document()])


@router.patch("/spans/{span_id}", status_code=204)
async def change_span(request: Request, ingest: Ingest, span_id: Identity) -> None:
    """Keep what is new about one."""
    sent = await read_body(request, ChangedSpan)
    await ingest.put_spans([{**sent.document(), "id": span_id}])


@router.put("/traces/feedback-scores", status_code=204)
async def put_scores(request: Request, ingest: Ingest) -> None:
    """Keep scores of traces."""
    sent = await read_body(request, SentScores)
    await ingest.put_scores(
        [OpikScore(trace_id=one.id, name=one.name, document=one.document()) for one in sent.scores]
    )
