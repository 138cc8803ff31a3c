"""Image repository: projects, their history, and the runs that make it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import bindparam, delete, func, or_, select

from burnish.domain import ConflictError, UsageError
from burnish.domain.images.runs import (
    CommitStatus,
    ImageCommit,
    ImageComparison,
    ImageFile,
    ImageProject,
    ImageRun,
    ImageRunRequest,
    ImageRunStatus,
)
from burnish.domain.pages import Page
from burnish.storage.engine.bulk import row_of, rows_of_many, skipping_insert, value_of
from burnish.storage.engine.codec import SafeText
from burnish.storage.engine.connections import AsyncConnection
from burnish.storage.engine.database import AnyRow, Database
from burnish.storage.engine.listing import page_of, sorted_page
from burnish.storage.images import leases
from burnish.storage.images.commits import (
    ALL_COMMITS,
    add_commit,
    ensure_project,
    get_commit,
    hold_anchor,
    missing,
    read_commits,
    read_comparison,
)
from burnish.storage.images.local_files import no_file
from burnish.storage.images.runs import ALL_RUNS, add_run, get_run, read_runs, save_run
from burnish.storage.images.tables import (
    image_commit_files,
    image_commits,
    image_comparisons,
    image_projects,
    image_runs,
)

_projects, _commits, _files = image_projects.c, image_commits.c, image_commit_files.c
_runs = image_runs.c
_PAGE = 100
_of_id = bindparam("of_id", type_=SafeText)
_count = (
    select(func.count())
    .select_from(image_commits)
    .where(_commits.project_id == _projects.id)
    .scalar_subquery()
)
_latest = (
    select(_files.digest)
    .join_from(image_commits, image_commit_files)
    .where(
        _commits.project_id == _projects.id,
        _commits.status == CommitStatus.SUCCESS.value,
        _files.position == 0,
    )
    .order_by(_commits.created_at.desc(), _commits.id.desc())
    .limit(1)
    .scalar_subquery()
)
_all_projects = select(image_projects, _count.label("commits"), _latest.label("latest_image"))
_project = _all_projects.where(_projects.id == _of_id)
_lock = select(_commits.id).where(_commits.id == _of_id).with_for_update()
_going_on = select(_runs.id, _runs.anchor_commit_id, _runs.request).where(
    _runs.completed_at.is_(None)
)
_delete = delete(image_commits).where(_commits.id == _of_id)
_add_comparison = skipping_insert(image_comparisons)
_comparison = select(image_comparisons).where(image_comparisons.c.id == _of_id)
_comparisons_of = (
    select(image_comparisons)
    .where(
        or_(
            image_comparisons.c.left_commit_id == _of_id,
            image_comparisons.c.right_commit_id == _of_id,
        )
    )
    .order_by(image_comparisons.c.created_at.desc(), image_comparisons.c.id.desc())
    .limit(_PAGE)
)
# Everybody says the same of the same bytes, so the first that tells of them will do.
_files_by_digest = [
    select(*(table.c[name] for name in ("digest", "media_type", "width", "height", "size")))
    .where(table.c.digest == bindparam("of_digest", type_=SafeText))
    .limit(1)
    for table in (image_commit_files, image_comparisons)
]
_revisions = select(_runs.id, _runs.revision).where(
    _runs.id.in_(bindparam("of_ids", type_=SafeText, expanding=True))
)


class SqlImageRepository:
    """An ImageRepository on an open database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def ensure_project(self, project_id: str) -> ImageProject:
        """The project, made when it is not there."""
        now = self._database.stamp()

        async def work(connection: AsyncConnection) -> ImageProject:
            await ensure_project(connection, project_id, now)
            return _read_project((await connection.execute(_project, {"of_id": project_id})).one())

        return await self._database.write(work)

    async def project(self, project_id: str) -> ImageProject:
        """One project."""
        row = await self._database.one_row(_project, {"of_id": project_id})
        if row is None:
            raise UsageError(
                what=f"there is no project {project_id!r}",
                why="no run and no picture was ever put into one of that name",
                fix="take one that is listed, or begin it with a run or a picture",
                code="not_found",
            )
        return _read_project(row)

    async def projects(
        self, *, limit: int = 50, after: Sequence[Any] | None = None
    ) -> Page[ImageProject]:
        """By name."""
        wanted = sorted_page(_all_projects, [_projects.id], down=False, limit=limit, after=after)
        return page_of(await self._database.all_rows(wanted), limit, _read_project, "id")

    async def add_commit(self, commit: ImageCommit) -> ImageCommit:
        """Store a commit under its own id; the one that is there already wins."""
        now = self._database.stamp()

        async def work(connection: AsyncConnection) -> ImageCommit:
            await add_commit(connection, commit, now)
            return await get_commit(connection, commit.commit_id)

        return await self._database.write(work)

    async def commit(self, commit_id: str) -> ImageCommit:
        """One commit, with the score that its variant was given."""
        return await self._database.read(lambda connection: get_commit(connection, commit_id))

    async def commits(
        self, project_id: str, *, limit: int = 100, after: Sequence[Any] | None = None
    ) -> Page[ImageCommit]:
        """The newest first."""
        wanted = ALL_COMMITS.where(_commits.project_id == project_id)
        keys = [_commits.created_at, _commits.id]
        statement = sorted_page(wanted, keys, down=True, limit=limit, after=after)
        found = await self._database.read(lambda connection: read_commits(connection, statement))
        return page_of(found, limit, lambda one: one, "created_at", "commit_id")

    async def delete_commit(self, commit_id: str) -> None:
        """Take a commit away, unless a run that waits or goes on builds on it."""
        attempts = 0
        bound = {"of_id": commit_id}

        async def work(connection: AsyncConnection) -> None:
            nonlocal attempts
            attempts += 1
            if await connection.scalar(_lock, bound) is None:
                if attempts == 1:
                    raise missing(commit_id)
                return  # An earlier attempt got through, and only its answer was lost.
            for run in await connection.execute(_going_on):
                if commit_id not in (run.anchor_commit_id, run.request.get("parent_commit_id")):
                    continue
                raise ConflictError(
                    what=f"the commit {commit_id} was not deleted",
                    why=f"the run {run.id} builds on it",
                    fix="wait until that run has ended, or cancel it",
                    code="commit_in_use",
                )
            await connection.execute(_delete, bound)

        await self._database.write(work)

    async def file(self, digest: str) -> ImageFile:
        """What a commit or a comparison says of a stored file."""
        for statement in _files_by_digest:
            row = await self._database.one_row(statement, {"of_digest": digest})
            if row is not None:
                return value_of(ImageFile, row)
        raise no_file(digest)

    async def add_comparison(self, comparison: ImageComparison) -> ImageComparison:
        """Store a comparison under its own id; the one that is there already wins."""
        now = self._database.stamp()
        row = row_of(
            image_comparisons,
            comparison,
            id=comparison.comparison_id,
            created_at=now,
            **asdict(comparison.difference_map),
            left_rubric=asdict(comparison.left_rubric),
            right_rubric=asdict(comparison.right_rubric),
            wish=None if comparison.wish is None else asdict(comparison.wish),
            spending=comparison.spending.to_json()["by_purpose"],
        )

        async def work(connection: AsyncConnection) -> AnyRow:
            await ensure_project(connection, comparison.project_id, now)
            await connection.execute(_add_comparison[connection.dialect.name], row)
            return (await connection.execute(_comparison, {"of_id": row["id"]})).one()

        return read_comparison(await self._database.write(work))

    async def comparison(self, comparison_id: str) -> ImageComparison:
        """One comparison."""
        row = await self._database.one_row(_comparison, {"of_id": comparison_id})
        if row is None:
            raise UsageError(
                what=f"there is no comparison {comparison_id!r}",
                why="no comparison with that id is stored",
                fix="compare the two commits again",
                code="not_found",
            )
        return read_comparison(row)

    async def comparisons(self, commit_id: str) -> list[ImageComparison]:
        """Those of a commit, the newest first."""
        rows = await self._database.all_rows(_comparisons_of, {"of_id": commit_id})
        return [read_comparison(row) for row in rows]

    async def create_run(self, run_id: str, request: ImageRunRequest) -> ImageRun:
        """Let it be run from now on; the one that is there already wins."""
        now = self._database.stamp()

        async def work(connection: AsyncConnection) -> ImageRun:
            await ensure_project(connection, request.project_id, now)
            if request.parent_commit_id is not None:
                await hold_anchor(connection, request.parent_commit_id)
            await add_run(connection, run_id, request, now)
            return await get_run(connection, run_id)

        return await self._database.write(work)

    async def run(self, run_id: str) -> ImageRun:
        """One run."""
        return await self._database.read(lambda connection: get_run(connection, run_id))

    async def runs(
        self,
        *,
        project_id: str | None = None,
        status: ImageRunStatus | None = None,
        limit: int = 50,
        after: Sequence[Any] | None = None,
    ) -> Page[ImageRun]:
        """The newest first."""
        wanted = ALL_RUNS
        if project_id is not None:
            wanted = wanted.where(_runs.project_id == project_id)
        if status is not None:
            wanted = wanted.where(_runs.status == status.value)
        keys = [_runs.created_at, _runs.id]
        statement = sorted_page(wanted, keys, down=True, limit=limit, after=after)
        found = await self._database.read(lambda connection: read_runs(connection, statement))
        return page_of(found, limit, lambda run: run, "created_at", "run_id")

    async def revisions(self, run_ids: Sequence[str]) -> dict[str, int]:
        """The revision of each that is there."""
        rows = await self._database.read(
            lambda connection: rows_of_many(connection, _revisions, "of_ids", run_ids)
        )
        return {row.id: row.revision for row in rows}

    async def request_cancel(self, run_id: str) -> ImageRun:
        """End a run that nobody has, and tell whoever has it."""
        now = self._database.stamp()

        async def work(connection: AsyncConnection) -> ImageRun:
            await leases.cancel(connection, run_id, now)
            return await get_run(connection, run_id)

        return await self._database.write(work)

    async def save_run(
        self, run: ImageRun, *, token: int, commits: Sequence[ImageCommit] = ()
    ) -> ImageRun:
        """The run and what was committed with it, as it is stored then."""
        now = self._database.stamp()

        async def work(connection: AsyncConnection) -> ImageRun:
            await save_run(connection, run, token, commits, now)
            return await get_run(connection, run.run_id)

        return await self._database.write(work)


def _read_project(row: AnyRow) -> ImageProject:
    return value_of(ImageProject, row, project_id=row.id)
