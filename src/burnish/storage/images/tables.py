"""The tables of image projects: commits and their files, comparisons, runs and their variants."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    Index,
    Integer,
    Table,
    text,
)

from burnish.storage.engine.codec import JsonText, PlainText, SafeText
from burnish.storage.engine.columns import reference
from burnish.storage.experiments.tables import metadata

_GOING_ON = text("completed_at IS NULL")

image_projects = Table(
    "image_projects",
    metadata,
    Column("id", SafeText, primary_key=True),
    Column("created_at", PlainText, nullable=False),
)

# Parents, runs and variants are named and not pointed to: a commit outlives them.
image_commits = Table(
    "image_commits",
    metadata,
    Column("id", SafeText, primary_key=True),
    reference("project_id", "image_projects.id", key=False),
    Column("parent_commit_id", SafeText),
    Column("status", PlainText, nullable=False),
    Column("run_id", SafeText),
    Column("variant_id", SafeText),
    Column("score", Double),
    Column("created_at", PlainText, nullable=False),
    Column("model", SafeText, nullable=False),
    Column("error", SafeText),
    Column("prompt", SafeText, nullable=False),
    Index("ix_image_commits_project", "project_id", "created_at", "id"),
)

image_commit_files = Table(
    "image_commit_files",
    metadata,
    reference("commit_id", "image_commits.id"),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("digest", SafeText, nullable=False),
    Column("media_type", SafeText, nullable=False),
    Column("width", Integer, nullable=False),
    Column("height", Integer, nullable=False),
    Column("size", BigInteger, nullable=False),
    Index("ix_image_commit_files_digest", "digest"),
)

image_comparisons = Table(
    "image_comparisons",
    metadata,
    Column("id", SafeText, primary_key=True),
    reference("project_id", "image_projects.id", key=False),
    Column("left_commit_id", SafeText, nullable=False),
    Column("right_commit_id", SafeText, nullable=False),
    Column("changed_share", Double, nullable=False),
    Column("mean_difference", Double, nullable=False),
    # The file of the difference map.
    Column("digest", SafeText, nullable=False),
    Column("media_type", SafeText, nullable=False),
    Column("width", Integer, nullable=False),
    Column("height", Integer, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("judge", SafeText, nullable=False),
    Column("created_at", PlainText, nullable=False),
    Column("left_rubric", JsonText, nullable=False),
    Column("right_rubric", JsonText, nullable=False),
    Column("wish", JsonText),
    Column("spending", JsonText),
    Index("ix_image_comparisons_digest", "digest"),
    Index("ix_image_comparisons_left", "left_commit_id"),
    Index("ix_image_comparisons_right", "right_commit_id"),
)

# A run goes on until it has a `completed_at`.
image_runs = Table(
    "image_runs",
    metadata,
    Column("id", SafeText, primary_key=True),
    reference("project_id", "image_projects.id", key=False),
    Column("status", PlainText, nullable=False),
    Column("stage", PlainText, nullable=False),
    Column("anchor_commit_id", SafeText),
    Column("degraded", Boolean, nullable=False),
    Column("cancel_requested", Boolean, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("created_at", PlainText, nullable=False),
    Column("updated_at", PlainText, nullable=False),
    Column("completed_at", PlainText),
    Column("lease_owner", SafeText),
    # Seconds since 1970 by the database's clock.
    Column("lease_expires", Double),
    Column("lease_token", BigInteger, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("request", JsonText, nullable=False),
    Column("degradations", JsonText, nullable=False),
    Column("spending", JsonText, nullable=False),
    Column("suggestions", JsonText),
    Column("error", JsonText),
    Index("ix_image_runs_created", "created_at", "id"),
    Index("ix_image_runs_project", "project_id", "created_at", "id"),
    Index("ix_image_runs_status", "status", "created_at", "id"),
    Index(
        "ix_image_runs_going_on",
        "created_at",
        "id",
        sqlite_where=_GOING_ON,
        info={"where": _GOING_ON},
    ),
)

image_variants = Table(
    "image_variants",
    metadata,
    reference("run_id", "image_runs.id"),
    Column("variant_id", SafeText, primary_key=True),
    Column("position", Integer, nullable=False),
    Column("status", PlainText, nullable=False),
    Column("parent_commit_id", SafeText),
    Column("commit_id", SafeText),
    Column("generation_latency_ms", Double),
    Column("judge_latency_ms", Double),
    Column("composite_score", Double),
    Column("rank", Integer),
    Column("variant_prompt", SafeText, nullable=False),
    Column("mutation_tags", JsonText, nullable=False),
    Column("image", JsonText),
    Column("rubric", JsonText),
    Column("error", JsonText),
    Column("not_drawn", JsonText),
)
