"""Image projects, commits and comparisons in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, TypeVar

from burnish.domain import Clock, ConflictError, SystemClock, UsageError
from burnish.domain.images import (
    ImageCommit,
    ImageComparison,
    ImageFile,
    ImageProject,
    ImageRun,
)
from burnish.domain.read_models import Page

T = TypeVar("T")


@dataclass(slots=True)
class RunState:
    """A run with its lease; `expires` is None while nobody has it."""

    run: ImageRun
    owner: str | None = None
    expires: float | None = None
    token: int = 0
    attempts: int = 0


@dataclass
class MemoryImageHistory:
    """Keeps everything in dicts, in the order that it came."""

    clock: Clock = field(default_factory=SystemClock)
    stored_projects: dict[str, str] = field(default_factory=dict)
    stored_commits: dict[str, ImageCommit] = field(default_factory=dict)
    stored_comparisons: dict[str, ImageComparison] = field(default_factory=dict)
    stored_runs: dict[str, RunState] = field(default_factory=dict)
    _stamps: int = 0

    async def ensure_project(self, project_id: str) -> ImageProject:
        """The project, made when it is not there."""
        self.stored_projects.setdefault(project_id, self.stamp())
        return self._project(project_id)

    async def projects(
        self, *, limit: int = 50, after: Sequence[Any] | None = None
    ) -> Page[ImageProject]:
        """By name."""
        found = [self._project(name) for name in sorted(self.stored_projects)]
        return page(found, [(one.project_id,) for one in found], limit, after)

    async def add_commit(self, commit: ImageCommit) -> ImageCommit:
        """Store a commit; the one that is there already wins."""
        self.keep_commit(commit)
        return await self.commit(commit.commit_id)

    async def commit(self, commit_id: str) -> ImageCommit:
        """One commit, with the score that its variant was given."""
        if commit_id not in self.stored_commits:
            raise missing("commit", commit_id)
        return self._scored(self.stored_commits[commit_id])

    async def commits(
        self, project_id: str, *, limit: int = 100, after: Sequence[Any] | None = None
    ) -> Page[ImageCommit]:
        """The newest first."""
        every = reversed(self.stored_commits.values())
        found = [self._scored(one) for one in every if one.project_id == project_id]
        keys = [(one.created_at, one.commit_id) for one in found]
        return page(found, keys, limit, after)

    async def delete_commit(self, commit_id: str) -> None:
        """Take a commit away, unless a run that goes on has it as its anchor."""
        if commit_id not in self.stored_commits:
            raise missing("commit", commit_id)
        for state in self.stored_runs.values():
            if state.run.anchor_commit_id == commit_id and not state.run.status.ended:
                raise ConflictError(
                    what=f"the commit {commit_id} was not deleted",
                    why=f"the run {state.run.run_id} builds on it",
                    fix="wait until that run has ended, or cancel it",
                    code="commit_in_use",
                )
        del self.stored_commits[commit_id]

    async def file(self, digest: str) -> ImageFile:
        """What a commit or a comparison says of a file."""
        known = [image for commit in self.stored_commits.values() for image in commit.images]
        known += [one.difference_map for one in self.stored_comparisons.values()]
        for image in known:
            if image.digest == digest:
                return image
        raise missing("picture", digest)

    async def add_comparison(self, comparison: ImageComparison) -> ImageComparison:
        """Store a comparison; the one that is there already wins."""
        stamped = replace(comparison, created_at=self.stamp())
        return self.stored_comparisons.setdefault(comparison.comparison_id, stamped)

    async def comparison(self, comparison_id: str) -> ImageComparison:
        """One comparison."""
        if comparison_id not in self.stored_comparisons:
            raise missing("comparison", comparison_id)
        return self.stored_comparisons[comparison_id]

    def keep_commit(self, commit: ImageCommit) -> None:
        """Store a commit that is not there yet."""
        self.stored_projects.setdefault(commit.project_id, self.stamp())
        if commit.commit_id not in self.stored_commits:
            self.stored_commits[commit.commit_id] = replace(commit, created_at=self.stamp())

    def stamp(self) -> str:
        """The present moment; no two are the same."""
        self._stamps += 1
        moment = self.clock.now() + timedelta(microseconds=self._stamps)
        return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")

    def _project(self, project_id: str) -> ImageProject:
        own = [one for one in self.stored_commits.values() if one.project_id == project_id]
        pictured = [one.images[0].digest for one in own if one.images]
        return ImageProject(
            project_id=project_id,
            created_at=self.stored_projects[project_id],
            commits=len(own),
            latest_image=pictured[-1] if pictured else None,
        )

    def _scored(self, commit: ImageCommit) -> ImageCommit:
        state = self.stored_runs.get(commit.run_id or "")
        for variant in () if state is None else state.run.variants:
            if variant.commit_id == commit.commit_id and commit.score is None:
                return replace(commit, score=variant.composite_score)
        return commit


def page(
    items: Sequence[T], keys: Sequence[tuple[str, ...]], limit: int, after: Sequence[Any] | None
) -> Page[T]:
    """Those after the key, at most so many."""
    start = 0
    if after is not None:
        wanted = tuple(after)
        if wanted not in keys:
            raise UsageError(
                what="the page cannot be shown",
                why="the cursor is none that was given out",
                fix="begin with the first page",
                code="invalid_cursor",
            )
        start = keys.index(wanted) + 1
    shown = items[start : start + limit]
    more = start + limit < len(items)
    return Page(items=list(shown), next=keys[start + limit - 1] if more else None)


def missing(kind: str, name: str) -> UsageError:
    """There is no such thing."""
    return UsageError(
        what=f"there is no {kind} {name!r}",
        why=f"no {kind} with that id is stored",
        fix="take one that is listed",
        code="not_found",
    )
