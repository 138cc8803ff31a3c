"""Commits, comparisons and files of pictures as rows and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from burnish.domain.images import (
    CommitStatus,
    ImageCommit,
    ImageComparison,
    ImageFile,
    ImageProject,
    Rubric,
)
from burnish.storage.engine.bulk import Row as BulkRow
from burnish.storage.engine.database import AnyRow

Document = dict[str, Any]


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
