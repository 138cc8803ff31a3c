"""Projects, commits, pictures and comparisons: what image runs leave behind, and people add."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import uuid_utils

from burnish.app.images.models import ImageModels, full_name
from burnish.app.images.requests import invalid, require_parent, require_project
from burnish.domain import UnavailableError
from burnish.domain.images.protocols import ImageFiles, ImageRepository, Judgement
from burnish.domain.images.runs import (
    CommitStatus,
    ImageCommit,
    ImageComparison,
    ImageRunRequest,
    ObjectivePreset,
    Rubric,
)
from burnish.images.judging import NEUTRAL
from burnish.images.pictures import (
    THUMBNAIL_TYPE,
    compare_pictures,
    decode,
    on_pixels_at_once,
    thumbnail,
)
from burnish.images.stage_context import CallBound

UPLOADED = "upload"
_THUMBNAILS_KEPT = 256
_LINEAGE_PAGE = 500
_LONGEST_LINEAGE = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageLineage:
    """A project's commits, the newest first, and who came from whom (parent, child).

    `truncated` says that older ones are left out. An edge's parent is always among the commits.
    """

    commits: tuple[ImageCommit, ...]
    edges: tuple[tuple[str, str], ...]
    truncated: bool = False


class ImageHistory:
    """Reads and adds what is not a run."""

    def __init__(
        self,
        repository: ImageRepository,
        files: ImageFiles,
        models: ImageModels,
        calls: CallBound,
    ) -> None:
        self.repository = repository
        self.files = files
        self.models = models
        self.calls = calls
        self._thumbnails: OrderedDict[str, bytes] = OrderedDict()

    async def lineage(self, project_id: str) -> ImageLineage:
        """Who came from whom in a project."""
        found: list[ImageCommit] = []
        after: Sequence[Any] | None = None
        while len(found) < _LONGEST_LINEAGE:
            page = await self.repository.commits(project_id, limit=_LINEAGE_PAGE, after=after)
            found += page.items
            after = page.next
            if after is None:
                break
        known = {commit.commit_id for commit in found}
        edges = [
            (commit.parent_commit_id, commit.commit_id)
            for commit in found
            if commit.parent_commit_id is not None and commit.parent_commit_id in known
        ]
        return ImageLineage(commits=tuple(found), edges=tuple(edges), truncated=after is not None)

    async def upload(
        self,
        project_id: str,
        data: bytes,
        *,
        prompt: str = "",
        parent_commit_id: str | None = None,
    ) -> ImageCommit:
        """A picture of somebody's own as a commit; UsageError `INVALID_IMAGE` when it is none."""
        require_project(project_id)
        if parent_commit_id is not None:
            await require_parent(self.repository, project_id, parent_commit_id)
        image = await on_pixels_at_once(decode, data)
        await self.files.put(image.digest, data)
        await self.repository.ensure_project(project_id)
        commit = ImageCommit(
            commit_id=str(uuid_utils.uuid7()),
            project_id=project_id,
            parent_commit_id=parent_commit_id,
            status=CommitStatus.SUCCESS,
            prompt=prompt,
            model=UPLOADED,
            images=(image,),
        )
        return await self.repository.add_commit(commit)

    async def image(self, digest: str, *, thumbnail: bool = False) -> tuple[bytes, str]:
        """The bytes of a picture that a commit or comparison names, with the type that was decoded."""
        described = await self.repository.file(digest)
        if not thumbnail:
            return await self.files.get(digest), described.media_type
        return await self._thumbnail(digest), THUMBNAIL_TYPE

    async def compare(
        self, left_commit_id: str, right_commit_id: str, *, judge: str | None = None
    ) -> ImageComparison:
        """Two commits of one project, side by side; each is judged against its own prompt."""
        left = await self._pictured(left_commit_id)
        right = await self._pictured(right_commit_id)
        if left.project_id != right.project_id:
            raise invalid(
                "these commits cannot be compared",
                f"they belong to the projects {left.project_id!r} and {right.project_id!r}",
                "name two commits of one project",
            )
        name = full_name(judge or self.models.settings.table.judge_model)
        rubrics = [await self._own_rubric(commit, name) for commit in (left, right)]
        return await self.keep_comparison(str(uuid_utils.uuid7()), left, right, rubrics, name)

    async def keep_comparison(
        self,
        comparison_id: str,
        left: ImageCommit,
        right: ImageCommit,
        rubrics: Sequence[Rubric],
        judge: str,
    ) -> ImageComparison:
        """Compare their pixels, and store that with verdicts that were given; the left's is first."""
        data = [await self.files.get(commit.images[0].digest) for commit in (left, right)]
        difference = await on_pixels_at_once(compare_pictures, *data)
        picture = difference.difference_map
        described = await on_pixels_at_once(decode, picture)
        await self.files.put(described.digest, picture)
        comparison = ImageComparison(
            comparison_id=comparison_id,
            project_id=left.project_id,
            left_commit_id=left.commit_id,
            right_commit_id=right.commit_id,
            changed_share=difference.changed_share,
            mean_difference=difference.mean_difference,
            difference_map=described,
            left_rubric=rubrics[0],
            right_rubric=rubrics[1],
            judge=judge,
        )
        return await self.repository.add_comparison(comparison)

    async def judged(self, commit: ImageCommit, wish: ImageRunRequest) -> Judgement:
        """A judge's verdict on a commit's picture by what was asked for."""
        judge = self.models.judge(wish.judge_model)
        data = await self.files.get(commit.images[0].digest)
        async with self.calls.slot():
            return await judge.judge(
                data,
                wish.judged_by,
                objective=wish.objective_preset,
                constraints=wish.constraints,
            )

    async def _own_rubric(self, commit: ImageCommit, judge: str) -> Rubric:
        """By its own prompt; what its run knew of the wish is used where it has one."""
        wish = ImageRunRequest(
            project_id=commit.project_id,
            base_prompt=commit.prompt or "a picture",
            objective_preset=ObjectivePreset.ADHERENCE,
            image_model=commit.model,
            judge_model=judge,
        )
        if commit.run_id is not None:
            asked = (await self.repository.run(commit.run_id)).request
            wish = replace(
                wish, objective_preset=asked.objective_preset, constraints=asked.constraints
            )
        try:
            return (await self.judged(commit, wish)).rubric
        except UnavailableError:
            return NEUTRAL

    async def _pictured(self, commit_id: str) -> ImageCommit:
        commit = await self.repository.commit(commit_id)
        if not commit.images:
            raise invalid(
                f"the commit {commit_id} cannot be compared", "it has no picture", "take another"
            )
        return commit

    async def _thumbnail(self, digest: str) -> bytes:
        """Made anew when it is not among those asked for last."""
        kept = self._thumbnails.pop(digest, None)
        if kept is None:
            kept = await on_pixels_at_once(thumbnail, await self.files.get(digest))
        self._thumbnails[digest] = kept
        while len(self._thumbnails) > _THUMBNAILS_KEPT:
            self._thumbnails.popitem(last=False)
        return kept
