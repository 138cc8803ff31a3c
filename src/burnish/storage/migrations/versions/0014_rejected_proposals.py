"""Proposals of rejections: what was refused, and what a duplicate repeats.

Columns are spelt out and not taken from the tables, which move on while this file must not.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Forwards only: a newer program never serves an older one. Old rejections have none."""
    # The C collation sorts by code point, as SQLite does, whatever the server's locale.
    kind = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
    op.add_column("validation_rejections", sa.Column("proposal", kind))
