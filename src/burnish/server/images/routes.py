"""Routes of image runs: the runs, projects with their commits, comparisons, pictures and models."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response

from burnish.domain import UsageError
from burnish.domain.images.runs import ImageRunStatus
from burnish.images.planning import LONGEST_PROMPT
from burnish.server.http.errors import errors
from burnish.server.http.requests import Cursor, Limit, decode_cursor, parts_of
from burnish.server.http.services import Services, Serving
from burnish.server.http.sse import EventStream
from burnish.server.images.commit_schemas import (
    ImageCommitPage,
    ImageCommitView,
    ImageComparisonView,
    ImageLineageView,
    ImageProjectPage,
    ImageProjectView,
    NewImageComparison,
)
from burnish.server.images.paths import RUN_ID, CommitId, ComparisonId, Digest, ProjectId, RunId
from burnish.server.images.schemas import (
    ImageModelsView,
    ImageRunLine,
    ImageRunPage,
    ImageRunView,
    NewImageRun,
)
from burnish.support.names import NAME_PATTERN

router = APIRouter(tags=["image runs"])
_NAME, _NEWEST = "name", "-created_at"
_LINKS: dict[str, Any] = {
    name: {"operationId": name, "parameters": {"run_id": "$response.body#/run_id"}}
    for name in ("get_image_run", "cancel_image_run")
}
_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The run as it stands and at each change, as the event `run`; the stream "
        "ends with the run. Comments keep the connection alive.",
        "content": {
            "text/event-stream": {
                "schema": {"type": "string"},
                "example": f'id: 9\nevent: run\ndata: {{"run_id":"{RUN_ID}"}}\n\n',
            },
        },
    },
    **errors(404),
}
_Revision = Annotated[
    str | None, Header(alias="Last-Event-ID", description="The revision that was seen last.")
]
_RevisionQuery = Annotated[
    str | None, Query(alias="last_event_id", description="The same, where no header can be set.")
]
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
_COMPARISON_LINKS: dict[str, Any] = {
    "get_image_comparison": {
        "operationId": "get_image_comparison",
        "parameters": {"comparison_id": "$response.body#/comparison_id"},
    }
}
_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The picture. Its name is its content, so it may be kept for ever.",
        "content": dict.fromkeys(("image/png", "image/jpeg", "image/webp"), _PICTURE),
    },
    304: {"description": "It is what the client has.", "content": {}},
    **errors(404),
}
_Known = Annotated[str | None, Header(alias="If-None-Match", description="The ETag it has.")]


@router.post("/eval-runs", status_code=201, responses={201: {"links": _LINKS}, **errors(404, 409)})
async def start_image_run(serving: Serving, new: NewImageRun) -> ImageRunView:
    """Queue a run and answer at once. It goes on in the background, and after a restart.

    With a `run_id` of one's own the same request can be sent again, and is one run.
    """
    asked = new.request(serving.images.models.settings.table)
    run = await serving.images.create(asked, run_id=new.run_id)
    serving.wake()
    return ImageRunView.of(run)


@router.get("/eval-runs", responses=errors())
async def list_image_runs(
    serving: Serving,
    project_id: Annotated[str | None, Query(pattern=NAME_PATTERN)] = None,
    status: ImageRunStatus | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> ImageRunPage:
    """Runs of a project or of all, the newest first."""
    page = await serving.images.repository.runs(
        project_id=project_id,
        status=status,
        limit=limit,
        after=decode_cursor(_NEWEST, cursor),
    )
    return ImageRunPage.of(page, ImageRunLine.of, _NEWEST)


@router.get("/eval-runs/{run_id}", responses=errors(404))
async def get_image_run(serving: Serving, run_id: RunId) -> ImageRunView:
    """One run: counters, variants, leaderboard, suggestions."""
    return ImageRunView.of(await serving.images.repository.run(run_id))


@router.post("/eval-runs/{run_id}/cancel", status_code=202, responses=errors(404))
async def cancel_image_run(serving: Serving, run_id: RunId) -> ImageRunView:
    """Stop it: what was drawn and scored stays. One that has ended stays as it is."""
    run = await serving.images.cancel(run_id)
    serving.wake()
    return ImageRunView.of(run)


@router.get("/eval-runs/{run_id}/events", response_class=Response, responses=_STREAM)
async def watch_image_run(
    serving: Serving,
    run_id: RunId,
    last_event_id: _Revision = None,
    after: _RevisionQuery = None,
) -> Response:
    """The run as it stands, then at each change, until it has ended."""
    watch, first = await serving.image_hub.watch(run_id, _revision(last_event_id or after))
    return EventStream(watch, first)


def _revision(given: str | None) -> int | None:
    if not given:
        return None
    if given.isascii() and given.isdecimal() and len(given) <= 16:
        return int(given)
    raise UsageError(
        what="the stream cannot go on from that event",
        why="a Last-Event-ID of this stream is the revision of the run, which is a number",
        fix="send the last id that this stream gave, or none",
        code="invalid_event_id",
    )


@router.get("/projects", responses=errors())
async def list_image_projects(
    serving: Serving, limit: Limit = 50, cursor: Cursor = None
) -> ImageProjectPage:
    """All projects by name."""
    page = await serving.images.repository.projects(limit=limit, after=decode_cursor(_NAME, cursor))
    return ImageProjectPage.of(page, ImageProjectView.of, _NAME)


@router.get("/projects/{project_id}/commits", responses=errors(404))
async def list_image_commits(
    serving: Serving, project_id: ProjectId, limit: Limit = 100, cursor: Cursor = None
) -> ImageCommitPage:
    """A project's commits, the newest first; those that failed have no picture."""
    await serving.images.repository.project(project_id)
    page = await serving.images.repository.commits(
        project_id, limit=limit, after=decode_cursor(_NEWEST, cursor)
    )
    return ImageCommitPage.of(page, ImageCommitView.of, _NEWEST)


@router.get("/projects/{project_id}/lineage", responses=errors(404))
async def get_image_lineage(serving: Serving, project_id: ProjectId) -> ImageLineageView:
    """Every commit with its parent, as nodes and edges. A deleted parent has no edge."""
    await serving.images.repository.project(project_id)
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
    return ImageCommitView.of(await serving.images.repository.commit(commit_id))


@router.delete("/commits/{commit_id}", responses=errors(404, 409))
async def delete_image_commit(serving: Serving, commit_id: CommitId) -> ImageCommitView:
    """Take it out of the history, and say what it was. Its children stay.

    Refused while a run that has not ended builds on it.
    """
    commit = await serving.images.repository.commit(commit_id)
    await serving.images.repository.delete_commit(commit_id)
    return ImageCommitView.of(commit)


@router.post(
    "/comparisons", status_code=201, responses={201: {"links": _COMPARISON_LINKS}, **errors(404)}
)
async def compare_image_commits(serving: Serving, new: NewImageComparison) -> ImageComparisonView:
    """Compare two commits with pictures of one project by one wish; what was compared before is
    answered again, and nothing is paid for twice."""
    return ImageComparisonView.of(
        await serving.images.compare(new.left_commit_id, new.right_commit_id)
    )


@router.get("/comparisons/{comparison_id}", responses=errors(404))
async def get_image_comparison(
    serving: Serving, comparison_id: ComparisonId
) -> ImageComparisonView:
    """A comparison that was made."""
    return ImageComparisonView.of(await serving.images.repository.comparison(comparison_id))


@router.get("/images/{digest}", response_class=Response, responses=_ANSWERS)
async def get_image(serving: Serving, digest: Digest, if_none_match: _Known = None) -> Response:
    """One picture, whole."""
    return await _answer(serving, digest, if_none_match, thumbnail=False)


@router.get("/images/{digest}/thumbnail", response_class=Response, responses=_ANSWERS)
async def get_image_thumbnail(
    serving: Serving, digest: Digest, if_none_match: _Known = None
) -> Response:
    """A small one of it."""
    return await _answer(serving, digest, if_none_match, thumbnail=True)


async def _answer(
    serving: Services, digest: str, known: str | None, *, thumbnail: bool
) -> Response:
    tag = f'"{digest}-thumbnail"' if thumbnail else f'"{digest}"'
    headers = {
        "Cache-Control": "private, max-age=31536000, immutable",
        "Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
        "Content-Disposition": "inline",
        "ETag": tag,
    }
    if known is not None and tag in known:
        # Only what is stored is confirmed: others' pictures cannot be asked for by guessing.
        await serving.images.repository.file(digest)
        return Response(status_code=304, headers=headers)
    data, media_type = await serving.images.image(digest, thumbnail=thumbnail)
    return Response(data, media_type=media_type, headers=headers)


@router.get("/image-models", responses=errors())
async def list_image_models(serving: Serving) -> ImageModelsView:
    """What draws, judges and writes here, and what each lacks that cannot be used."""
    return ImageModelsView.of(serving.images.models)
