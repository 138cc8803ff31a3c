"""History of image projects: commits, their files, and comparisons of commits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from sqlalchemy import Select, and_, bindparam, func, select

from burnish.domain import UsageError
from burnish.domain.images.runs import (
    CommitStatus,
    Constraints,
    ImageCommit,
    ImageComparison,
    ImageFile,
    ObjectivePreset,
    PictureWish,
    Rubric,
)
from burnish.domain.usage import Spending
from burnish.storage.engine.bulk import BulkInsert, row_of, rows_of_many, skipping_insert, value_of
from burnish.storage.engine.codec import SafeText
from burnish.storage.engine.connections import AsyncConnection
from burnish.storage.engine.database import AnyRow
from burnish.storage.images.tables import (
    image_commit_files,
    image_commits,
    image_projects,
    image_runs,
    image_variants,
)

Document = dict[str, Any]

_commits, _files, _variants = image_commits.c, image_commit_files.c, image_variants.c
_of_id = _commits.id == bindparam("of_id", type_=SafeText)
# Whoever wrote it first has it: a repeated attempt, or the one that was killed before.
_add_project = skipping_insert(image_projects)
_add_commit = skipping_insert(image_commits)
_add_files = BulkInsert(image_commit_files)
# A picture is judged after it was committed: its score is where its variant has it.
_judged = and_(
    _variants.run_id == _commits.run_id,
    _variants.variant_id == _commits.variant_id,
    _variants.commit_id == _commits.id,
)
ALL_COMMITS = select(
    *(column for column in _commits if column.name != "score"),
    func.coalesce(_commits.score, _variants.composite_score).label("score"),
    image_runs.c.request.label("run_request"),
)
ALL_COMMITS = ALL_COMMITS.join_from(image_commits, image_variants, _judged, isouter=True).join(
    image_runs, image_runs.c.id == _commits.run_id, isouter=True
)
_commit = ALL_COMMITS.where(_of_id)
_files_of = (
    select(image_commit_files)
    .where(_files.commit_id.in_(bindparam("of_ids", type_=SafeText, expanding=True)))
    .order_by(_files.commit_id, _files.position)
)
_lock_anchor = select(_commits.id).where(_of_id).with_for_update(read=True, key_share=True)


def read_comparison(row: AnyRow) -> ImageComparison:
    """The comparison of a row."""
    return value_of(
        ImageComparison,
        row,
        comparison_id=row.id,
        difference_map=value_of(ImageFile, row),
        left_rubric=rubric_of(row.left_rubric),
        right_rubric=rubric_of(row.right_rubric),
        wish=None if row.wish is None else _wish(row.wish),
        spending=Spending.of(row.spending or {}),
    )


def _wish(document: Mapping[str, Any]) -> PictureWish:
    return PictureWish(
        prompt=document["prompt"],
        objective_preset=ObjectivePreset(document["objective_preset"]),
        constraints=constraints_of(document.get("constraints", {})),
    )


def constraints_of(document: Mapping[str, Any]) -> Constraints:
    """Constraints from their JSON form."""
    known = known_fields(Constraints, document)
    return Constraints(**{name: tuple(words) for name, words in known.items()})


def rubric_of(document: Mapping[str, Any]) -> Rubric:
    """A rubric from its JSON form."""
    known = known_fields(Rubric, document)
    for name in ("failure_tags", "strength_tags", "not_measured"):
        known[name] = tuple(known.get(name, ()))
    return Rubric(**known)


def known_fields(kind: type[Any], document: Mapping[str, Any]) -> Document:
    """What a value of this kind has; unknown keys are left out, so newer records stay readable."""
    return {one.name: document[one.name] for one in fields(kind) if one.name in document}


async def ensure_project(connection: AsyncConnection, project_id: str, now: str) -> None:
    """Make it if it is not there."""
    row = {"id": project_id, "created_at": now}
    await connection.execute(_add_project[connection.dialect.name], row)


async def add_commit(connection: AsyncConnection, commit: ImageCommit, now: str) -> None:
    """Write a commit with its files, unless it is there."""
    await ensure_project(connection, commit.project_id, now)
    row = row_of(image_commits, commit, id=commit.commit_id, created_at=now)
    if (await connection.execute(_add_commit[connection.dialect.name], row)).rowcount:
        files = [
            tuple(row_of(image_commit_files, one, commit_id=row["id"], position=place).values())
            for place, one in enumerate(commit.images)
        ]
        await _add_files(connection, files)


async def get_commit(connection: AsyncConnection, commit_id: str) -> ImageCommit:
    """One commit."""
    found = await read_commits(connection, _commit, {"of_id": commit_id})
    if not found:
        raise missing(commit_id)
    return found[0]


async def read_commits(
    connection: AsyncConnection, statement: Select[Any], bound: dict[str, Any] | None = None
) -> list[ImageCommit]:
    """The commits that a statement finds, with their files."""
    rows = (await connection.execute(statement, bound)).all()
    files: dict[str, list[ImageFile]] = {row.id: [] for row in rows}
    for one in await rows_of_many(connection, _files_of, "of_ids", files):
        files[one.commit_id].append(value_of(ImageFile, one))
    return [
        value_of(
            ImageCommit,
            row,
            commit_id=row.id,
            status=CommitStatus(row.status),
            images=tuple(files[row.id]),
            judged_by=_judged_by(row),
        )
        for row in rows
    ]


def _judged_by(row: AnyRow) -> str | None:
    asked = row.run_request
    if row.score is None or asked is None:
        return None
    return str(asked.get("judge_prompt") or asked["base_prompt"])


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
