"""Routes of optimizations: list, read, make, start, cancel, resume, copy, and watch their events."""

from __future__ import annotations

import asyncio
import html
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Header, Query, Response

from burnish.app.optimize import cancellation
from burnish.app.optimize.client_lease import is_of_client
from burnish.app.optimize.creation import (
    create_run,
    duplicate_run,
    request_of,
    require_startable,
)
from burnish.app.report.html import read_material, render_page
from burnish.app.report.runs.lines import read_lines
from burnish.app.report.runs.summary import read_front, read_summary
from burnish.domain import OptimizationStatus, UsageError
from burnish.domain.optimizations.pages import OptimizationFilter, OptimizationOrder
from burnish.server.http import examples
from burnish.server.http.errors import errors
from burnish.server.http.request_log import CONTENT_POLICY
from burnish.server.http.requests import Cursor, Limit, OptimizationId, decode_cursor, encode_cursor
from burnish.server.http.services import Services, Serving
from burnish.server.http.sse import EventStream, Watching
from burnish.server.optimizations.request_schemas import CopyChanges, Duplicated, NewOptimization
from burnish.server.optimizations.schemas import (
    Facets,
    OptimizationLine,
    OptimizationPage,
    OptimizationView,
)
from burnish.server.optimizations.trial_schemas import Front, FrontPoint

router = APIRouter(prefix="/v1/private/optimizations", tags=["optimizations"])
event_router = APIRouter(prefix="/v1/private", tags=["events"])
_REPORT_POLICY = re.compile(r'http-equiv="Content-Security-Policy" content="([^"]*)"')
# One that nobody works on is ended at once; an owner elsewhere is not waited for.
_PATIENCE_SECONDS = 0.5
_LINKED = (
    *("get_optimization", "list_trials", "get_graph", "list_rejections", "get_front"),
    *("cancel_optimization", "resume_optimization", "duplicate_optimization"),
)
_LARGEST = 2**53
_EXAMPLE = (
    "id: 12\nevent: best_candidate_changed\n"
    f'data: {{"optimization_id":"{examples.OPTIMIZATION_ID}","sequence":12,'
    f'"type":"best_candidate_changed","created_at":"2026-01-31T12:00:00.000000Z",'
    f'"payload":{{"candidate_id":"{examples.CANDIDATE_ID}","score":0.88}}}}\n\n'
)
_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Events as they happen: run_status_changed, progress_changed, "
        "trial_added_or_updated, best_candidate_changed, run_finished; and `reload` when the "
        "snapshot has to be loaded again. Comments keep the connection alive.",
        "content": {
            "text/event-stream": {"schema": {"type": "string"}, "example": _EXAMPLE},
        },
    },
    **errors(404),
}
LastEventIdHeader = Annotated[
    str | None, Header(alias="Last-Event-ID", description="Go on after this event's id.")
]
LastEventIdQuery = Annotated[
    str | None,
    Query(alias="last_event_id", description="The same, where no header can be set."),
]
UntilFinished = Annotated[
    bool, Query(description="End the stream once the run has ended; handy for curl.")
]


async def _wanted(
    status: Annotated[
        list[OptimizationStatus | Literal["interrupted"]] | None,
        Query(description="As `state` has it: what nobody works on is interrupted, not running."),
    ] = None,
    agent: Annotated[str | None, Query(max_length=200)] = None,
    suite: Annotated[str | None, Query(max_length=200)] = None,
    optimizer: Annotated[str | None, Query(max_length=200)] = None,
    name: Annotated[
        str | None, Query(max_length=200, description="Part of the name, in any case.")
    ] = None,
    q: Annotated[
        str | None,
        Query(
            max_length=200,
            description="Part of the name, agent, suite or optimizer, or the id's beginning.",
        ),
    ] = None,
) -> OptimizationFilter:
    running = OptimizationStatus.RUNNING
    statuses = [running if one == "interrupted" else one for one in status or ()]
    return OptimizationFilter(
        statuses=statuses,
        states=status or (),
        agent=agent,
        suite=suite,
        optimizer=optimizer,
        name=name,
        text=q,
    )


@router.get("", responses=errors())
async def list_optimizations(
    serving: Serving,
    wanted: Annotated[OptimizationFilter, Depends(_wanted)],
    sort: OptimizationOrder = OptimizationOrder.NEWEST,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> OptimizationPage:
    """Optimizations, the newest first unless sorted otherwise."""
    workspace = serving.workspace
    page = await workspace.pages.optimizations(
        wanted, order=sort, limit=limit, after=decode_cursor(sort.value, cursor)
    )
    lines = await read_lines(workspace, page.items)
    shown = [one for one in lines if not wanted.states or one.state in wanted.states]
    return OptimizationPage(
        items=[OptimizationLine.of(one) for one in shown],
        next_cursor=encode_cursor(sort.value, page.next),
    )


@router.get("/facets", responses=errors())
async def get_facets(serving: Serving) -> Facets:
    """What there is to filter the list by, with how many there are of each."""
    return Facets.of(await serving.workspace.insights.facets())


@router.get("/{optimization_id}", responses=errors(404))
async def get_optimization(serving: Serving, optimization_id: OptimizationId) -> OptimizationView:
    """How it stands: what a page loads before it follows the events."""
    return OptimizationView.of_summary(await read_summary(serving.workspace, optimization_id))


@router.get("/{optimization_id}/front", responses=errors(404))
async def get_front(serving: Serving, optimization_id: OptimizationId) -> Front:
    """Candidates that no other beats in score and in what one evaluation takes."""
    points = await read_front(serving.workspace, optimization_id)
    return Front(points=[FrontPoint.model_validate(one) for one in points])


@router.get(
    "/{optimization_id}/report",
    response_class=Response,
    responses={
        200: {
            "content": {"text/html": {"schema": {"type": "string"}}},
            "description": "One page that asks nobody for anything.",
        },
        **errors(404),
    },
)
async def get_report(serving: Serving, optimization_id: OptimizationId) -> Response:
    """The optimization as one self-contained HTML page."""
    material = await read_material(serving.workspace, optimization_id)
    page = await asyncio.to_thread(render_page, material, datetime.now(UTC))
    return Response(page, media_type="text/html; charset=utf-8", headers=_report_headers(page))


def _report_headers(page: str) -> dict[str, str]:
    """The content policy that the report names in its page, which no other page may frame."""
    named = _REPORT_POLICY.search(page)
    policy = f"{html.unescape(named.group(1))}; frame-ancestors 'none'" if named else CONTENT_POLICY
    return {"Content-Security-Policy": policy}


def _links(place: str) -> dict[str, Any]:
    """Where the id of a new optimization can be used."""
    parameters = {"optimization_id": f"$response.body#{place}"}
    return {name: {"operationId": name, "parameters": parameters} for name in _LINKED}


@router.post(
    "",
    status_code=201,
    responses={201: {"links": _links("/optimization_id")}, **errors(404, 409)},
)
async def create_optimization(serving: Serving, new: NewOptimization) -> OptimizationView:
    """Make an optimization and start it. It runs in the background, also when this server ends."""
    created = await create_run(serving.workspace, serving.project, new.run_request())
    if new.start:
        await serving.start_run(created)
    return OptimizationView.of_summary(await read_summary(serving.workspace, created))


@router.post("/{optimization_id}/cancel", status_code=202, responses=errors(404, 409))
async def cancel_optimization(
    serving: Serving, optimization_id: OptimizationId
) -> OptimizationView:
    """Stop it for good, wherever it runs. What was evaluated is kept; asking twice does no harm."""
    await cancellation.cancel_optimization(
        serving.workspace, optimization_id, patience_seconds=_PATIENCE_SECONDS
    )
    return OptimizationView.of_summary(await read_summary(serving.workspace, optimization_id))


@router.post("/{optimization_id}/resume", status_code=202, responses=errors(404, 409))
async def resume_optimization(
    serving: Serving, optimization_id: OptimizationId
) -> OptimizationView:
    """Start or go on with one that was not started, was given up or has failed."""
    record = await serving.workspace.optimizations.get_optimization(optimization_id)
    done = record.status is OptimizationStatus.COMPLETED
    if not done or is_of_client(record):
        await asyncio.to_thread(require_startable, serving.project, record)
    if not done:
        await serving.start_run(optimization_id)
    return OptimizationView.of_summary(await read_summary(serving.workspace, optimization_id))


@router.post(
    "/{optimization_id}/duplicate",
    status_code=201,
    responses={201: {"links": _links("/optimization/optimization_id")}, **errors(404, 409)},
)
async def duplicate_optimization(
    serving: Serving, optimization_id: OptimizationId, changes: CopyChanges | None = None
) -> Duplicated:
    """A new run like this one, with what is changed; it is not started."""
    workspace = serving.workspace
    original = await workspace.optimizations.get_optimization(optimization_id)
    request = (changes or CopyChanges()).request()
    created = await duplicate_run(workspace, serving.project, original, request)
    copy = await workspace.optimizations.get_optimization(created)
    return Duplicated(
        optimization=OptimizationView.of_summary(await read_summary(workspace, created)),
        request=NewOptimization.of(request_of(serving.project, copy)),
    )


@event_router.get(
    "/optimizations/{optimization_id}/events", response_class=Response, responses=_STREAM
)
async def watch_optimization(
    serving: Serving,
    optimization_id: OptimizationId,
    last_event_id: LastEventIdHeader = None,
    after: LastEventIdQuery = None,
    until_finished: UntilFinished = False,
) -> Response:
    """Everything that happens in one optimization, from its beginning or a given event on."""
    starts = _starts(last_event_id or after, 1)
    return await _stream(serving, [optimization_id], starts, until_finished=until_finished)


@event_router.get("/events", response_class=Response, responses=_STREAM)
async def watch_many(
    serving: Serving,
    optimization_id: Annotated[
        list[str], Query(min_length=1, max_length=100, description="Repeatable, in a fixed order.")
    ],
    last_event_id: LastEventIdHeader = None,
    after: LastEventIdQuery = None,
    until_finished: UntilFinished = False,
) -> Response:
    """The events of many optimizations on one connection, of which a browser has only six.

    An event's id has a number for each optimization, in the order of the request: `12.0.7`.
    """
    ids = list(dict.fromkeys(optimization_id))
    starts = _starts(last_event_id or after, len(ids))
    return await _stream(serving, ids, starts, until_finished=until_finished)


async def _stream(
    serving: Services, ids: Sequence[str], starts: Sequence[int], *, until_finished: bool
) -> Response:
    unfinished = None
    if until_finished:
        unfinished = await _unfinished(serving, ids, starts)
    watching = Watching(serving.hub, ids, starts, unfinished=unfinished)
    return EventStream(watching, await watching.open())


async def _unfinished(serving: Services, ids: Sequence[str], starts: Sequence[int]) -> list[str]:
    """Those that have not ended, or whose end this client was not told of."""
    positions = await serving.workspace.feed.positions(ids)
    found = []
    for one, start in zip(ids, starts, strict=True):
        record = await serving.workspace.optimizations.get_optimization(one)
        if not record.status.final or start < positions.get(one, 0):
            found.append(one)
    return found


def _starts(given: str | None, count: int) -> list[int]:
    """The positions that an event's id stands for."""
    if not given:
        return [0] * count
    parts = given.split(".")
    right = len(parts) == count and all(
        part.isascii() and part.isdecimal() and len(part) <= 16 and int(part) < _LARGEST
        for part in parts
    )
    if not right:
        raise UsageError(
            what="the stream cannot go on from that event",
            why=f"a Last-Event-ID of this stream has {count} number(s) with dots between them",
            fix="send the last id that this stream gave, for the same optimizations in the same "
            "order, or none",
            code="invalid_event_id",
        )
    return [int(part) for part in parts]
