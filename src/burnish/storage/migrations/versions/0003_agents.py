"""Agents and the versions of their configurations.

Columns are spelt out and not taken from the tables, which move on while this file must not.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Forwards only: a newer program never serves an older one."""
    op.create_table(
        "agents",
        _text("name", primary_key=True),
        sa.Column("active_version", sa.Integer, nullable=False),
        sa.Column("last_version", sa.Integer, nullable=False),
    )
    op.create_table(
        "agent_versions",
        _text("agent_name", sa.ForeignKey("agents.name", ondelete="CASCADE"), primary_key=True),
        sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
        _text("configuration_hash", nullable=False),
        _text("author", nullable=False),
        _text("note", nullable=False),
        _text("origin", nullable=False),
        _text("created_at", nullable=False),
        _text("configuration", nullable=False),
    )


def _text(name: str, *arguments: Any, **options: Any) -> sa.Column[str]:
    # The C collation sorts by code point, as SQLite does, whatever the server's locale.
    kind = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
    return sa.Column(name, kind, *arguments, **options)
