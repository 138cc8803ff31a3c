"""Image comparisons with their wish and their bill, and words that a variant's model did not draw.

Columns are spelt out and not taken from the tables, which move on while this file must not.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Forwards only: a newer program never serves an older one. Old rows have none of it."""
    # The C collation sorts by code point, as SQLite does, whatever the server's locale.
    kind = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
    for table, name in (
        ("image_comparisons", "wish"),
        ("image_comparisons", "spending"),
        ("image_variants", "not_drawn"),
    ):
        op.add_column(table, sa.Column(name, kind))
    for side in ("left", "right"):
        op.create_index(f"ix_image_comparisons_{side}", "image_comparisons", [f"{side}_commit_id"])
