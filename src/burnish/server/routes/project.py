"""What this server serves, and its front page."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Response

from burnish.bootstrap.search_spec import SearchSpec
from burnish.bootstrap.served_project import ServedProject, own_models, suite_name
from burnish.optimizers.catalog import list_optimizers
from burnish.server.schemas.operations import Project
from burnish.server.schemas.problems import errors
from burnish.server.services import Serving

router = APIRouter(tags=["project"])

_FRONT = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Burnish</title></head>
<body><h1>Burnish</h1>
<p>The HTTP API is at work here; <a href="/openapi.json">/openapi.json</a> describes it.</p>
<p>This build has no web UI. <code>make ui</code> builds it, and this page is then replaced by it.</p>
</body></html>
"""


@router.get("/", response_class=Response, include_in_schema=False)
async def front_page() -> Response:
    """What there is, for somebody with a browser."""
    return Response(_FRONT, media_type="text/html; charset=utf-8")


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
