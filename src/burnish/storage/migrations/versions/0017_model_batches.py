"""Batches of model requests, and which requests each of them holds.

Columns are spelt out and not taken from the tables, which move on while this file must not.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """Forwards only: a newer program never serves an older one. Nothing was sent as a batch before."""
    op.create_table(
        "model_batches",
        _text("id", primary_key=True),
        _text("model", nullable=False),
        _text("fingerprint", nullable=False),
        sa.Column("requests", sa.Integer, nullable=False),
        _text("run_id"),
        _text("created_at", nullable=False),
        _text("sending_at"),
        _text("vendor_id"),
        _text("ended_at"),
    )
    op.create_index("ix_model_batches_run", "model_batches", ["run_id"])
    op.create_table(
        "model_batch_requests",
        _text("key", primary_key=True),
        _text("batch_id", sa.ForeignKey("model_batches.id", ondelete="CASCADE"), nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        _text("payer"),
    )
    op.create_index("ix_model_batch_requests_batch", "model_batch_requests", ["batch_id"])


def _text(name: str, *arguments: Any, **options: Any) -> sa.Column[str]:
    # The C collation sorts by code point, as SQLite does, whatever the server's locale.
    kind = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
    return sa.Column(name, kind, *arguments, **options)
