"""Whether a server is there, and where in it a client is: workspace and project."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import Field

from burnish import __version__
from burnish.domain import UsageError
from burnish.server.opik.requests import DEFAULT_WORKSPACE, Body, Ingest, Place, read_body

router = APIRouter()


class ProjectName(Body):
    """Which project is meant."""

    name: str = Field(min_length=1, max_length=500)


@router.get("/is-alive/ping")
async def ping() -> dict[str, object]:
    """That it is there."""
    return {"message": "Healthy Server", "healthy": True}


@router.get("/is-alive/ver")
async def version() -> dict[str, str]:
    """Which Burnish this is."""
    return {"version": __version__}


@router.get("/v1/private/auth")
@router.get("/v1/private/auth/workspace")
async def workspace(place: Place = DEFAULT_WORKSPACE) -> dict[str, str]:
    """The workspace that the client named: here it only keeps names of datasets apart."""
    return {"workspaceName": place, "workspace_name": place}


@router.post("/v1/private/projects/retrieve")
async def find_project(
    request: Request, ingest: Ingest, place: Place = DEFAULT_WORKSPACE
) -> dict[str, str]:
    """A project by name. Any name is one, and its id always the same."""
    name = (await read_body(request, ProjectName)).name
    return {"id": await ingest.workspace.opik.project_id(place, name), "name": name}


@router.get("/v1/private/projects/{project_id}")
async def get_project(ingest: Ingest, project_id: str) -> dict[str, str]:
    """A project by id."""
    name = await ingest.workspace.opik.project_name(project_id)
    if name is None:
        raise UsageError(
            what=f"there is no project {project_id[:100]!r}",
            why="no client asked for one that got this id",
            fix="ask for it by name",
            code="not_found",
        )
    return {"id": project_id, "name": name}
