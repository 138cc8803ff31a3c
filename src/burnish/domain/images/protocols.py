"""Protocols of image runs: models that draw and judge, stores of files and of records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from burnish.domain.images.runs import (
    Constraints,
    ImageCommit,
    ImageComparison,
    ImageFile,
    ImageProject,
    ImageRun,
    ImageRunRequest,
    ImageRunStatus,
    ObjectivePreset,
    Quality,
    Rubric,
)
from burnish.domain.pages import Page
from burnish.domain.usage import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnImage:
    """Bytes as a model gave them: not yet known to be a picture.

    `not_drawn` are words of the prompt that the model knows it left out.
    """

    data: bytes
    usage: Usage = field(default_factory=lambda: Usage(calls=1))
    not_drawn: tuple[str, ...] = ()


class ImageModel(Protocol):
    """Draws. Safe to call from many tasks at once; `close` frees what it holds.

    Raises UnavailableError when it cannot be reached within its retries (code `OPENAI_TIMEOUT`
    when it took too long, `OPENAI_UNAVAILABLE` else), UsageError when it refuses the prompt
    (`OPENAI_REFUSED`). `label` says to people what draws, such as "sketch (offline, drawn by rules)".
    """

    name: str
    label: str

    async def generate(self, prompt: str, *, quality: Quality) -> DrawnImage: ...

    async def edit(self, base: bytes, prompt: str, *, quality: Quality) -> DrawnImage: ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A rubric, checked, with what it cost."""

    rubric: Rubric
    usage: Usage = field(default_factory=lambda: Usage(calls=1))


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureChoice:
    """Which of two pictures is better, checked: A (the first), B or tie."""

    winner: Literal["A", "B", "tie"]
    reason: str
    usage: Usage = field(default_factory=lambda: Usage(calls=1))


class ImageJudge(Protocol):
    """Scores a picture against what was asked, and says which of two is better. Errors as of an
    ImageModel; an answer that is no verdict (no JSON, a number out of range) is an UnavailableError
    with the code `INVALID_VERDICT`.
    """

    name: str
    label: str

    async def judge(
        self,
        image: bytes,
        prompt: str,
        *,
        objective: ObjectivePreset,
        constraints: Constraints,
    ) -> Judgement: ...

    async def choose(
        self,
        first: bytes,
        second: bytes,
        prompt: str,
        *,
        objective: ObjectivePreset,
        constraints: Constraints,
    ) -> PictureChoice: ...

    async def close(self) -> None: ...


class ImageFiles(Protocol):
    """Picture files by the SHA-256 of their bytes; storing the same again does nothing.

    Raises UnavailableError with the code `STORAGE_WRITE_FAILED` or `STORAGE_READ_FAILED`, and
    leaves no half-written file behind. A file that is not there is a UsageError `not_found`.
    """

    async def put(self, digest: str, data: bytes) -> None: ...

    async def get(self, digest: str) -> bytes: ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LeasedRun:
    """A run that was taken; `token` grows with every owner, and an older one's writes are refused."""

    run: ImageRun
    token: int
    attempts: int


class ImageRepository(Protocol):
    """Projects, commits, comparisons and runs. What is not there is a UsageError `not_found`.

    A run is written by whoever holds its lease, by the database's clock: `save_run` with an older
    token is refused with a ConflictError `lease_lost`.
    """

    async def ensure_project(self, project_id: str) -> ImageProject: ...

    async def project(self, project_id: str) -> ImageProject: ...

    async def projects(
        self, *, limit: int = 50, after: Sequence[Any] | None = None
    ) -> Page[ImageProject]:
        """By name."""
        ...

    async def add_commit(self, commit: ImageCommit) -> ImageCommit:
        """Store it under its own id; the one that is there already wins. Stamps `created_at`.

        The parent is not required to be there any more: a project's history may lose commits.
        What is read back has the composite score of its variant once that was judged.
        """
        ...

    async def commit(self, commit_id: str) -> ImageCommit: ...

    async def commits(
        self, project_id: str, *, limit: int = 100, after: Sequence[Any] | None = None
    ) -> Page[ImageCommit]:
        """The newest first."""
        ...

    async def delete_commit(self, commit_id: str) -> None:
        """Refused with a ConflictError `commit_in_use` while a run that has not ended builds on it, or
        is to; children stay, and keep the id of the parent that was."""
        ...

    async def file(self, digest: str) -> ImageFile:
        """What a commit or a comparison says of a stored file."""
        ...

    async def add_comparison(self, comparison: ImageComparison) -> ImageComparison: ...

    async def comparison(self, comparison_id: str) -> ImageComparison: ...

    async def comparisons(self, commit_id: str) -> Sequence[ImageComparison]:
        """Those that a commit is a side of, the newest first, as many as a page has."""
        ...

    async def create_run(self, run_id: str, request: ImageRunRequest) -> ImageRun:
        """Queued from now on, with its project made when needed; its parent has to be there."""
        ...

    async def run(self, run_id: str) -> ImageRun: ...

    async def runs(
        self,
        *,
        project_id: str | None = None,
        status: ImageRunStatus | None = None,
        limit: int = 50,
        after: Sequence[Any] | None = None,
    ) -> Page[ImageRun]:
        """The newest first."""
        ...

    async def revisions(self, run_ids: Sequence[str]) -> dict[str, int]:
        """The revision of each; unknown ids are left out."""
        ...

    async def request_cancel(self, run_id: str) -> ImageRun:
        """One that nobody runs ends at once; one that is run is told. An ended run stays as it is."""
        ...

    async def save_run(
        self, run: ImageRun, *, token: int, commits: Sequence[ImageCommit] = ()
    ) -> ImageRun:
        """The run and commits that came with it, in one transaction; returns it as stored, with its
        new revision, times and the present `cancel_requested`. An ended run gives up its lease.

        The anchor of a run that goes on must be there, or come with it: one that was deleted
        meanwhile is a UsageError `not_found`, and nothing is written."""
        ...
