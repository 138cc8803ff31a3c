"""History of image projects: commits, their files, and comparisons of commits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from sqlalchemy import Select, and_, bindparam, delete, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from burnish.domain import ConflictError, UsageError
from burnish.domain.images.runs import (
    CommitStatus,
    ImageCommit,
    ImageComparison,
    ImageFile,
    ImageProject,
    Rubric,
)
from burnish.domain.pages import Page
from burnish.storage.engine.bulk import BulkInsert, chunks
from burnish.storage.engine.bulk import Row as BulkRow
from burnish.storage.engine.codec import SafeText
from burnish.storage.engine.database import AnyRow
from burnish.storage.engine.listing import sorted_page
from burnish.storage.images.local_files import no_file
from burnish.storage.images.tables import (
    image_commit_files,
    image_commits,
    image_comparisons,
    image_projects,
    image_runs,
    image_variants,
)

Document = dict[str, Any]

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

# The one that is there already wins, as with commits.
_add_comparison = {
    name: make(image_comparisons).on_conflict_do_nothing() for name, make in _INSERTS
}
_comparison = select(image_comparisons).where(
    image_comparisons.c.id == bindparam("of_id", type_=SafeText)
)
# Everybody says the same of the same bytes, so the first that tells of them will do.
_files_by_digest = [
    select(*(table.c[name] for name in ("digest", "media_type", "width", "height", "size")))
    .where(table.c.digest == bindparam("of_digest", type_=SafeText))
    .limit(1)
    for table in (image_commit_files, image_comparisons)
]


def commit_row(commit: ImageCommit, now: str) -> Document:
    """A new row; its files have rows of their own."""
    return {
        "id": commit.commit_id,
        "project_id": commit.project_id,
        "parent_commit_id": commit.parent_commit_id,
        "status": commit.status.value,
        "run_id": commit.run_id,
        "variant_id": commit.variant_id,
        "score": commit.score,
        "created_at": now,
        "model": commit.model,
        "error": commit.error,
        "prompt": commit.prompt,
    }


def file_rows(commit: ImageCommit) -> list[BulkRow]:
    """The commit's files in the order of the table's columns."""
    return [
        (commit.commit_id, position, one.digest, one.media_type, one.width, one.height, one.size)
        for position, one in enumerate(commit.images)
    ]


def read_commit(row: AnyRow, files: Sequence[AnyRow]) -> ImageCommit:
    """The commit of a row, with the rows of its files in their order."""
    return ImageCommit(
        commit_id=row.id,
        project_id=row.project_id,
        parent_commit_id=row.parent_commit_id,
        status=CommitStatus(row.status),
        prompt=row.prompt,
        model=row.model,
        images=tuple(map(read_file, files)),
        error=row.error,
        run_id=row.run_id,
        variant_id=row.variant_id,
        score=row.score,
        created_at=row.created_at,
    )


def read_file(row: AnyRow) -> ImageFile:
    """The file that a row of a commit's files or of a comparison tells of."""
    return ImageFile(
        digest=row.digest,
        media_type=row.media_type,
        width=row.width,
        height=row.height,
        size=row.size,
    )


def read_project(row: AnyRow) -> ImageProject:
    """The project of a row, with what was counted."""
    return ImageProject(
        project_id=row.id,
        created_at=row.created_at,
        commits=row.commits,
        latest_image=row.latest_image,
    )


def comparison_row(comparison: ImageComparison, now: str) -> Document:
    """A new row."""
    return {
        "id": comparison.comparison_id,
        "project_id": comparison.project_id,
        "left_commit_id": comparison.left_commit_id,
        "right_commit_id": comparison.right_commit_id,
        "changed_share": comparison.changed_share,
        "mean_difference": comparison.mean_difference,
        **asdict(comparison.difference_map),
        "judge": comparison.judge,
        "created_at": now,
        "left_rubric": asdict(comparison.left_rubric),
        "right_rubric": asdict(comparison.right_rubric),
    }


def read_comparison(row: AnyRow) -> ImageComparison:
    """The comparison of a row."""
    return ImageComparison(
        comparison_id=row.id,
        project_id=row.project_id,
        left_commit_id=row.left_commit_id,
        right_commit_id=row.right_commit_id,
        changed_share=row.changed_share,
        mean_difference=row.mean_difference,
        difference_map=read_file(row),
        left_rubric=rubric_of(row.left_rubric),
        right_rubric=rubric_of(row.right_rubric),
        judge=row.judge,
        created_at=row.created_at,
    )


def rubric_of(document: Mapping[str, Any]) -> Rubric:
    """A rubric from its JSON form."""
    known = known_fields(Rubric, document)
    for name in ("failure_tags", "strength_tags"):
        known[name] = tuple(known.get(name, ()))
    return Rubric(**known)


def known_fields(kind: type[Any], document: Mapping[str, Any]) -> Document:
    """What a value of this kind has; unknown keys are left out, so newer records stay readable."""
    return {one.name: document[one.name] for one in fields(kind) if one.name in document}


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


async def add_comparison(
    connection: AsyncConnection, comparison: ImageComparison, now: str
) -> None:
    """Write a comparison, unless it is there."""
    await ensure_project(connection, comparison.project_id, now)
    await connection.execute(
        _add_comparison[connection.dialect.name], comparison_row(comparison, now)
    )


async def comparison(connection: AsyncConnection, comparison_id: str) -> ImageComparison:
    """One comparison."""
    row = (await connection.execute(_comparison, {"of_id": comparison_id})).one_or_none()
    if row is None:
        raise UsageError(
            what=f"there is no comparison {comparison_id!r}",
            why="no comparison with that id is stored",
            fix="compare the two commits again",
            code="not_found",
        )
    return read_comparison(row)


async def file(connection: AsyncConnection, digest: str) -> ImageFile:
    """What a commit says of a file, else what a comparison says."""
    for statement in _files_by_digest:
        row = (await connection.execute(statement, {"of_digest": digest})).one_or_none()
        if row is not None:
            return read_file(row)
    raise no_file(digest)
