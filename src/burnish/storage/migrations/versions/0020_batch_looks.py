"""Batches of model requests tell how far they are: what was answered by the last look, and its time.

Columns are spelt out and not taken from the tables, which move on while this file must not.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0020"
down_revision = "0018"


def upgrade() -> None:
    """Forwards only: a newer program never serves an older one. Open batches are looked at again."""
    answered = sa.Column("answered", sa.Integer, nullable=False, server_default="0")
    op.add_column("model_batches", answered)
    # The C collation sorts by code point, as SQLite does, whatever the server's locale.
    kind = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
    op.add_column("model_batches", sa.Column("looked_at", kind))
