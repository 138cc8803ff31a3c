"""Projects of pictures: their commits, who came from whom, and two of them side by side."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from burnish.app.images.documents import commit_document, comparison_document
from burnish.app.images.history import ImageLineage
from burnish.domain.images.runs import (
    CommitStatus,
    ImageCommit,
    ImageComparison,
    ImageProject,
    ObjectivePreset,
)
from burnish.server.http.requests import Strict
from burnish.server.http.responses import Page, View
from burnish.server.images.paths import COMMIT_ID
from burnish.server.images.schemas import ImageConstraintsView, ImageRubricView

_CommitId = Annotated[str, Field(min_length=1, max_length=100, examples=[COMMIT_ID])]


class ImageFileView(View):
    """A stored picture and where to get it."""

    digest: str = Field(description="The SHA-256 of its bytes.")
    media_type: str = Field(description="What it was found to be when it was decoded.")
    width: int
    height: int
    size: int = Field(description="In bytes.")
    url: str
    thumbnail_url: str


class ImageProjectView(View):
    """A project and how much is in it."""

    project_id: str
    created_at: str
    commits: int
    latest_image_url: str | None
    latest_thumbnail_url: str | None

    @classmethod
    def of(cls, project: ImageProject) -> ImageProjectView:
        """From what is stored."""
        url = None if project.latest_image is None else f"/images/{project.latest_image}"
        thumbnail = None if url is None else f"{url}/thumbnail"
        return cls.read(project, latest_image_url=url, latest_thumbnail_url=thumbnail)


class ImageProjectPage(Page[ImageProjectView]):
    """Some projects; `next_cursor` is None on the last page."""


class ImageCommitView(View):
    """One picture, or one failed attempt at one, in a project's history."""

    commit_id: str
    project_id: str
    parent_commit_id: str | None = Field(description="It may have been deleted since.")
    status: CommitStatus
    prompt: str
    model: str
    images: list[ImageFileView]
    image_url: str | None
    thumbnail_url: str | None
    can_be_parent: bool = Field(description="Whether a run can build on it.")
    error: str | None
    run_id: str | None
    variant_id: str | None
    score: float | None
    judged_by: str | None = Field(description="What the score was given for.")
    created_at: str

    @classmethod
    def of(cls, commit: ImageCommit) -> ImageCommitView:
        """From what is stored."""
        return cls(**commit_document(commit))


class ImageCommitPage(Page[ImageCommitView]):
    """Some commits; `next_cursor` is None on the last page."""


class ImageLineageEdge(BaseModel):
    """From a parent to what was made of it."""

    source: str
    target: str


class ImageLineageView(BaseModel):
    """A project's history as a graph, the newest commit first."""

    project_id: str
    nodes: list[ImageCommitView]
    edges: list[ImageLineageEdge]
    truncated: bool = Field(description="Older commits than these are left out.")

    @classmethod
    def of(cls, project_id: str, lineage: ImageLineage) -> ImageLineageView:
        """From what was read."""
        return cls(
            project_id=project_id,
            nodes=[ImageCommitView.of(one) for one in lineage.commits],
            edges=[
                ImageLineageEdge(source=parent, target=child) for parent, child in lineage.edges
            ],
            truncated=lineage.truncated,
        )


class NewImageComparison(Strict):
    """Two commits of one project to compare."""

    left_commit_id: _CommitId
    right_commit_id: _CommitId


class ImageWishView(View):
    """What pictures are judged by."""

    prompt: str
    objective_preset: ObjectivePreset
    constraints: ImageConstraintsView


class ImageComparisonView(View):
    """How far the pixels of two commits differ, and what a judge says of each."""

    comparison_id: str
    project_id: str
    left_commit_id: str
    right_commit_id: str
    changed_share: float = Field(description="Which share of the pixels visibly differs.")
    mean_difference: float = Field(description="By how much on the average, from 0 to 1.")
    difference_map: ImageFileView = Field(description="Brighter where they differ more.")
    left_rubric: ImageRubricView
    right_rubric: ImageRubricView
    judge: str
    wish: ImageWishView | None = Field(
        description="What both were judged by; None where an earlier version used two wishes."
    )
    spending: dict[str, Any] = Field(description="What the verdicts cost that were new.")
    created_at: str

    @classmethod
    def of(cls, comparison: ImageComparison) -> ImageComparisonView:
        """From what is stored."""
        return cls(**comparison_document(comparison))
