"""Projects of pictures: their commits, sent or made by runs, and who came from whom."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from burnish.images.planning import LONGEST_PROMPT
from burnish.server.http.errors import errors
from burnish.server.http.requests import Cursor, Limit, decode_cursor, encode_cursor, parts_of
from burnish.server.http.services import Serving
from burnish.server.images.commit_schemas import (
    ImageCommitPage,
    ImageCommitView,
    ImageLineageView,
    ImageProjectPage,
    ImageProjectView,
)
from burnish.server.images.parameters import CommitId, ProjectId

router = APIRouter(tags=["image runs"])
_NAME, _NEWEST = "name", "-created_at"
_PICTURE = {"schema": {"type": "string", "format": "binary"}}
_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "The picture's bytes: PNG, JPEG or WebP, which is found by decoding it.",
        "content": dict.fromkeys(
            ("image/png", "image/jpeg", "image/webp", "application/octet-stream"), _PICTURE
        ),
    }
}


@router.get("/projects", responses=errors())
async def list_image_projects(
    serving: Serving, limit: Limit = 50, cursor: Cursor = None
) -> ImageProjectPage:
    """All projects by name."""
    page = await serving.images.projects(limit=limit, after=decode_cursor(_NAME, cursor))
    return ImageProjectPage(
        items=[ImageProjectView.of(one) for one in page.items],
        next_cursor=encode_cursor(_NAME, page.next),
    )


@router.get("/projects/{project_id}/commits", responses=errors(404))
async def list_image_commits(
    serving: Serving, project_id: ProjectId, limit: Limit = 100, cursor: Cursor = None
) -> ImageCommitPage:
    """A project's commits, the newest first; those that failed have no picture."""
    page = await serving.images.commits(
        project_id, limit=limit, after=decode_cursor(_NEWEST, cursor)
    )
    return ImageCommitPage(
        items=[ImageCommitView.of(one) for one in page.items],
        next_cursor=encode_cursor(_NEWEST, page.next),
    )


@router.get("/projects/{project_id}/lineage", responses=errors(404))
async def get_image_lineage(serving: Serving, project_id: ProjectId) -> ImageLineageView:
    """Every commit with its parent, as nodes and edges. A deleted parent has no edge."""
    return ImageLineageView.of(project_id, await serving.images.lineage(project_id))


@router.post(
    "/projects/{project_id}/commits", status_code=201, responses=errors(404), openapi_extra=_BODY
)
async def upload_image_commit(
    serving: Serving,
    request: Request,
    project_id: ProjectId,
    prompt: Annotated[
        str, Query(max_length=LONGEST_PROMPT, description="What the picture shows.")
    ] = "",
    parent_commit_id: Annotated[str | None, Query(min_length=1, max_length=100)] = None,
) -> ImageCommitView:
    """Send a picture as a commit that runs can build on. It is decoded before it is stored."""
    data = b"".join([part async for part in parts_of(request)])
    commit = await serving.images.upload(
        project_id, data, prompt=prompt, parent_commit_id=parent_commit_id
    )
    return ImageCommitView.of(commit)


@router.get("/commits/{commit_id}", responses=errors(404))
async def get_image_commit(serving: Serving, commit_id: CommitId) -> ImageCommitView:
    """One commit."""
    return ImageCommitView.of(await serving.images.commit(commit_id))


@router.delete("/commits/{commit_id}", responses=errors(404, 409))
async def delete_image_commit(serving: Serving, commit_id: CommitId) -> ImageCommitView:
    """Take it out of the history, and say what it was. Its children stay.

    Refused while a run that has not ended builds on it.
    """
    commit = await serving.images.commit(commit_id)
    await serving.images.delete_commit(commit_id)
    return ImageCommitView.of(commit)
