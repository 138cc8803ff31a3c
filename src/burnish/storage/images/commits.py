"""Reads and writes the history of image projects, in the caller's transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, and_, bindparam, delete, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from burnish.domain import ConflictError, UsageError
from burnish.domain.images import CommitStatus, ImageCommit, ImageProject
from burnish.domain.read_models import Page
from burnish.storage.engine.bulk import BulkInsert, chunks
from burnish.storage.engine.codec import SafeText
from burnish.storage.engine.database import AnyRow
from burnish.storage.engine.listing import sorted_page
from burnish.storage.images.rows import commit_row, file_rows, read_commit, read_project
from burnish.storage.images.tables import (
    image_commit_files,
    image_commits,
    image_projects,
    image_runs,
    image_variants,
)

_projects, _commits, _files = image_projects.c, image_commits.c, image_commit_files.c
_runs, _variants = image_runs.c, image_variants.c
_INSERTS = (("sqlite", sqlite.insert), ("postgresql", postgresql.insert))
_of_id = _commits.id == bindparam("of_id", type_=SafeText)
# Whoever wrote it first has it: a repeated attempt, or the one that was killed before.
_add_project = {name: make(image_projects).on_conflict_do_nothing() for name, make in _INSERTS}
_add_commit = {
    name: make(image_commits).on_conflict_do_nothing().execution_options(preserve_rowcount=True)
    for name, make in _INSERTS
}
_add_files = BulkInsert(image_commit_files)
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
_project = _all_projects.where(_projects.id == bindparam("of_id", type_=SafeText))
# A picture is judged after it was committed: its score is where its variant has it.
_judged = and_(
    _variants.run_id == _commits.run_id,
    _variants.variant_id == _commits.variant_id,
    _variants.commit_id == _commits.id,
)
_all_commits = select(
    *(column for column in _commits if column.name != "score"),
    func.coalesce(_commits.score, _variants.composite_score).label("score"),
).join_from(image_commits, image_variants, _judged, isouter=True)
_commit = _all_commits.where(_of_id)
_files_of = (
    select(image_commit_files)
    .where(_files.commit_id.in_(bindparam("of_ids", type_=SafeText, expanding=True)))
    .order_by(_files.commit_id, _files.position)
)
_lock = select(_commits.id).where(_of_id).with_for_update()
_lock_anchor = select(_commits.id).where(_of_id).with_for_update(read=True, key_share=True)
_in_use = (
    select(_runs.id)
    .where(
        _runs.anchor_commit_id == bindparam("of_id", type_=SafeText),
        _runs.completed_at.is_(None),
    )
    .limit(1)
)
_delete = delete(image_commits).where(_of_id)


async def ensure_project(connection: AsyncConnection, project_id: str, now: str) -> None:
    """Make it if it is not there."""
    row = {"id": project_id, "created_at": now}
    await connection.execute(_add_project[connection.dialect.name], row)


async def project(connection: AsyncConnection, project_id: str) -> ImageProject:
    """One that is there."""
    return read_project((await connection.execute(_project, {"of_id": project_id})).one())


async def projects(
    connection: AsyncConnection, limit: int, after: Sequence[Any] | None
) -> Page[ImageProject]:
    """By name."""
    wanted = sorted_page(_all_projects, [_projects.id], down=False, limit=limit, after=after)
    rows = (await connection.execute(wanted)).all()
    place = (rows[limit - 1].id,) if len(rows) > limit else None
    return Page(items=[read_project(row) for row in rows[:limit]], next=place)


async def add(connection: AsyncConnection, commit: ImageCommit, now: str) -> None:
    """Write a commit with its files, unless it is there."""
    await ensure_project(connection, commit.project_id, now)
    statement = _add_commit[connection.dialect.name]
    if (await connection.execute(statement, commit_row(commit, now))).rowcount:
        await _add_files(connection, file_rows(commit))


async def get(connection: AsyncConnection, commit_id: str) -> ImageCommit:
    """One commit."""
    found = await _read(connection, _commit, {"of_id": commit_id})
    if not found:
        raise missing(commit_id)
    return found[0]


async def page(
    connection: AsyncConnection, project_id: str, limit: int, after: Sequence[Any] | None
) -> Page[ImageCommit]:
    """The newest first."""
    wanted = _all_commits.where(_commits.project_id == project_id)
    keys = [_commits.created_at, _commits.id]
    found = await _read(
        connection, sorted_page(wanted, keys, down=True, limit=limit, after=after), {}
    )
    last = found[limit - 1] if len(found) > limit else None
    place = None if last is None else (last.created_at, last.commit_id)
    return Page(items=found[:limit], next=place)


async def remove(connection: AsyncConnection, commit_id: str) -> bool:
    """Take a commit away unless a run builds on it; whether it was there."""
    bound = {"of_id": commit_id}
    if await connection.scalar(_lock, bound) is None:
        return False
    run_id = await connection.scalar(_in_use, bound)
    if run_id is not None:
        raise ConflictError(
            what=f"the commit {commit_id} was not deleted",
            why=f"the run {run_id} builds on it",
            fix="wait until that run has ended, or cancel it",
            code="commit_in_use",
        )
    await connection.execute(_delete, bound)
    return True


async def hold_anchor(connection: AsyncConnection, commit_id: str) -> None:
    """Keep a commit from being deleted until the end of the transaction."""
    if await connection.scalar(_lock_anchor, {"of_id": commit_id}) is None:
        raise missing(commit_id)


def missing(commit_id: str) -> UsageError:
    """There is no such commit."""
    return UsageError(
        what=f"there is no commit {commit_id!r}",
        why="no commit with that id is stored, or it was deleted",
        fix="take one from the project's commits",
        code="not_found",
    )


async def _read(
    connection: AsyncConnection, statement: Select[Any], bound: dict[str, Any]
) -> list[ImageCommit]:
    rows = (await connection.execute(statement, bound)).all()
    files: dict[str, list[AnyRow]] = {row.id: [] for row in rows}
    for ids in chunks(list(files)):
        for one in await connection.execute(_files_of, {"of_ids": ids}):
            files[one.commit_id].append(one)
    return [read_commit(row, files[row.id]) for row in rows]
