"""Configured objects, runs of optimizers, origins of rows, evaluations that wait.

Columns are spelt out and not taken from the tables, which move on while this file must not.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Forwards only: a newer program never serves an older one."""
    _objects()
    _optimizer_runs()
    op.create_table(
        "dataset_origins",
        _text("dataset_id", sa.ForeignKey("datasets.id", ondelete="CASCADE"), primary_key=True),
        _text("item_id", primary_key=True),
        _text("origin", nullable=False),
    )
    op.create_table(
        "evaluation_queue",
        _text(
            "experiment_id", sa.ForeignKey("experiments.id", ondelete="CASCADE"), primary_key=True
        ),
        _text("queued_at", nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        _text("owner"),
        sa.Column("expires", sa.Double),
        _text("spec", nullable=False),
    )


def _objects() -> None:
    op.create_table(
        "configured_objects",
        _text("id", primary_key=True),
        _text("kind", nullable=False),
        _text("scope", nullable=False),
        _text("name", nullable=False),
        sa.Column("active_version", sa.Integer, nullable=False),
        sa.Column("last_version", sa.Integer, nullable=False),
        sa.UniqueConstraint("kind", "scope", "name", name="uq_configured_objects_name"),
    )
    op.create_table(
        "configured_object_versions",
        _text(
            "object_id",
            sa.ForeignKey("configured_objects.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
        _text("document_hash", nullable=False),
        _text("author", nullable=False),
        _text("created_at", nullable=False),
        _text("document", nullable=False),
    )


def _optimizer_runs() -> None:
    op.create_table(
        "optimizer_runs",
        _text("id", sa.ForeignKey("optimizations.id", ondelete="CASCADE"), primary_key=True),
        _text(
            "optimizer_id",
            sa.ForeignKey("configured_objects.id", ondelete="CASCADE"),
            nullable=False,
        ),
        _text("agent_name", nullable=False),
        _text("optimizer_name", nullable=False),
        sa.Column("optimizer_version", sa.Integer, nullable=False),
        sa.Column("base_config_version", sa.Integer, nullable=False),
        _text("suite_id", nullable=False),
        sa.Column("suite_version", sa.Integer, nullable=False),
        _text("due_at"),
        _text("started_at", nullable=False),
        sa.Column("settled", sa.Boolean, nullable=False),
        _text("promotion"),
        sa.UniqueConstraint("optimizer_id", "due_at", name="uq_optimizer_runs_due"),
    )
    op.create_index(
        "ix_optimizer_runs_started", "optimizer_runs", ["optimizer_id", "started_at", "id"]
    )


def _text(name: str, *arguments: Any, **options: Any) -> sa.Column[str]:
    # The C collation sorts by code point, as SQLite does, whatever the server's locale.
    kind = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
    return sa.Column(name, kind, *arguments, **options)
