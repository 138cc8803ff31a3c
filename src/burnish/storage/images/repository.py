"""Image repository: projects, their history, and the runs that make it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

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
from burnish.storage.engine.database import Database
from burnish.storage.images import commits as image_commits
from burnish.storage.images import leases as image_leases
from burnish.storage.images import runs as image_runs


class SqlImageRepository:
    """An ImageRepository on an open database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def ensure_project(self, project_id: str) -> ImageProject:
        """The project, made when it is not there."""
        now = self._database.stamp()

        async def work(connection: AsyncConnection) -> ImageProject:
            await image_commits.ensure_project(connection, project_id, now)
            return await image_commits.project(connection, project_id)

        return await self._database.write(work)

    async def projects(
        self, *, limit: int = 50, after: Sequence[Any] | None = None
    ) -> Page[ImageProject]:
        """By name."""
        return await self._database.read(
            lambda connection: image_commits.projects(connection, limit, after)
        )

    async def add_commit(self, commit: ImageCommit) -> ImageCommit:
        """Store a commit under its own id; the one that is there already wins."""
        now = self._database.stamp()

        async def work(connection: AsyncConnection) -> ImageCommit:
            await image_commits.add(connection, commit, now)
            return await image_commits.get(connection, commit.commit_id)

        return await self._database.write(work)

    async def commit(self, commit_id: str) -> ImageCommit:
        """One commit, with the score that its variant was given."""
        return await self._database.read(
            lambda connection: image_commits.get(connection, commit_id)
        )

    async def commits(
        self, project_id: str, *, limit: int = 100, after: Sequence[Any] | None = None
    ) -> Page[ImageCommit]:
        """The newest first."""
        return await self._database.read(
            lambda connection: image_commits.page(connection, project_id, limit, after)
        )

    async def delete_commit(self, commit_id: str) -> None:
        """Take a commit away, unless a run that goes on has it as its anchor."""
        attempts = 0

        async def work(connection: AsyncConnection) -> None:
            nonlocal attempts
            attempts += 1
            # Gone at a later attempt: an earlier one got through, and only its answer was lost.
            if not await image_commits.remove(connection, commit_id) and attempts == 1:
                raise image_commits.missing(commit_id)

        await self._database.write(work)

    async def file(self, digest: str) -> ImageFile:
        """What a commit or a comparison says of a stored file."""
        return await self._database.read(lambda connection: image_commits.file(connection, digest))

    async def add_comparison(self, comparison: ImageComparison) -> ImageComparison:
        """Store a comparison under its own id; the one that is there already wins."""
        now = self._database.stamp()

        async def work(connection: AsyncConnection) -> ImageComparison:
            await image_commits.add_comparison(connection, comparison, now)
            return await image_commits.comparison(connection, comparison.comparison_id)

        return await self._database.write(work)

    async def comparison(self, comparison_id: str) -> ImageComparison:
        """One comparison."""
        return await self._database.read(
            lambda connection: image_commits.comparison(connection, comparison_id)
        )

    async def create_run(self, run_id: str, request: ImageRunRequest) -> ImageRun:
        """Let it be run from now on; the one that is there already wins."""
        now = self._database.stamp()

        async def work(connection: AsyncConnection) -> ImageRun:
            await image_runs.create(connection, run_id, request, now)
            return await image_runs.get(connection, run_id)

        return await self._database.write(work)

    async def run(self, run_id: str) -> ImageRun:
        """One run."""
        return await self._database.read(lambda connection: image_runs.get(connection, run_id))

    async def runs(
        self,
        *,
        project_id: str | None = None,
        status: ImageRunStatus | None = None,
        limit: int = 50,
        after: Sequence[Any] | None = None,
    ) -> Page[ImageRun]:
        """The newest first."""
        return await self._database.read(
            lambda connection: image_runs.page(
                connection, project_id=project_id, status=status, limit=limit, after=after
            )
        )

    async def revisions(self, run_ids: Sequence[str]) -> dict[str, int]:
        """The revision of each that is there."""
        return await self._database.read(
            lambda connection: image_runs.revisions(connection, run_ids)
        )

    async def request_cancel(self, run_id: str) -> ImageRun:
        """End a run that nobody has, and tell whoever has it."""
        now = self._database.stamp()

        async def work(connection: AsyncConnection) -> ImageRun:
            await image_leases.cancel(connection, run_id, now)
            return await image_runs.get(connection, run_id)

        return await self._database.write(work)

    async def take_run(self, *, owner: str, seconds: float) -> LeasedRun | None:
        """The oldest that can be had."""
        return await self._database.write(
            lambda connection: _take(connection, None, owner=owner, seconds=seconds)
        )

    async def take_this_run(self, run_id: str, *, owner: str, seconds: float) -> LeasedRun | None:
        """This one, if it can be had."""
        return await self._database.write(
            lambda connection: _take(connection, run_id, owner=owner, seconds=seconds)
        )

    async def keep_run(self, run_id: str, *, token: int, seconds: float) -> bool:
        """Hold it longer; whether its cancellation was asked for."""
        return await self._database.write(
            lambda connection: image_leases.keep(connection, run_id, token, seconds)
        )

    async def release_run(self, run_id: str, *, token: int) -> None:
        """Let anybody have it; one whose cancellation was asked for ends here."""
        now = self._database.stamp()
        await self._database.write(
            lambda connection: image_leases.release(connection, run_id, token, now)
        )

    async def save_run(
        self, run: ImageRun, *, token: int, commits: Sequence[ImageCommit] = ()
    ) -> ImageRun:
        """The run and what was committed with it, as it is stored then."""
        now = self._database.stamp()

        async def work(connection: AsyncConnection) -> ImageRun:
            await image_runs.save(connection, run, token, commits, now)
            return await image_runs.get(connection, run.run_id)

        return await self._database.write(work)


async def _take(
    connection: AsyncConnection, run_id: str | None, *, owner: str, seconds: float
) -> LeasedRun | None:
    taken = await image_leases.take(connection, run_id, owner=owner, seconds=seconds)
    if taken is None:
        return None
    lease, attempts = taken
    run = await image_runs.get(connection, lease.job_id)
    return LeasedRun(run=run, token=lease.token, attempts=attempts)
