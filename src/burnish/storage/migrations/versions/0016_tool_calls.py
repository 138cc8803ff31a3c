"""Tool calls: what tools answered within a run of an item that has not ended.

Columns are spelt out and not taken from the tables, which move on while this file must not.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Forwards only: a newer program never serves an older one."""
    # The C collation sorts by code point, as SQLite does, whatever the server's locale.
    kind = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
    op.create_table(
        "tool_calls",
        sa.Column("experiment_id", kind, primary_key=True),
        sa.Column("work", kind, primary_key=True),
        sa.Column("call", kind, primary_key=True),
        sa.Column("value", kind, nullable=False),
        sqlite_with_rowid=False,
    )
