"""Metadata of candidates: what a proposal carried for its optimizer.

Columns are spelt out and not taken from the tables, which move on while this file must not.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Forwards only: a newer program never serves an older one. Old candidates have none."""
    # The C collation sorts by code point, as SQLite does, whatever the server's locale.
    kind = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
    op.add_column("candidates", sa.Column("metadata", kind))
