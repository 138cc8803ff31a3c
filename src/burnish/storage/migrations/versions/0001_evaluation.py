"""What an evaluation keeps: datasets, experiments, item results, scores, model calls.

Columns are spelt out and not taken from `tables`, which moves on while this file must not.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Forwards only: a newer program never serves an older one."""
    _create_datasets()
    _create_experiments()
    _create_experiment_items()
    _create_feedback_scores()
    _create_call_cache()


def _text(name: str, *arguments: Any, **options: Any) -> sa.Column[str]:
    # The C collation sorts by code point, as SQLite does, whatever the server's locale.
    kind = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
    return sa.Column(name, kind, *arguments, **options)


def _create_datasets() -> None:
    op.create_table(
        "datasets",
        _text("id", primary_key=True),
        _text("name", nullable=False),
        _text("fingerprint", nullable=False),
        sa.Column("items", sa.Integer, nullable=False),
        _text("created_at", nullable=False),
        sa.UniqueConstraint("name", "fingerprint", name="uq_datasets_content"),
    )
    op.create_table(
        "dataset_items",
        _text("dataset_id", sa.ForeignKey("datasets.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True),
        _text("item_id", nullable=False),
        _text("item_hash", nullable=False),
        _text("split"),
        _text("data", nullable=False),
    )


def _create_experiments() -> None:
    op.create_table(
        "experiments",
        _text("id", primary_key=True),
        _text("name", nullable=False),
        _text("type", nullable=False),
        _text("status", nullable=False),
        _text("agent_name", nullable=False),
        _text("agent_fingerprint"),
        _text("configuration_hash", nullable=False),
        _text("suite_name", nullable=False),
        _text("dataset_id", sa.ForeignKey("datasets.id")),
        sa.Column("planned_items", sa.Integer),
        _text("optimization_id"),
        _text("created_at", nullable=False),
        _text("updated_at", nullable=False),
        _text("configuration", nullable=False),
        _text("metadata", nullable=False),
    )
    op.create_index("ix_experiments_created", "experiments", ["created_at", "id"])
    op.create_index("ix_experiments_name", "experiments", ["name", "created_at", "id"])
    op.create_index(
        "ix_experiments_optimization", "experiments", ["optimization_id", "created_at", "id"]
    )


def _create_experiment_items() -> None:
    op.create_table(
        "experiment_items",
        _text(
            "experiment_id", sa.ForeignKey("experiments.id", ondelete="CASCADE"), primary_key=True
        ),
        _text("item_id", primary_key=True),
        sa.Column("repeat", sa.Integer, primary_key=True),
        _text("item_hash", nullable=False),
        sa.Column("score", sa.Double, nullable=False),
        sa.Column("passed", sa.Boolean, nullable=False),
        sa.Column("cached", sa.Boolean, nullable=False),
        _text("error_kind"),
        sa.Column("latency_ms", sa.Double, nullable=False),
        sa.Column("ttft_ms", sa.Double),
        _text("spending", nullable=False),
        _text("cache_key"),
        _text("scorers_fingerprint"),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        _text("error_message"),
        _text("output"),
    )
    op.create_index(
        "ix_experiment_items_cache",
        "experiment_items",
        ["cache_key", "created_at"],
        sqlite_where=sa.text("cache_key IS NOT NULL"),
        postgresql_where=sa.text("cache_key IS NOT NULL"),
    )


def _create_feedback_scores() -> None:
    op.create_table(
        "feedback_scores",
        _text("experiment_id", primary_key=True),
        _text("item_id", primary_key=True),
        sa.Column("repeat", sa.Integer, primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True),
        _text("name", nullable=False),
        sa.Column("value", sa.Double, nullable=False),
        sa.Column("passed", sa.Boolean),
        _text("reason", nullable=False),
        _text("error"),
        sa.ForeignKeyConstraint(
            ["experiment_id", "item_id", "repeat"],
            [
                "experiment_items.experiment_id",
                "experiment_items.item_id",
                "experiment_items.repeat",
            ],
            name="fk_feedback_scores_item",
            ondelete="CASCADE",
        ),
        sqlite_with_rowid=False,
    )


def _create_call_cache() -> None:
    op.create_table(
        "call_cache",
        _text("key", primary_key=True),
        sa.Column("size", sa.BigInteger, nullable=False),
        _text("created_at", nullable=False),
        _text("last_used", nullable=False),
        _text("value", nullable=False),
    )
    op.create_index("ix_call_cache_last_used", "call_cache", ["last_used"])
