"""Optimizations that wait for a server or a worker to run them.

Columns are spelt out and not taken from the tables, which move on while this file must not.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Forwards only: a newer program never serves an older one."""
    op.create_table(
        "run_queue",
        _text(
            "optimization_id",
            sa.ForeignKey("optimizations.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        _text("queued_at", nullable=False),
        sa.Column("ready_at", sa.Double, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
    )


def _text(name: str, *arguments: Any, **options: Any) -> sa.Column[str]:
    # The C collation sorts by code point, as SQLite does, whatever the server's locale.
    kind = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
    return sa.Column(name, kind, *arguments, **options)
