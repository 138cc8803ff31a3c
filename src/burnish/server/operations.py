"""Operations: health, metrics, what this server serves, and its front page."""

from __future__ import annotations

import asyncio
import os
from typing import Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from burnish import __version__
from burnish.app.optimize.runners import MAILBOX_VARIABLE
from burnish.app.wiring import Workspace
from burnish.config.search import SearchSpec
from burnish.config.served_project import ServedProject, suite_name
from burnish.domain import UnavailableError
from burnish.jobs.event_listeners import VARIABLE as EVENTS_VARIABLE
from burnish.optimizers.catalog import list_optimizers
from burnish.server.http.errors import errors
from burnish.server.http.examples import WITH_EXAMPLES
from burnish.server.http.responses import ready_json
from burnish.server.http.services import Serving

project_router = APIRouter(tags=["project"])
metrics_router = APIRouter(tags=["operations"])
# The only routes of the API that need no key.
probe_router = APIRouter(tags=["operations"])
# How long a part may take to answer.
_READY_SECONDS = 5.0  # what is busy answers late, and is not away
_FRONT = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Burnish</title></head>
<body><h1>Burnish</h1>
<p>The HTTP API is at work here; <a href="/openapi.json">/openapi.json</a> describes it, and the
command line does all that it does: <code>burnish --help</code>.</p>
<p>This installation has no web UI. The wheel has it; in a checkout, install Node 20 and run
<code>make ui</code>, and then load this page again.</p>
</body></html>
"""


class Live(BaseModel):
    """The process answers."""

    model_config = WITH_EXAMPLES

    status: Literal["ok"]


class Ready(BaseModel):
    """Requests can be served; each part that was asked has answered."""

    model_config = WITH_EXAMPLES

    status: Literal["ok"]
    checks: dict[str, str]


class Project(BaseModel):
    """What can be run here: names for a new optimization, and what stands for what is left out."""

    agent: str | None = Field(
        examples=["reviews"], description="None where there is no burnish.toml with an agent."
    )
    suite: str | None = Field(examples=["reviews"])
    optimizer: dict[str, Any] = Field(examples=[{"name": "edits", "racing": "aggressive"}])
    optimizers: list[str] = Field(examples=[["auto", "edits", "gepa"]])
    budget: dict[str, int | float | None] = Field(examples=[{"max_evaluations": 1000}])
    models: list[str] = Field(examples=[["local/smollm2-135m"]])
    executes: bool = Field(description="Whether this server runs optimizations itself.")


@project_router.get("/", response_class=Response, include_in_schema=False)
async def front_page(request: Request) -> Response:
    """What there is, where there is no web UI: a page for browsers, JSON for programs."""
    if "text/html" in request.headers.get("accept", "").lower():
        return Response(_FRONT, media_type="text/html; charset=utf-8")
    return ready_json(
        {
            "name": "burnish",
            "version": __version__,
            "api": "/openapi.json",
            "ui": None,
            "fix": "for the web UI install Node 20 and run `make ui`, or install the wheel",
        }
    )


@project_router.get("/v1/private/project", responses=errors())
async def get_project(serving: Serving) -> Project:
    """The agent, suite, optimizers and models that a new optimization can name."""
    executes = serving.executor is not None
    return await asyncio.to_thread(_project, serving.project, executes=executes)


def _project(project: ServedProject, *, executes: bool) -> Project:
    settings = project.settings()
    search = SearchSpec.of(settings.optimizer)
    return Project(
        agent=settings.agent.name or None,
        suite=suite_name(settings) or None,
        optimizer={**settings.optimizer, "name": search.name},
        optimizers=list_optimizers(),
        budget=settings.budget.model_dump(),
        models=sorted(settings.named_models()),
        executes=executes,
    )


@metrics_router.get(
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
        serving.workspace.pages.status_counts(), serving.workspace.run_jobs.depth()
    )
    text = serving.metrics.expose(
        statuses=statuses,
        active=0 if serving.executor is None else serving.executor.active,
        queue=queue,
        image_runs=0 if serving.image_executor is None else serving.image_executor.active,
        watchers=serving.hub.watchers + serving.image_hub.watchers,
    )
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")


@probe_router.get("/health/live", responses=errors())
async def live() -> Live:
    """The process answers; if it does not, start it anew."""
    return Live(status="ok")


@probe_router.get("/health/ready", responses=errors())
async def ready(serving: Serving) -> Ready:
    """The database and whatever else is configured answer; if not, send requests elsewhere."""
    return Ready(status="ok", checks=await _check_parts(serving.workspace))


async def _check_parts(workspace: Workspace) -> dict[str, str]:
    """`ok` by part; UnavailableError names the parts that do not answer in time."""
    checks = {"database": workspace.run_jobs.depth()}
    for name, variable in (("events", EVENTS_VARIABLE), ("mailbox", MAILBOX_VARIABLE)):
        if url := os.environ.get(variable):
            checks[name] = _ping(url)
    answers = await asyncio.gather(
        *(asyncio.wait_for(one, _READY_SECONDS) for one in checks.values()), return_exceptions=True
    )
    away = [
        name
        for name, answer in zip(checks, answers, strict=True)
        if isinstance(answer, BaseException)
    ]
    if away:
        raise UnavailableError(
            what="the server is not ready",
            why=f"no answer from: {', '.join(away)}",
            fix="look after that; the server goes on by itself once it answers",
            code="not_ready",
        )
    return dict.fromkeys(checks, "ok")


async def _ping(url: str) -> int:
    from burnish.support.redis_client import open_client  # noqa: PLC0415 - an extra

    client = open_client(url, what="overrides cannot be kept in Redis")
    try:
        await client.ping()
        return 0
    finally:
        await client.aclose()
