"""What this server serves, and its front page."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Request, Response

from burnish import __version__
from burnish.config.search import SearchSpec
from burnish.config.served_project import ServedProject, own_models, suite_name
from burnish.optimizers.catalog import list_optimizers
from burnish.server.http.errors import errors
from burnish.server.http.responses import ready_json
from burnish.server.http.services import Serving
from burnish.server.operations.schemas import Project

router = APIRouter(tags=["project"])

_FRONT = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Burnish</title></head>
<body><h1>Burnish</h1>
<p>The HTTP API is at work here; <a href="/openapi.json">/openapi.json</a> describes it, and the
command line does all that it does: <code>burnish --help</code>.</p>
<p>This installation has no web UI. The wheel has it; in a checkout, install Node 20 and run
<code>make ui</code>, and then load this page again.</p>
</body></html>
"""


@router.get("/", response_class=Response, include_in_schema=False)
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


@router.get("/v1/private/project", responses=errors())
async def get_project(serving: Serving) -> Project:
    """The agent, suite, optimizers and models that a new optimization can name."""
    executes = serving.executor is not None
    return await asyncio.to_thread(_project, serving.project, executes=executes)


def _project(project: ServedProject, *, executes: bool) -> Project:
    settings = project.settings()
    search = SearchSpec.of(settings.optimizer)
    return Project(
        agent=settings.agent.name,
        suite=suite_name(settings),
        optimizer={**settings.optimizer, "name": search.name},
        optimizers=list_optimizers(),
        budget=settings.budget.model_dump(),
        models=sorted(own_models(settings)),
        executes=executes,
    )
