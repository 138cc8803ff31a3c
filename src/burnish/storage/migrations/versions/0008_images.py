"""Image projects: commits and their files, comparisons, runs and their variants.

Columns are spelt out and not taken from the tables, which move on while this file must not.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Forwards only: a newer program never serves an older one."""
    op.create_table(
        "image_projects", _text("id", primary_key=True), _text("created_at", nullable=False)
    )
    _commits()
    _comparisons()
    _runs()
    _variants()


def _commits() -> None:
    op.create_table(
        "image_commits",
        _text("id", primary_key=True),
        _project(),
        _text("parent_commit_id"),
        _text("status", nullable=False),
        _text("run_id"),
        _text("variant_id"),
        sa.Column("score", sa.Double),
        _text("created_at", nullable=False),
        _text("model", nullable=False),
        _text("error"),
        _text("prompt", nullable=False),
    )
    op.create_index("ix_image_commits_project", "image_commits", ["project_id", "created_at", "id"])
    op.create_table(
        "image_commit_files",
        _text("commit_id", sa.ForeignKey("image_commits.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        *_file(),
    )
    op.create_index("ix_image_commit_files_digest", "image_commit_files", ["digest"])


def _comparisons() -> None:
    op.create_table(
        "image_comparisons",
        _text("id", primary_key=True),
        _project(),
        _text("left_commit_id", nullable=False),
        _text("right_commit_id", nullable=False),
        sa.Column("changed_share", sa.Double, nullable=False),
        sa.Column("mean_difference", sa.Double, nullable=False),
        *_file(),
        _text("judge", nullable=False),
        _text("created_at", nullable=False),
        _text("left_rubric", nullable=False),
        _text("right_rubric", nullable=False),
    )
    op.create_index("ix_image_comparisons_digest", "image_comparisons", ["digest"])


def _runs() -> None:
    op.create_table(
        "image_runs",
        _text("id", primary_key=True),
        _project(),
        _text("status", nullable=False),
        _text("stage", nullable=False),
        _text("anchor_commit_id"),
        sa.Column("degraded", sa.Boolean, nullable=False),
        sa.Column("cancel_requested", sa.Boolean, nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        _text("created_at", nullable=False),
        _text("updated_at", nullable=False),
        _text("completed_at"),
        _text("lease_owner"),
        sa.Column("lease_expires", sa.Double),
        sa.Column("lease_token", sa.BigInteger, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        _text("request", nullable=False),
        _text("degradations", nullable=False),
        _text("spending", nullable=False),
        _text("suggestions"),
        _text("error"),
    )
    for name, first in (("created", ()), ("project", ("project_id",)), ("status", ("status",))):
        op.create_index(f"ix_image_runs_{name}", "image_runs", [*first, "created_at", "id"])
    going_on = sa.text("completed_at IS NULL")
    op.create_index(
        "ix_image_runs_going_on",
        "image_runs",
        ["created_at", "id"],
        sqlite_where=going_on,
        postgresql_where=going_on,
    )


def _variants() -> None:
    op.create_table(
        "image_variants",
        _text("run_id", sa.ForeignKey("image_runs.id", ondelete="CASCADE"), primary_key=True),
        _text("variant_id", primary_key=True),
        sa.Column("position", sa.Integer, nullable=False),
        _text("status", nullable=False),
        _text("parent_commit_id"),
        _text("commit_id"),
        sa.Column("generation_latency_ms", sa.Double),
        sa.Column("judge_latency_ms", sa.Double),
        sa.Column("composite_score", sa.Double),
        sa.Column("rank", sa.Integer),
        _text("variant_prompt", nullable=False),
        _text("mutation_tags", nullable=False),
        _text("image"),
        _text("rubric"),
        _text("error"),
    )


def _project() -> sa.Column[str]:
    return _text(
        "project_id", sa.ForeignKey("image_projects.id", ondelete="CASCADE"), nullable=False
    )


def _file() -> list[sa.Column[Any]]:
    return [
        _text("digest", nullable=False),
        _text("media_type", nullable=False),
        sa.Column("width", sa.Integer, nullable=False),
        sa.Column("height", sa.Integer, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
    ]


def _text(name: str, *arguments: Any, **options: Any) -> sa.Column[str]:
    # The C collation sorts by code point, as SQLite does, whatever the server's locale.
    kind = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
    return sa.Column(name, kind, *arguments, **options)
