"""Projects, commits, pictures and comparisons: what image runs leave behind, and people add."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from burnish.app.images.models import ImageModels, full_name
from burnish.app.images.requests import invalid, require_parent, require_project
from burnish.domain import Spending, UnavailableError, Usage, UsageError, canonical_hash, paid_in
from burnish.domain.images.protocols import ImageFiles, ImageRepository, Judgement
from burnish.domain.images.runs import (
    CommitStatus,
    ImageCommit,
    ImageComparison,
    ObjectivePreset,
    PictureWish,
    Rubric,
    VariantStatus,
)
from burnish.images.judging import NEUTRAL
from burnish.images.pictures import (
    THUMBNAIL_TYPE,
    compare_pictures,
    decode,
    on_pixels_at_once,
    thumbnail,
)
from burnish.images.record import ImagePurpose
from burnish.images.stage_context import CallBound
from burnish.support.ids import new_id

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
            commit_id=new_id(),
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
        """Two commits of one project, side by side, judged by one wish; made once, and kept.

        The wish is that of the newer one's run, else of the older one's, with that run's judge. A
        verdict that was given before, in a run or in another comparison, is not paid for again.
        """
        left = await self._pictured(left_commit_id)
        right = await self._pictured(right_commit_id)
        if left.project_id != right.project_id:
            raise invalid(
                "these commits cannot be compared",
                f"they belong to the projects {left.project_id!r} and {right.project_id!r}",
                "name two commits of one project",
            )
        wish, usual = await self._common_wish(left, right)
        name = full_name(judge or usual)
        asked = [left_commit_id, right_commit_id, name, asdict(wish)]
        comparison_id = f"x{canonical_hash(asked)[:16]}"
        try:
            return await self.repository.comparison(comparison_id)
        except UsageError:
            pass  # Nobody asked before.
        verdicts = []
        for commit in (left, right):
            try:
                verdicts.append(await self.verdict(commit, wish, name))
            except UnavailableError as error:
                verdicts.append(Judgement(rubric=NEUTRAL, usage=paid_in(error)))
                comparison_id = new_id()  # It is made anew when it is asked for again.
        return await self.keep_comparison(comparison_id, left, right, verdicts, wish, name)

    async def _common_wish(self, *commits: ImageCommit) -> tuple[PictureWish, str]:
        """What both are judged by, and by whom."""
        newest_first = sorted(
            commits, key=lambda one: (one.created_at, one.commit_id), reverse=True
        )
        for commit in newest_first:
            if commit.run_id is not None:
                asked = (await self.repository.run(commit.run_id)).request
                return asked.wish, asked.judge_model
        prompt = next((one.prompt for one in newest_first if one.prompt), "a picture")
        wish = PictureWish(prompt=prompt, objective_preset=ObjectivePreset.ADHERENCE)
        return wish, self.models.settings.table.judge_model

    async def keep_comparison(
        self,
        comparison_id: str,
        left: ImageCommit,
        right: ImageCommit,
        verdicts: Sequence[Judgement],
        wish: PictureWish,
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
            left_rubric=verdicts[0].rubric,
            right_rubric=verdicts[1].rubric,
            judge=judge,
            wish=wish,
            spending=Spending(
                {ImagePurpose.JUDGE.value: sum((one.usage for one in verdicts), Usage())}
            ),
        )
        return await self.repository.add_comparison(comparison)

    async def verdict(self, commit: ImageCommit, wish: PictureWish, judge: str) -> Judgement:
        """A judge's verdict on a commit's picture; one that was given before costs nothing."""
        known = await self._known_rubric(commit, wish, judge)
        if known is not None:
            return Judgement(rubric=known, usage=Usage())
        asked = self.models.judge(judge)
        data = await self.files.get(commit.images[0].digest)
        async with self.calls.slot():
            return await asked.judge(
                data, wish.prompt, objective=wish.objective_preset, constraints=wish.constraints
            )

    async def _known_rubric(
        self, commit: ImageCommit, wish: PictureWish, judge: str
    ) -> Rubric | None:
        if commit.run_id is not None:
            run = await self.repository.run(commit.run_id)
            if (run.request.wish, run.request.judge_model) == (wish, judge):
                for one in run.variants:
                    judged = one.status is VariantStatus.EVALUATED
                    if one.commit_id == commit.commit_id and judged:
                        return one.rubric
        for made in await self.repository.comparisons(commit.commit_id):
            is_left = made.left_commit_id == commit.commit_id
            rubric = made.left_rubric if is_left else made.right_rubric
            if (made.wish, made.judge) == (wish, judge) and rubric != NEUTRAL:
                return rubric
        return None

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
