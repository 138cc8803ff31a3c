"""Rounds of refined outputs, and what they came to.

Columns are spelt out and not taken from the tables, which move on while this file must not.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Forwards only: a newer program never serves an older one. Old results have no rounds."""
    for name in ("outcome", "ended", "refinement"):
        op.add_column("experiment_items", _text(name))
    op.create_table(
        "item_rounds",
        _text(
            "experiment_id", sa.ForeignKey("experiments.id", ondelete="CASCADE"), primary_key=True
        ),
        _text("item_id", primary_key=True),
        sa.Column("repeat", sa.Integer, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        _text("item_hash", nullable=False),
        sa.Column("score", sa.Double, nullable=False),
        sa.Column("passed", sa.Boolean, nullable=False),
        sa.Column("judged", sa.Boolean, nullable=False),
        sa.Column("cached", sa.Boolean, nullable=False),
        _text("ended"),
        sa.Column("latency_ms", sa.Double, nullable=False),
        _text("spending", nullable=False),
        _text("cache_key"),
        _text("scorers_fingerprint"),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        _text("model", nullable=False),
        _text("ended_why", nullable=False),
        _text("scores", nullable=False),
        _text("output", nullable=False),
    )
    cacheable = sa.text("cache_key IS NOT NULL")
    op.create_index(
        "ix_item_rounds_cache",
        "item_rounds",
        ["cache_key", "created_at"],
        sqlite_where=cacheable,
        postgresql_where=cacheable,
    )


def _text(name: str, *arguments: Any, **options: Any) -> sa.Column[str]:
    # The C collation sorts by code point, as SQLite does, whatever the server's locale.
    kind = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
    return sa.Column(name, kind, *arguments, **options)
