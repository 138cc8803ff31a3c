"""Steps of scores: which step of a transcript a scorer found wrong.

Columns are spelt out and not taken from the tables, which move on while this file must not.
"""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """Forwards only: a newer program never serves an older one. Old scores name no step."""
    op.add_column("feedback_scores", sa.Column("step", sa.Integer()))
