"""In-memory image repository and image files, for tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from hashlib import sha256
from typing import Any, TypeVar

from burnish.domain import Clock, ConflictError, SystemClock, UsageError
from burnish.domain.images.protocols import LeasedRun
from burnish.domain.images.runs import (
    ImageCommit,
    ImageComparison,
    ImageFile,
    ImageProject,
    ImageRun,
    ImageRunRequest,
    ImageRunStatus,
)
from burnish.domain.pages import Page

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

    async def project(self, project_id: str) -> ImageProject:
        """One project."""
        if project_id not in self.stored_projects:
            raise missing("project", project_id)
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
            run = state.run
            on = (run.anchor_commit_id, run.request.parent_commit_id)
            if commit_id in on and not run.status.ended:
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

    async def comparisons(self, commit_id: str) -> list[ImageComparison]:
        """Those of a commit, the newest first."""
        every = reversed(self.stored_comparisons.values())
        return [one for one in every if commit_id in (one.left_commit_id, one.right_commit_id)]

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
                asked = None if variant.composite_score is None else state.run.request.judged_by
                return replace(commit, score=variant.composite_score, judged_by=asked)
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


@dataclass
class MemoryImageRepository(MemoryImageHistory):
    """An ImageRepository. `fail_saves` makes the next writes of runs raise; `saved` is every state
    that was written, in order."""

    fail_saves: list[Exception] = field(default_factory=list)
    saved: list[ImageRun] = field(default_factory=list)

    async def create_run(self, run_id: str, request: ImageRunRequest) -> ImageRun:
        """Let it be run from now on; the one that is there already wins."""
        if request.parent_commit_id is not None:
            await self.commit(request.parent_commit_id)
        self.stored_projects.setdefault(request.project_id, self.stamp())
        if run_id not in self.stored_runs:
            now = self.stamp()
            run = ImageRun(
                run_id=run_id, request=request, revision=1, created_at=now, updated_at=now
            )
            self.stored_runs[run_id] = RunState(run)
        return self.stored_runs[run_id].run

    async def run(self, run_id: str) -> ImageRun:
        """One run."""
        return self._state(run_id).run

    async def runs(
        self,
        *,
        project_id: str | None = None,
        status: ImageRunStatus | None = None,
        limit: int = 50,
        after: Sequence[Any] | None = None,
    ) -> Page[ImageRun]:
        """The newest first."""
        found = [
            state.run
            for state in reversed(self.stored_runs.values())
            if project_id in (None, state.run.request.project_id)
            and status in (None, state.run.status)
        ]
        return page(found, [(one.created_at, one.run_id) for one in found], limit, after)

    async def revisions(self, run_ids: Sequence[str]) -> dict[str, int]:
        """The revision of each that is there."""
        known = [one for one in run_ids if one in self.stored_runs]
        return {one: self.stored_runs[one].run.revision for one in known}

    async def request_cancel(self, run_id: str) -> ImageRun:
        """End a run that nobody has, and tell whoever has it."""
        state = self._state(run_id)
        if self._is_free(state):
            self._end_as_cancelled(state)
        elif not state.run.status.ended and not state.run.cancel_requested:
            self._change(state, replace(state.run, cancel_requested=True))
        return state.run

    async def take_run(self, *, owner: str, seconds: float) -> LeasedRun | None:
        """The oldest that can be had."""
        for state in self.stored_runs.values():
            if self._is_free(state):
                return self._take(state, owner, seconds)
        return None

    async def take_this_run(self, run_id: str, *, owner: str, seconds: float) -> LeasedRun | None:
        """This one, if it can be had."""
        state = self._state(run_id)
        return self._take(state, owner, seconds) if self._is_free(state) else None

    async def keep_run(self, run_id: str, *, token: int, seconds: float) -> bool:
        """Hold it longer; whether its cancellation was asked for."""
        state = self._state(run_id)
        if state.token != token or (state.owner is None and not state.run.status.ended):
            raise self._lost(state)
        if state.owner is not None:
            state.expires = self.clock.monotonic() + seconds
        return state.run.cancel_requested

    async def release_run(self, run_id: str, *, token: int) -> None:
        """Let anybody have it; one whose cancellation was asked for ends here."""
        state = self.stored_runs.get(run_id)
        if state is None or state.token != token or state.owner is None:
            return
        state.owner, state.expires, state.attempts = None, None, state.attempts - 1
        if state.run.cancel_requested and self._is_free(state):
            self._end_as_cancelled(state)

    async def save_run(
        self, run: ImageRun, *, token: int, commits: Sequence[ImageCommit] = ()
    ) -> ImageRun:
        """The run and what was committed with it, as it is stored then."""
        if self.fail_saves:
            raise self.fail_saves.pop(0)
        state = self._state(run.run_id)
        over = state.run.status.ended and state.run.status is not run.status
        if state.token != token or over:
            raise self._lost(state)
        known = {None, *self.stored_commits, *(one.commit_id for one in commits)}
        if run.anchor_commit_id not in known and not run.status.ended:
            raise missing("commit", str(run.anchor_commit_id))
        for commit in sorted(commits, key=lambda one: one.commit_id):
            self.keep_commit(commit)
        self._change(
            state,
            replace(run, request=state.run.request, cancel_requested=state.run.cancel_requested),
        )
        self.saved.append(state.run)
        return state.run

    def _change(self, state: RunState, run: ImageRun) -> None:
        now = self.stamp()
        done = (state.run.completed_at or now) if run.status.ended else None
        revision = state.run.revision + 1
        state.run = replace(run, revision=revision, updated_at=now, completed_at=done)
        if run.status.ended:
            state.owner = state.expires = None

    def _end_as_cancelled(self, state: RunState) -> None:
        state.token += 1
        cancelled = replace(state.run, status=ImageRunStatus.CANCELLED, cancel_requested=True)
        self._change(state, cancelled)

    def _take(self, state: RunState, owner: str, seconds: float) -> LeasedRun:
        state.owner, state.expires = owner, self.clock.monotonic() + seconds
        state.token, state.attempts = state.token + 1, state.attempts + 1
        return LeasedRun(run=state.run, token=state.token, attempts=state.attempts)

    def _is_free(self, state: RunState) -> bool:
        expired = state.expires is not None and state.expires <= self.clock.monotonic()
        return not state.run.status.ended and (state.owner is None or expired)

    def _state(self, run_id: str) -> RunState:
        if run_id not in self.stored_runs:
            raise missing("image run", run_id)
        return self.stored_runs[run_id]

    def _lost(self, state: RunState) -> ConflictError:
        holder = "its owner has given up the lease" if state.owner is None else state.owner
        return ConflictError(
            what=f"the image run {state.run.run_id} was not written to",
            why="it has ended meanwhile" if state.run.status.ended else holder,
            fix="let whoever has it go on",
            code="lease_lost",
        )


class MemoryImageFiles:
    """ImageFiles in a dict. `fail_puts` makes the next writes raise; `puts` counts them by digest."""

    def __init__(self) -> None:
        self.stored: dict[str, bytes] = {}
        self.fail_puts: list[Exception] = []
        self.puts: list[str] = []

    async def put(self, digest: str, data: bytes) -> None:
        """Store bytes under their digest."""
        if self.fail_puts:
            raise self.fail_puts.pop(0)
        assert sha256(data).hexdigest() == digest
        self.puts.append(digest)
        self.stored[digest] = data

    async def get(self, digest: str) -> bytes:
        """The bytes."""
        if digest not in self.stored:
            raise UsageError(
                what=f"there is no picture {digest!r}",
                why="no file with that digest is stored",
                fix="take one that a commit names",
                code="not_found",
            )
        return self.stored[digest]

    async def close(self) -> None:
        """Nothing is held."""
