"""Optimizations: what there is, and how each stands."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response

from burnish.app.report.html import read_material, render_page
from burnish.app.report.run_lines import read_lines
from burnish.app.report.run_summary import read_front, read_summary
from burnish.domain import OptimizationStatus
from burnish.domain.read_models import OptimizationFilter, OptimizationOrder
from burnish.server.http.errors import errors
from burnish.server.http.report_policy import report_headers
from burnish.server.http.requests import Cursor, Limit, OptimizationId, decode_cursor, encode_cursor
from burnish.server.http.services import Serving
from burnish.server.optimizations.line_schemas import Facets, OptimizationLine, OptimizationPage
from burnish.server.optimizations.schemas import OptimizationView
from burnish.server.optimizations.trial_schemas import Front, FrontPoint

router = APIRouter(prefix="/v1/private/optimizations", tags=["optimizations"])


async def _wanted(
    status: Annotated[list[OptimizationStatus] | None, Query()] = None,
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
    return OptimizationFilter(
        statuses=status or (), agent=agent, suite=suite, optimizer=optimizer, name=name, text=q
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
    return OptimizationPage(
        items=[OptimizationLine.of(one) for one in await read_lines(workspace, page.items)],
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
    return Response(page, media_type="text/html; charset=utf-8", headers=report_headers(page))
